// Writes the changes between two runs, for people.
#include "harness/diff/diff_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "harness/files/printable.h"
#include "metrics/base/demangled.h"
#include "metrics/base/value.h"

namespace warpgauge::diff {
namespace {

bool is_shown(const Change& change) {
  const bool hidden = change.kind == ChangeKind::same || change.kind == ChangeKind::unsure ||
                      change.kind == ChangeKind::gone;
  return !hidden && change.is_judged();
}

/// The kind as wide as the longest, in its colour.
std::string coloured(ChangeKind kind, const DisplayOptions& display) {
  constexpr int kColours[kChangeKinds] = {31, 33, 36, 36, 32, 36, 0, 0, 0};
  const int colour = kColours[static_cast<std::size_t>(kind)];
  const std::string text = fmt::format("{:<7}", to_string(kind));
  return display.colours && colour != 0 ? fmt::format("\033[{}m{}\033[0m", colour, text) : text;
}

std::string case_text(const Change& change) {
  return files::printable(change.arch.empty() ? change.id.str()
                                              : change.id.str() + " on " + change.arch.str());
}

std::string line_text(const LineKey& place) {
  return place.file.empty() ? "code without line information"
                            : fmt::format("{}:{}", place.file, place.line);
}

/// "1 -> 2 wavefronts (+100.0%)"; nothing where neither run has a value.
std::string values_text(const Change& change) {
  if (change.a.index() == 0 && change.b.index() == 0) return "";
  std::string text = fmt::format("{} -> {} {}", metrics::to_text(change.a),
                                 metrics::to_text(change.b), change.metric->unit);
  if (change.relative && change.kind != ChangeKind::same) {
    text += fmt::format(" ({:+.1f}%)", 100 * *change.relative);
  }
  return text;
}

/// "; code, toolkit 12.8 -> 13.0" and why B has no value.
std::string why_text(const Change& change) {
  std::string text;
  if (change.cause) text += fmt::format("; {}", to_string(*change.cause));
  for (const std::string& detail : change.details) text += ", " + detail;
  return text + (change.reason.empty() ? "" : ": " + change.reason.str());
}

/// True where the value has a row for each of several GPUs, which are then named.
bool is_of_several_gpus(const Change& change, CaseChanges of_case) {
  return std::ranges::count(of_case, change.metric, &Change::metric) > 1;
}

/// The row of a case that only one run measured.
std::string one_sided_row(CaseChanges changes, std::size_t others, const DisplayOptions& display) {
  return fmt::format("{} {}{}: the whole case, {} value{}\n",
                     coloured(*only_side(changes), display), case_text(changes.front()),
                     others > 0 ? fmt::format(" and {} more", others) : "", changes.size(),
                     changes.size() == 1 ? "" : "s");
}

/// A case with its worst change, and how many more cases it represents: those of the variant whose
/// worst change is of the same kind and metric; of a one-sided case its other architectures.
struct ShownCase {
  CaseChanges changes;
  const Change* worst;
  std::size_t values, others = 0;
};

std::string shown_row(const ShownCase& shown, const DisplayOptions& display) {
  const Change& worst = *shown.worst;
  std::string text = fmt::format("{} {}", coloured(worst.kind, display), case_text(worst));
  if (shown.others > 0) text += fmt::format(" and {} more", shown.others);
  if (shown.values > 1) text += fmt::format(" ({} values)", shown.values);
  std::string value = fmt::format("{} {}", worst.metric->id, values_text(worst));
  if (value.ends_with(' ')) value.pop_back();
  if (is_of_several_gpus(worst, shown.changes)) value += " on " + worst.gpu.str();
  if (!worst.lines.empty() && worst.lines.front().kind != ChangeKind::same) {
    value += ", " + line_text(worst.lines.front().place);
  }
  return fmt::format("{}\n        {}\n", text, files::printable(value + why_text(worst)));
}

/// The id without the size.
std::string_view variant_of(std::string_view id) { return id.substr(0, id.find('@')); }

struct ShownCases {
  std::vector<ShownCase> changed, one_sided;
};

ShownCases shown_cases(const std::vector<Change>& changes) {
  std::map<std::tuple<std::string_view, ChangeKind, const metrics::Metric*>, std::size_t> changed;
  std::map<std::pair<std::string_view, ChangeKind>, std::size_t> one_sided;
  ShownCases shown;
  const auto add = [](std::vector<ShownCase>& cases, auto& places, const auto& key,
                      const ShownCase& shown) {
    const auto [place, is_new] = places.try_emplace(key, cases.size());
    if (is_new) {
      cases.push_back(shown);
    } else {
      ++cases[place->second].others;
    }
  };
  for (const CaseChanges of_case : by_case(changes)) {
    const auto worst = std::ranges::find_if(of_case, is_shown);
    if (worst == of_case.end()) continue;
    const auto values = static_cast<std::size_t>(std::ranges::count_if(of_case, is_shown));
    const ShownCase shown_case{of_case, &*worst, values};
    if (const std::optional<ChangeKind> side = only_side(of_case)) {
      add(shown.one_sided, one_sided, std::pair(std::string_view(worst->id), *side), shown_case);
    } else {
      add(shown.changed, changed, std::tuple(variant_of(worst->id), worst->kind, worst->metric),
          shown_case);
    }
  }
  return shown;
}

/// The number of values by cause and kind; nothing where nothing changed.
std::string cause_table(const std::vector<Change>& changes) {
  constexpr ChangeKind kColumns[] = {ChangeKind::worse, ChangeKind::moved, ChangeKind::changed,
                                     ChangeKind::better};
  const CauseCounts causes = count_causes(changes);
  if (causes.empty()) return "";
  std::string text = fmt::format("{:<18}", "cause");
  for (const ChangeKind kind : kColumns) text += fmt::format(" {:>7}", to_string(kind));
  for (const auto& [cause, counts] : causes) {
    text += fmt::format("\n{:<18}", cause ? to_string(*cause) : "a case that fails");
    for (const ChangeKind kind : kColumns) {
      text += fmt::format(" {:>7}", counts[static_cast<std::size_t>(kind)]);
    }
  }
  return text + "\n\n";
}

/// Known of the values that both sides have.
bool has_other_code(CaseChanges of_case) {
  return std::ranges::any_of(of_case, &Change::other_code);
}

/// The instructions that became more or fewer: "mix.ldg_32 8 -> 16, mix.f64 0 -> 2".
std::string work_text(CaseChanges of_case) {
  std::vector<std::string> parts;
  for (const Change& change : of_case) {
    const bool is_work = change.metric->id.starts_with("mix.") ||
                         change.metric->id.starts_with("local.") ||
                         change.metric->id == "code.bytes";
    if (!is_work || change.a == change.b) continue;
    parts.push_back(fmt::format("{} {} -> {}", change.metric->id, metrics::to_text(change.a),
                                metrics::to_text(change.b)));
  }
  if (!parts.empty()) return fmt::format("{}", fmt::join(parts, ", "));
  return has_other_code(of_case) ? "in another order, equal work" : "the same";
}

/// A kernel of compiled files: its name, what became of its code, and its occupancy.
std::string kernel_text(CaseChanges of_case, const KernelsOfCases& kernels) {
  const auto names = kernels.find({of_case.front().id, of_case.front().arch});
  if (names == kernels.end()) return "";
  const std::string a = metrics::shown_name(names->second.a),
                    b = metrics::shown_name(names->second.b);
  std::string text = fmt::format("        kernel {}\n", files::printable(b));
  if (a != b) text += fmt::format("        before {}\n", files::printable(a));
  text += fmt::format("        code {}", work_text(of_case));
  const auto occupancy = std::ranges::find_if(of_case, [](const Change& change) {
    return change.metric->id == "occupancy.theoretical" && change.a.index() != 0 &&
           change.b.index() != 0;
  });
  if (occupancy != of_case.end()) {
    text += fmt::format("; occupancy {} -> {}", metrics::to_text(occupancy->a),
                        metrics::to_text(occupancy->b));
  }
  return text + '\n';
}

/// "12 kernels have other code for equal work"; nothing where none has.
std::string equal_work_text(const std::vector<Change>& changes, const KernelsOfCases& kernels) {
  std::size_t equal = 0;
  for (const CaseChanges of_case : by_case(changes)) {
    const bool is_kernel = kernels.contains({of_case.front().id, of_case.front().arch});
    const bool all_same =
        std::ranges::all_of(of_case, [](const Change& change) { return change.a == change.b; });
    equal += is_kernel && all_same && has_other_code(of_case) ? 1 : 0;
  }
  if (equal == 0) return "";
  return fmt::format("{} kernel{} other code for equal work: no value changed\n\n", equal,
                     equal == 1 ? " has" : "s have");
}

std::string one_screen(const std::vector<Change>& changes, const KernelsOfCases& kernels,
                       const DisplayOptions& display) {
  const ShownCases shown = shown_cases(changes);
  std::vector<Entry> changed, one_sided;
  for (const ShownCase& shown_case : shown.changed) {
    changed.push_back({shown_row(shown_case, display) + kernel_text(shown_case.changes, kernels),
                       shown_case.others + 1});
  }
  for (const ShownCase& shown_case : shown.one_sided) {
    one_sided.push_back(
        {one_sided_row(shown_case.changes, shown_case.others, display), shown_case.others + 1});
  }
  std::string text = cause_table(changes);
  for (const std::string& list : {first_of(changed, kShownCases, "cases", display),
                                  first_of(one_sided, kShownLost, "lost or new cases", display)}) {
    if (!list.empty()) text += list + '\n';
  }
  return text + equal_work_text(changes, kernels);
}

std::string block(CaseChanges of_case, std::size_t width, const DisplayOptions& display) {
  std::string text = case_text(of_case.front()) + '\n';
  for (const Change& change : of_case) {
    std::string row = fmt::format("{:<{}}  {}", change.metric->id, width, values_text(change));
    row.erase(row.find_last_not_of(' ') + 1);
    if (!change.gpu.empty() && is_of_several_gpus(change, of_case))
      row += " on " + change.gpu.str();
    text += fmt::format("  {} {}\n", coloured(change.kind, display),
                        files::printable(row + why_text(change)));
    for (const LineChange& line : change.lines) {
      text +=
          fmt::format("          {:<7} {}: {} -> {}\n", to_string(line.kind),
                      files::printable(line_text(line.place)), metrics::to_text(line.a.value_or(0)),
                      metrics::to_text(line.b.value_or(0)));
    }
  }
  return text;
}

std::string all_blocks(const std::vector<Change>& changes, const KernelsOfCases& kernels,
                       const DisplayOptions& display) {
  std::size_t width = 0;
  for (const Change& change : changes) width = std::max(width, change.metric->id.size());
  std::string text;
  for (const CaseChanges of_case : by_case(changes)) {
    text += block(of_case, width, display) + kernel_text(of_case, kernels) + '\n';
  }
  return text + equal_work_text(changes, kernels);
}

}  // namespace

std::string headline(const std::vector<Change>& changes) {
  const KindCounts counts = count_kinds(changes);
  const auto count = [&](ChangeKind kind) { return counts[static_cast<std::size_t>(kind)]; };
  const auto words = [](ChangeKind kind) -> std::string_view {
    switch (kind) {
      case ChangeKind::same:
        return "the same";
      case ChangeKind::moved:
        return "moved with the same machine code and launches";
      case ChangeKind::unsure:
        return "noisy values without an interval, or estimates, not compared";
      default:
        return to_string(kind);
    }
  };
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kChangeKinds; ++i) {
    if (counts[i] > 0)
      parts.push_back(fmt::format("{} {}", counts[i], words(static_cast<ChangeKind>(i))));
  }
  return fmt::format("{}: {}",
                     count(ChangeKind::worse) > 0  ? "WORSE"
                     : count(ChangeKind::lost) > 0 ? "LOST"
                                                   : "NOT WORSE",
                     fmt::join(parts, ", "));
}

std::string changes_text(const std::vector<Change>& changes, const KernelsOfCases& kernels,
                         const DisplayOptions& display) {
  return (display.everything ? all_blocks(changes, kernels, display)
                             : one_screen(changes, kernels, display)) +
         headline(changes) + '\n';
}

}  // namespace warpgauge::diff
