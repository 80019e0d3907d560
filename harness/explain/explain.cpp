// Counts a case, and adds up what each source line costs: as a table, and as JSON.
#include "harness/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cases/built_architectures.h"
#include "harness/cases/gpu_only.h"
#include "harness/cases/registry.h"
#include "harness/explain/access_picture.h"
#include "harness/explain/access_picture_svg.h"
#include "harness/explain/code_of_lines.h"
#include "harness/files/source_root.h"
#include "harness/measuring/case_runner.h"
#include "harness/measuring/compile_time_facts.h"
#include "harness/outcome/exit_code.h"
#include "harness/outcome/finding_text.h"
#include "harness/runtime.h"
#include "metrics/base/demangled.h"
#include "metrics/base/json_members.h"
#include "metrics/counting/line_access.h"
#include "metrics/cupti/cupti.h"

namespace warpgauge::explain {
namespace {

using metrics::Fact;
using nlohmann::ordered_json;

constexpr std::uint64_t kWarpLanes = 32;

/// A source line of a kernel with its values by metric.
struct Line {
  std::string file;
  int number = 0;
  std::vector<metrics::CallSite> inlined;  ///< as facts have it
  std::map<std::string, double> values;
  std::set<std::string> unsure;  ///< the metrics whose values are not exact
  std::set<std::string> doubts;  ///< how sure those are, and why: "estimate: ..."
  std::set<std::string> cures;

