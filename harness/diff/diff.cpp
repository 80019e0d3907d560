// Compares two runs, a part of their cases at a time, and shows what changed.
#include "harness/diff/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/diff/agreement_text.h"
#include "harness/diff/diff_json.h"
#include "harness/diff/diff_text.h"
#include "harness/diff/kernel_changes.h"
#include "harness/diff/same_kernels.h"
#include "harness/files/json_document.h"
#include "harness/files/printable.h"
#include "harness/files/write_file.h"

namespace warpgauge::diff {
namespace {

using Runs = std::vector<metrics::StoredRun>;

struct Result {
  outcome::ExitCode exit_code;
  std::string text;
  std::function<void(files::JsonDocument&)> add_to;  ///< the facts must still be there
};

std::string name_or(const std::string& name, const std::filesystem::path& file) {
  return name.empty() ? file.string() : name;
}

bool has_common_values(const std::vector<Change>& changes) {
  return std::ranges::any_of(changes, [](const Change& change) {
    return change.a.index() != 0 && (change.b.index() != 0 || change.kind == ChangeKind::worse);
  });
}

outcome::ExitCode exit_code_of(const std::vector<Change>& changes, bool require_all) {
  const auto has = [&](ChangeKind kind) {
    return std::ranges::find(changes, kind, &Change::kind) != changes.end();
  };
  if (has(ChangeKind::worse)) return outcome::kOverBudget;
  const auto is_one_sided = [](CaseChanges of_case) { return only_side(of_case).has_value(); };
  const bool left_out = require_all && std::ranges::any_of(by_case(changes), is_one_sided);
  return has(ChangeKind::lost) || left_out ? outcome::kNotMeasured : outcome::kWithinBudget;
}

/// All that two files say of the same cases.
struct Compared {
  std::vector<Change> changes;  ///< the worst first
  Origin a, b;
  std::set<std::string> counters_a, counters_b;
};

/// Compares so many cases at a time that memory stays small. `cases` are those of both, by A.
Compared compare(ComparedFile& file_a, ComparedFile& file_b, const SameKernels& kernels,
                 std::set<CaseKey> cases, double noise) {
  constexpr std::size_t kAtOnce = 2048;
  Compared compared;
  while (!cases.empty()) {
    std::set<CaseKey> part;
    while (!cases.empty() && part.size() < kAtOnce) part.insert(cases.extract(cases.begin()));
    const Runs a = file_a.read([&](const CaseKey& key) { return part.contains(key); });
    Runs b = file_b.read([&](const CaseKey& key) { return part.contains(kernels.case_in_a(key)); });
    compared.a.add(a);
    compared.b.add(b);
    compared.counters_a.merge(counters_of_memory(a));
    compared.counters_b.merge(counters_of_memory(b));
    kernels.rename(b);
    std::ranges::move(find_changes(newest_of(a), newest_of(b), noise),
                      std::back_inserter(compared.changes));
  }
  sort_worst_first(compared.changes);
  return compared;
}

Result values_result(const std::vector<Change>& changes, const KernelsOfCases& names,
                     const DiffOptions& options) {
  if (!has_common_values(changes)) {
    throw std::runtime_error(
        fmt::format("{} and {} measured nothing in common: compare runs of the same cases on the "
                    "same architecture (times: on the same kind of GPU)",
                    name_or(options.name_a, options.a), name_or(options.name_b, options.b)));
  }
  std::vector<KernelChanges> kernels = by_kernel(changes, names);
  std::string text = changes_text(changes, kernels, names, options.display);
  return {exit_code_of(changes, options.require_all), std::move(text),
          [&, kernels = std::move(kernels)](files::JsonDocument& json) {
            add_changes(json, changes, kernels, names);
          }};
}

Result counts_result(const CountComparison& comparison, const DiffOptions& options) {
  if (comparison.families.empty()) {
    throw std::runtime_error(fmt::format(
        "{} and {} have no counted case in common: {} cases only in A, {} only in B, {} of other "
        "machine code",
        options.a.string(), options.b.string(), comparison.only_in_a.size(),
        comparison.only_in_b.size(), comparison.other_code.size()));
  }
  // Cases that only one side has are no surprise: a GPU runs larger ones. Of those that both have
  // the machine code should be one.
  const bool left_out =
      !comparison.other_code.empty() ||
      (options.require_all && comparison.left_out() + comparison.without_lines.size() > 0);
  return {comparison.is_refuted() ? outcome::kOverBudget
          : left_out              ? outcome::kNotMeasured
                                  : outcome::kWithinBudget,
          comparison_text(comparison, options.display),
          [&](files::JsonDocument& json) { add_comparison(json, comparison); }};
}

SideName name_of(const std::string& name, const std::filesystem::path& file, const Origin& origin) {
  SideName side{name_or(name, file), origin.text(), origin.runs(), origin.commits()};
  if (side.runs.empty()) throw std::runtime_error(fmt::format("{}: no facts", file.string()));
  return side;
}

/// Writes and prints the result.
outcome::ExitCode show(const Result& result, const SideName& a, const SideName& b,
                       const DiffOptions& options) {
  if (!options.json.empty()) {
    files::write_file(options.json, [&](std::ostream& out) {
      write_diff_json(out, a, b, result.exit_code, result.add_to);
    });
  }
  for (const auto& [letter, name] : {std::pair('A', &a), std::pair('B', &b)}) {
    fmt::print("{}: {} ({})\n", letter, files::printable(name->file.string()),
               files::printable(name->origin));
  }
  fmt::print("\n{}", result.text);
  return result.exit_code;
}

}  // namespace

outcome::ExitCode diff_runs(const DiffOptions& options) {
  ComparedFile file_a(options.a), file_b(options.b);
  std::set<CaseKey> cases;
  const auto kernels = [&] {
    const std::vector<metrics::Fact> a = file_a.cases(options.selection, options.archs),
                                     b = file_b.cases(options.selection, options.archs);
    SameKernels same(a, b);
    for (const metrics::Fact& fact : a) cases.insert(case_of(fact));
    for (const metrics::Fact& fact : b) cases.insert(same.case_in_a(case_of(fact)));
    return same;
  }();
  const Compared compared = compare(file_a, file_b, kernels, std::move(cases), options.noise);
  const SideName a = name_of(options.name_a, options.a, compared.a),
                 b = name_of(options.name_b, options.b, compared.b);
  if (!are_other_counters(compared.counters_a, compared.counters_b)) {
    return show(values_result(compared.changes, kernels.names(), options), a, b, options);
  }
  const auto is_selected = [&](const CaseKey& key) { return options.selection.takes(key.first); };
  const CountComparison comparison =
      compare_counts(file_a.read(is_selected), file_b.read(is_selected));
  return show(counts_result(comparison, options), a, b, options);
}

}  // namespace warpgauge::diff
