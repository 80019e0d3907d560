#include "harness/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/archs.h"
#include "harness/registry.h"
#include "harness/run_facts.h"
#include "harness/runtime.h"
#include "harness/source_root.h"
#include "harness/static_facts.h"
#include "harness/summary.h"
#include "metrics/cupti.h"

namespace warpgauge {
namespace {

using metrics::Fact;

/// A source line of a kernel with its values by metric.
struct Line {
  std::string file;
  int number = 0;
  std::map<std::string, double> values;

  double value(const std::string& metric) const {
    const auto found = values.find(metric);
    return found == values.end() ? 0 : found->second;
  }
  bool touches_memory() const {
    return value("shared.wavefronts") + value("global.sectors_ideal") + value("local.sectors") > 0;
  }
  /// What the line costs beyond the ideal, in wavefronts and sectors.
  double waste() const {
    return value("shared.bank_conflicts") + value("global.excess_sectors") + value("local.sectors");
  }
};

std::vector<Line> lines_of(const std::vector<Fact>& facts) {
  std::map<std::pair<std::string, int>, Line> lines;
  for (const Fact& fact : facts) {
    if (fact.scope != metrics::Scope::line) continue;
    Line& line = lines[{fact.file, fact.line}];
    line.file = fact.file;
    line.number = fact.line;
    if (const double* value = std::get_if<double>(&fact.value)) line.values[fact.metric] += *value;
  }
  std::vector<Line> sorted;
  for (auto& [where, line] : lines) {
    if (line.touches_memory()) sorted.push_back(std::move(line));
  }
  std::ranges::stable_sort(sorted, std::greater<>(), &Line::waste);
  return sorted;
}

std::string pair_text(double value, double ideal) {
  return value == 0 && ideal == 0 ? "-" : fmt::format("{:.0f}/{:.0f}", value, ideal);
}

std::string count_text(double value) { return value == 0 ? "-" : fmt::format("{:.0f}", value); }

/// A table of the source lines; throws metrics::Unmeasured where nothing can be counted.
std::string explain_lines(const Case& one) {
  Meter meter(true);
  if (!meter.no_counters().empty()) throw metrics::Unmeasured(meter.no_counters(), "");
  const std::vector<Fact> facts = meter.run(one, metrics::Budgets());
  for (const Fact& fact : facts) {
    if (fact.verdict == metrics::Verdict::error) throw std::runtime_error(fact.reason);
    const bool counted = metrics::metric(fact.metric).source == metrics::Source::sass;
    if (counted && std::holds_alternative<std::monostate>(fact.value)) {
      throw metrics::Unmeasured(fact.reason, "");
    }
  }
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{:<8} {:>9} {:>17} {:>9} {:>17} {:>9}  {}\n", "line", "shared", "wavefronts",
                 "global", "sectors", "local", "source");
  fmt::format_to(out, "{:<8} {:>9} {:>17} {:>9} {:>17} {:>9}\n", "", "requests", "taken/ideal",
                 "requests", "taken/ideal", "sectors");
  std::string file;
  for (const Line& line : lines_of(facts)) {
    if (line.file != file) {
      file = line.file;
      fmt::format_to(out, "{}\n", file.empty() ? "(no line information)" : file);
    }
    const double sectors = line.value("global.load.sectors") + line.value("global.store.sectors") +
                           line.value("global.atomic.sectors");
    const double requests = line.value("global.load.requests") +
                            line.value("global.store.requests") +
                            line.value("global.atomic.requests");
    fmt::format_to(
        out, "{:<8} {:>9} {:>17} {:>9} {:>17} {:>9}  {}\n", line.number,
        count_text(line.value("shared.requests")),
        pair_text(line.value("shared.wavefronts"), line.value("shared.wavefronts_ideal")),
        count_text(requests), pair_text(sectors, line.value("global.sectors_ideal")),
        count_text(line.value("local.sectors")), source_text(line.file, line.number));
  }
  return text;
}

/// The compile-time values, a line per architecture.
std::string explain_static(const Case& one) {
  const PtxasTexts& texts = PtxasTexts::of_this_build();
  const std::vector<LaunchRecord> launches = dry_launches(one);
  std::string text;
  auto out = std::back_inserter(text);
  for (const LaunchRecord& record : launches) {
    const auto& [grid, block, shared, count] = record.launch;
    fmt::format_to(out, "launches {} as <<<({}), ({}), {}>>> {} time{}\n", record.kernel,
                   fmt::join(grid, ", "), fmt::join(block, ", "), shared, count,
                   count == 1 ? "" : "s");
  }
  constexpr const char* kColumns[] = {
      "registers",           "spill.store_bytes",     "spill.load_bytes", "stack.bytes",
      "shared.static_bytes", "occupancy.theoretical", "occupancy.limiter"};
  fmt::format_to(out, "{:<7}", "arch");
  for (const char* column : kColumns) fmt::format_to(out, "  {}", column);
  text += '\n';
  for (const std::string& arch : texts.archs()) {
    fmt::format_to(out, "{:<7}", arch);
    const std::vector<Fact> facts = static_facts(one, launches, arch, texts);
    for (const std::string column : kColumns) {
      const auto fact = std::ranges::find(facts, column, &Fact::metric);
      fmt::format_to(out, "  {:>{}}", metrics::to_text(fact->value), column.size());
    }
    text += '\n';
  }
  return text;
}

}  // namespace

int explain_case(const std::string& id, const std::string& arch) {
  const Case& one = Registry::instance().at(id);
  if (!arch.empty()) chosen_archs({arch});
  if (is_emulated()) emulate_arch(arch.empty() ? default_emulated_arch() : arch);
  fmt::print("{}\n{}\n", id, explain_static(one));
  try {
    fmt::print("{}", explain_lines(one));
  } catch (const metrics::Unmeasured& unmeasured) {
    fmt::print("counts per line: unmeasured: {}\n", unmeasured.what());
    return kNotMeasured;
  }
  return kWithinBudget;
}

}  // namespace warpgauge