  double value(const std::string& metric) const {
    const auto found = values.find(metric);
    return found == values.end() ? 0 : found->second;
  }
  bool touches_memory() const {
    return value("shared.wavefronts") + value("global.sectors_ideal") + value("local.sectors") > 0;
  }
  /// The cost beyond the ideal, in wavefronts and sectors.
  double waste() const {
    return value("shared.bank_conflicts") + value("global.excess_sectors") + value("local.sectors");
  }
  /// The sum of metrics as the table shows it, with a mark if it is not exact; "-" is a sure 0.
  std::string count(const std::vector<std::string>& metrics) const {
    double sum = 0;
    bool sure = true;
    for (const std::string& metric : metrics) {
      sum += value(metric);
      sure = sure && !unsure.contains(metric);
    }
    if (sum == 0) return sure ? "-" : "?";
    return fmt::format("{}{:.0f}", sure ? "" : "~", sum);
  }
  /// taken/ideal
  std::string pair(const std::vector<std::string>& taken, const std::string& ideal) const {
    const std::string text = count(taken);
    return text == "-" || text == "?" ? text : fmt::format("{}/{:.0f}", text, value(ideal));
  }
};

/// A count of a source line.
bool is_of_line(const Fact& fact) { return fact.scope == metrics::Scope::line; }

/// The columns of accesses to memory.
bool is_shown(const Fact& fact) {
  const auto belongs_to = [&](std::string_view group) { return fact.metric.starts_with(group); };
  return is_of_line(fact) &&
         (belongs_to("shared.") || belongs_to("global.") || belongs_to("local."));
}

using Lines = std::map<std::pair<std::string, int>, Line>;

Lines add_up(const std::vector<Fact>& facts, bool (*is_wanted)(const Fact&)) {
  Lines lines;
  for (const Fact& fact : facts) {
    if (!is_wanted(fact)) continue;
    const auto [place, is_new] = lines.try_emplace({fact.file, fact.line});
    Line& line = place->second;
    line.inlined = is_new ? fact.inlined
                          : metrics::common_chain({fact.file, fact.line, line.inlined},
                                                  {fact.file, fact.line, fact.inlined});
    line.file = fact.file;
    line.number = fact.line;
    if (const double* value = std::get_if<double>(&fact.value)) line.values[fact.metric] += *value;
    if (fact.confidence != "exact") {
      line.unsure.insert(fact.metric);
      line.doubts.insert(fmt::format("{}: {}", fact.confidence, fact.confidence_reason));
    }
    if (!fact.cure.empty()) line.cures.insert(fact.cure);
  }
  return lines;
}

/// The source lines that access memory, worst first.
std::vector<Line> lines_of(const std::vector<Fact>& facts) {
  std::vector<Line> sorted;
  for (auto& [where, line] : add_up(facts, is_shown)) {
    if (line.touches_memory() || !line.unsure.empty()) sorted.push_back(std::move(line));
  }
  std::ranges::stable_sort(sorted, std::greater<>(), &Line::waste);
  return sorted;
}

/// The counts of a run of the case.
struct Counted {
  std::string by;
  std::vector<Fact> facts;
};

/// The lines of the kernels that no warp came to, and those that warps came to with few lanes.
/// Empty on a GPU, and where there are none.
std::string lanes_text(const metrics::Coverage& coverage) {
  std::string text;
  for (const auto& [file, covered] : coverage) {
    for (const auto& [line, hits] : covered.lines) {
      if (hits.lanes == kWarpLanes * hits.warps && hits.warps > 0) continue;
      const double lanes = static_cast<double>(hits.lanes) / static_cast<double>(hits.warps);
      text += fmt::format("  {:<16}  {}:{}: {}\n",
                          hits.warps == 0 ? "never ran" : fmt::format("lanes {:.1f} of 32", lanes),
                          files::relative_to_root(file), line, files::source_text(file, line));
    }
  }
  return text.empty() ? "" : "\nlines that not all lanes came to\n" + text;
}

/// Throws metrics::Unmeasured where nothing can be counted.
Counted count(const Case& explained) {
  CaseRunner meter(true);
  if (const std::string why = why_not_run(explained, meter.arch()); !why.empty()) {
    throw metrics::Unmeasured(why, "");
  }
  if (!meter.no_counters().empty()) throw metrics::Unmeasured(meter.no_counters(), "");
  const std::vector<Fact> facts = meter.run(explained, metrics::Budgets());
  for (const Fact& fact : facts) {
    if (fact.verdict == metrics::Verdict::error) throw std::runtime_error(fact.reason);
    const bool counted = metrics::metric(fact.metric).source == metrics::Source::sass;
    if (counted && std::holds_alternative<std::monostate>(fact.value)) {
      throw metrics::Unmeasured(fact.reason, "");
    }
  }
  return {fmt::format("{}, {}", is_emulated() ? "the emulator" : "CUPTI", meter.arch()), facts};
}

/// A table of the source lines; throws as count().
std::string explain_lines(const Case& explained) {
  const auto [by, facts] = count(explained);
  std::string text = fmt::format("counted by {}\n", by);
  text += fmt::format("{:<8} {:>9} {:>17} {:>9} {:>17} {:>9}  {}\n", "line", "shared", "wavefronts",
                      "global", "sectors", "local", "source");
  text += fmt::format("{:<8} {:>9} {:>17} {:>9} {:>17} {:>9}\n", "", "requests", "taken/ideal",
                      "requests", "taken/ideal", "sectors");
  std::string file;
  bool exact = true;
  for (const Line& line : lines_of(facts)) {
    if (line.file != file) {
      file = line.file;
      text += fmt::format("{}\n", file.empty() ? "(no line information)" : file);
    }
    text += fmt::format(
        "{:<8} {:>9} {:>17} {:>9} {:>17} {:>9}  {}\n", line.number, line.count({"shared.requests"}),
        line.pair({"shared.wavefronts"}, "shared.wavefronts_ideal"),
        line.count({"global.load.requests", "global.store.requests", "global.atomic.requests"}),
        line.pair({"global.load.sectors", "global.store.sectors", "global.atomic.sectors"},
                  "global.sectors_ideal"),
        line.count({"local.sectors"}), files::source_text(line.file, line.number));
    const std::string inlined = outcome::inlined_text({line.file, line.number, line.inlined});
    if (!inlined.empty()) text += fmt::format("{:76}{}\n", "", inlined);
    for (const std::string& doubt : line.doubts) text += fmt::format("{:9}{}\n", "", doubt);
    for (const std::string& cure : line.cures) text += fmt::format("{:9}{}\n", "", cure);
    exact = exact && line.unsure.empty();
  }
  return text + lanes_text(take_coverage()) +
         (exact ? "\nEvery count is exact.\n" : "\n~ not exact, ? not known; else exact\n");
}

/// The compile-time values, a line per architecture.
std::string explain_static(const Case& explained) {
  const std::vector<LaunchRecord> launches = dry_launches(explained);
  std::string text;
  for (const LaunchRecord& record : launches) {
    const metrics::Launch& launch = record.launch;
    text += fmt::format("launches {} as <<<({}), ({}), {}>>> {} time{}",
                        metrics::without_void(metrics::demangled(record.kernel)),
                        fmt::join(launch.grid, ", "), fmt::join(launch.block, ", "),
                        launch.dynamic_shared_bytes, launch.count, launch.count == 1 ? "" : "s");
    if (launch.cluster != metrics::kNoCluster) {
      text += fmt::format(" in clusters of ({})", fmt::join(launch.cluster, ", "));
    }
    text += '\n';
  }
  constexpr const char* kColumns[] = {
      "registers",           "spill.store_bytes",     "spill.load_bytes", "stack.bytes",
      "shared.static_bytes", "occupancy.theoretical", "occupancy.limiter"};
  text += fmt::format("{:<7}", "arch");
  for (const char* column : kColumns) text += fmt::format("  {}", column);
  text += '\n';
  for (const std::string& arch : built_archs()) {
    text += fmt::format("{:<7}", arch);
    if (!exists_on(explained, arch)) {
      text += fmt::format("  none: needs {}\n", needs_text(explained));
      continue;
    }
    const std::vector<Fact> facts = static_facts(explained, launches, arch);
    for (const std::string column : kColumns) {
      const auto fact = std::ranges::find(facts, column, &Fact::metric);
      text += fmt::format("  {:>{}}", metrics::to_text(fact->value), column.size());
    }
    text += '\n';
  }
  return text;
}

/// Ratios are left out: those of several kernels on a line do not add up.
bool adds_up(const Fact& fact) {
  return is_of_line(fact) && metrics::metric(fact.metric).unit.find('/') == std::string_view::npos;
}

ordered_json lines_json(const std::vector<Fact>& facts) {
  ordered_json lines = ordered_json::array();
  for (const auto& [where, line] : add_up(facts, adds_up)) {
    ordered_json values = ordered_json::object();
    for (const auto& [metric, value] : line.values) values[metric] = metrics::number_json(value);
    lines.push_back({{"file", line.file},
                     {"line", line.number},
                     {"values", values},
                     {"unsure", line.unsure},
                     {"doubts", line.doubts},
                     {"cures", line.cures},
                     {"waste", metrics::number_json(line.waste())},
                     {"inlined", outcome::inlined_text({line.file, line.number, line.inlined})}});
  }
  return lines;
}

/// The machine code of the kernels of the case, by source line.
ordered_json machine_code_json(const Case& explained, const std::string& arch) {
  std::set<std::string> kernels;
  for (const LaunchRecord& record : dry_launches(explained)) kernels.insert(record.kernel);
  const CodeOfLines code = code_of_lines(kernels, arch);
  ordered_json lines = ordered_json::array();
  for (const LineCode& line : code.lines) {
    ordered_json instructions = ordered_json::array();
    for (const auto& [address, sass, ptx] : line.instructions) {
      instructions.push_back({{"address", address}, {"sass", sass}, {"ptx", ptx}});
    }
    lines.push_back({{"file", line.file},
                     {"line", line.line},
                     {"kernel", line.kernel},
                     {"instructions", instructions}});
  }
  return {{"note", code.note}, {"lines", lines}};
}

/// The source around the lines that count something or have code: from a little above the first to
/// a little below the last.
ordered_json sources_json(const ordered_json& counted, const ordered_json& with_code) {
  constexpr int kAround = 3;
  std::map<std::string, std::pair<int, int>> ranges;
  for (const ordered_json* lines : {&counted, &with_code}) {
    for (const ordered_json& line : *lines) {
      const int number = line["line"];
      auto& [first, last] = ranges.try_emplace(line["file"], number, number).first->second;
      first = std::min(first, number);
      last = std::max(last, number);
    }
  }
  ordered_json sources = ordered_json::array();
  for (const auto& [file, range] : ranges) {
    const std::vector<std::string> text = files::source_lines(file);
    const int first = std::max(1, range.first - kAround);
    const int last = std::min(range.second + kAround, static_cast<int>(text.size()));
    ordered_json shown = ordered_json::array();
    for (int i = first; i <= last; ++i) shown.push_back(text[static_cast<std::size_t>(i) - 1]);
    sources.push_back({{"file", file}, {"first", first}, {"text", shown}});
  }
  return sources;
}

/// The access of each line that takes more than its ideal; worst first.
ordered_json pictures_json(const std::string& id, const std::string& arch) {
  constexpr std::size_t kMost = 6;
  std::vector<metrics::LineAccess> accesses = take_accesses();
  std::erase_if(accesses,
                [](const auto& shown) { return shown.access.taken <= shown.access.ideal; });
  std::ranges::stable_sort(accesses, [](const auto& a, const auto& b) {
    return metrics::shows_more(a.access, b.access);
  });
  accesses.resize(std::min(accesses.size(), kMost));
  ordered_json pictures = ordered_json::array();
  for (metrics::LineAccess& access : accesses) {
    access.file = files::relative_to_root(access.file);
    const AccessPicture picture =
        picture_of(access, id, arch, files::source_text(access.file, access.line));
    pictures.push_back({{"file", access.file},
                        {"line", access.line},
                        {"caption", picture.caption},
                        {"svg", picture_svg(picture)}});
  }
  return pictures;
}

}  // namespace

std::string case_json(const std::string& id, const std::string& arch) {
  const Case& explained = Registry::instance().at(id);
  if (!arch.empty()) chosen_archs({arch});
  const std::string emulated = arch.empty() ? default_emulated_arch() : arch;
  emulate_arch(emulated);
  const Counted counted = count(explained);
  const ordered_json lines = lines_json(counted.facts);
  const ordered_json code = machine_code_json(explained, emulated);
  const ordered_json data = {{"schema", "warpgauge.explain/1"},
                             {"id", id},
                             {"counted_by", counted.by},
                             {"static", explain_static(explained)},
                             {"lines", lines},
                             {"sources", sources_json(lines, code["lines"])},
                             {"machine_code", code},
                             {"pictures", pictures_json(id, emulated)}};
  return data.dump(1, ' ', false, ordered_json::error_handler_t::replace);
}

int explain_case(const std::string& id, const std::string& arch) {
  const Case& explained = Registry::instance().at(id);
  if (!arch.empty()) chosen_archs({arch});
  if (is_emulated()) {
    emulate_arch(arch.empty() ? default_emulated_arch() : arch);
    count_coverage();
  }
  fmt::print("{}\n{}\n", id, explain_static(explained));
  try {
    fmt::print("{}", explain_lines(explained));
  } catch (const metrics::Unmeasured& unmeasured) {
    fmt::print("counts per line: unmeasured: {}\n", unmeasured.what());
    return outcome::kNotMeasured;
  }
  return outcome::kWithinBudget;
}

}  // namespace warpgauge::explain
