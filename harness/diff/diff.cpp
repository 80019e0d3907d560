#include "harness/diff/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/diff/agreement_text.h"
#include "harness/diff/diff_json.h"
#include "harness/diff/diff_text.h"
#include "harness/diff/same_kernels.h"
#include "harness/files/printable.h"
#include "harness/files/write_file.h"
#include "harness/outcome/exit_code.h"

namespace warpgauge::diff {
namespace {

using Runs = std::vector<metrics::StoredRun>;

struct Result {
  int exit_code;
  std::string text;
  nlohmann::ordered_json json;
};

std::string name_or(const std::string& name, const std::filesystem::path& file) {
  return name.empty() ? file.string() : name;
}

bool has_common_values(const std::vector<Change>& changes) {
  return std::ranges::any_of(changes, [](const Change& change) {
    return change.a.index() != 0 && (change.b.index() != 0 || change.mark == Mark::worse);
  });
}

outcome::ExitCode exit_code_of(const std::vector<Change>& changes, bool require_all) {
  const auto has = [&](Mark mark) {
    return std::ranges::find(changes, mark, &Change::mark) != changes.end();
  };
  if (has(Mark::worse)) return outcome::kOverBudget;
  const auto is_one_sided = [](CaseChanges of_case) { return only_side(of_case).has_value(); };
  const bool left_out = require_all && std::ranges::any_of(by_case(changes), is_one_sided);
  return has(Mark::lost) || left_out ? outcome::kNotMeasured : outcome::kWithinBudget;
}

Result diff_values(const Runs& a, Runs b, const DiffOptions& options) {
  const KernelsOfCases kernels = match_kernels(a, b);
  const std::vector<Change> changes = find_changes(side_of(a), side_of(b), options.noise);
  if (!has_common_values(changes)) {
    throw std::runtime_error(
        fmt::format("{} and {} measured nothing in common: compare runs of the same cases on the "
                    "same architecture (times: on the same kind of GPU)",
                    name_or(options.name_a, options.a), name_or(options.name_b, options.b)));
  }
  return {exit_code_of(changes, options.require_all),
          changes_text(changes, kernels, options.screen), changes_json(changes, kernels)};
}

Result diff_counts(const Runs& a, const Runs& b, const DiffOptions& options) {
  const CountComparison comparison = compare_counts(a, b);
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
          comparison_text(comparison, options.screen), comparison_json(comparison)};
}

SideName name_of(const std::string& shown, const Runs& runs) {
  SideName name{shown, origin(runs), {}};
  for (const metrics::StoredRun& run : runs) {
    if (!run.facts.empty()) name.runs.push_back(run.run.id);
  }
  return name;
}

}  // namespace

int diff_runs(const DiffOptions& options) {
  const Runs a = read_side(options.a, options.selection, options.archs),
             b = read_side(options.b, options.selection, options.archs);
  const Result result =
      have_other_sources(a, b) ? diff_counts(a, b, options) : diff_values(a, b, options);
  const SideName name_a = name_of(name_or(options.name_a, options.a), a),
                 name_b = name_of(name_or(options.name_b, options.b), b);
  if (!options.json.empty()) {
    files::write_file(options.json, diff_json(name_a, name_b, result.exit_code, result.json));
  }
  for (const auto& [letter, name] : {std::pair('A', &name_a), std::pair('B', &name_b)}) {
    fmt::print("{}: {} ({})\n", letter, files::printable(name->file.string()),
               files::printable(name->origin));
  }
  fmt::print("\n{}", result.text);
  return result.exit_code;
}

}  // namespace warpgauge::diff
