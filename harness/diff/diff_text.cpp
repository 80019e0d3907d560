// Writes the changes between two runs, for people.
#include "harness/diff/diff_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "harness/files/printable.h"
#include "metrics/base/demangled.h"
#include "metrics/base/value.h"

namespace warpgauge::diff {
namespace {

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

/// The row of a kernel that only one run measured.
std::string one_sided_row(const KernelChanges& kernel, const DisplayOptions& display) {
  const std::size_t others = kernel.cases.size() - 1, values = kernel.cases.front().size();
  return fmt::format("{} {}{}: the whole case, {} value{}\n", coloured(kernel.kind, display),
                     case_text(kernel.cases.front().front()),
                     others > 0 ? fmt::format(" and {} more", others) : "", values,
                     values == 1 ? "" : "s");
}

/// "shared.bank_conflicts 0 -> 32 wavefronts, a.cu:40; code (and 2 more of shared)".
std::string fact_text(const FactChange& fact, CaseChanges shown_case) {
  const Change& change = *fact.gravest;
  std::string text = fmt::format("{} {}", change.metric->id, values_text(change));
  if (text.ends_with(' ')) text.pop_back();
  const bool is_of_case =
      &change >= shown_case.data() && &change < shown_case.data() + shown_case.size();
  if (!is_of_case) text += " of " + case_text(change);
  if (is_of_case && is_of_several_gpus(change, shown_case)) text += " on " + change.gpu.str();
  if (const LineKey* place = change.moved_line()) text += ", " + line_text(*place);
  text += why_text(change);
  if (fact.values > 1) text += fmt::format(" (and {} more of {})", fact.values - 1, fact.topic);
  return files::printable(text);
}

/// The case of a kernel that its row names: that of its gravest value.
CaseChanges shown_case_of(const KernelChanges& kernel) {
  const Change& worst = *kernel.facts.front().gravest;
  return *std::ranges::find_if(kernel.cases, [&](CaseChanges of_case) {
    return of_case.front().id == worst.id && of_case.front().arch == worst.arch;
  });
}

std::string kernel_row(const KernelChanges& kernel, const DisplayOptions& display) {
  const Change& worst = *kernel.facts.front().gravest;
  std::string text = fmt::format("{} {}", coloured(kernel.kind, display), case_text(worst));
  if (kernel.cases.size() > 1) text += fmt::format(" and {} more", kernel.cases.size() - 1);
  text += '\n';
  for (const FactChange& fact : kernel.facts) {
    if (!fact.told) continue;
    const ChangeKind kind = fact.gravest->kind;
    const std::string mark = kind == kernel.kind ? "" : fmt::format("{}: ", to_string(kind));
    text += fmt::format("        {}{}\n", mark, fact_text(fact, shown_case_of(kernel)));
  }
  return text;
}

/// The number of kernels by cause and kind; nothing where nothing changed.
std::string cause_table(const std::vector<KernelChanges>& kernels) {
  constexpr ChangeKind kColumns[] = {ChangeKind::worse, ChangeKind::moved, ChangeKind::changed,
                                     ChangeKind::better};
  const CauseCounts causes = count_causes(kernels);
  if (causes.empty()) return "";
  std::string text = fmt::format("{:<18}", "kernels by cause");
  for (const ChangeKind kind : kColumns) text += fmt::format(" {:>7}", to_string(kind));
  for (const auto& [cause, counts] : causes) {
    text += fmt::format("\n{:<18}", cause ? to_string(*cause) : "a case that fails");
    for (const ChangeKind kind : kColumns) {
      text += fmt::format(" {:>7}", counts[static_cast<std::size_t>(kind)]);
    }
  }
  return text + "\n\n";
}

/// What is neither the same nor another value; nothing where all was compared.
std::string not_compared_text(std::span<const Change> changes) {
  const std::size_t unsure = count_kinds(changes)[static_cast<std::size_t>(ChangeKind::unsure)];
  if (unsure == 0) return "";
  return fmt::format("{} noisy value{} without an interval, or estimate{}, not compared\n\n",
                     unsure, unsure == 1 ? "" : "s", unsure == 1 ? "" : "s");
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
std::string equal_work_text(const std::vector<KernelChanges>& kernels,
                            const KernelsOfCases& names) {
  const auto is_equal = [&](CaseChanges of_case) {
    return names.contains({of_case.front().id, of_case.front().arch}) &&
           std::ranges::all_of(of_case, [](const Change& change) { return change.a == change.b; });
  };
  const auto equal = std::ranges::count_if(kernels, [&](const KernelChanges& kernel) {
    return std::ranges::all_of(kernel.cases, is_equal) &&
           std::ranges::any_of(kernel.cases, has_other_code);
  });
  if (equal == 0) return "";
  return fmt::format("{} kernel{} other code for equal work: no value changed\n\n", equal,
                     equal == 1 ? " has" : "s have");
}

std::string one_screen(const std::vector<KernelChanges>& kernels, const KernelsOfCases& names,
                       const DisplayOptions& display) {
  std::vector<Entry> changed, one_sided;
  for (const KernelChanges& kernel : kernels) {
    if (kernel.facts.empty()) continue;
    if (kernel.is_one_sided()) {
      one_sided.push_back({one_sided_row(kernel, display)});
    } else {
      changed.push_back({kernel_row(kernel, display) + kernel_text(shown_case_of(kernel), names)});
    }
  }
  std::string text = cause_table(kernels);
  for (const std::string& list :
       {first_of(changed, kShownCases, "kernels", display),
        first_of(one_sided, kShownLost, "lost or new kernels", display)}) {
    if (!list.empty()) text += list + '\n';
  }
  return text + equal_work_text(kernels, names);
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

std::string all_blocks(const std::vector<Change>& changes,
                       const std::vector<KernelChanges>& kernels, const KernelsOfCases& names,
                       const DisplayOptions& display) {
  std::size_t width = 0;
  for (const Change& change : changes) width = std::max(width, change.metric->id.size());
  std::string text;
  for (const CaseChanges of_case : by_case(changes)) {
    text += block(of_case, width, display) + kernel_text(of_case, names) + '\n';
  }
  return text + equal_work_text(kernels, names);
}

}  // namespace

std::string changes_text(const std::vector<Change>& changes,
                         const std::vector<KernelChanges>& kernels, const KernelsOfCases& names,
                         const DisplayOptions& display) {
  return (display.everything ? all_blocks(changes, kernels, names, display)
                             : one_screen(kernels, names, display)) +
         not_compared_text(changes) + headline(kernels) + '\n';
}

}  // namespace warpgauge::diff
