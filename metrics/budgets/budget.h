// Budgets: the limits of kernels. Each family has a TOML file, and the whole project has one. A
// file is read whole or not at all.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/budgets/waiver.h"
#include "metrics/facts/catalog.h"
#include "metrics/facts/fact.h"
#include "metrics/facts/limit.h"

namespace warpgauge::metrics {

enum class Confidence;

/// A budget file that cannot be used. what() reads: file:line:column: problem, then the line
/// itself with a caret, then what to do.
class BudgetError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The budgets of one family.
class Budgets {
 public:
  /// Only the built-in defaults: a right result, zero bank conflicts, zero spill bytes, zero
  /// local traffic.
  Budgets() = default;

  /// Reads `path`, a file of the sections [default], ["variant"], ["variant.type"] and
  /// ["variant.type@size"], each with tables of its own per architecture ([default.sm_90]) and
  /// perhaps `waive`, and before them perhaps `gate_on = "estimate"`. `cases` are the cases of the
  /// family; a section that fits none of them, an unknown metric or key, or a limit that makes no
  /// sense throws BudgetError with the nearest name. Only the first error of a file is reported.
  /// `shown_as` names the file in errors and as the origin of limits.
  static Budgets load(const std::filesystem::path& path, std::string_view shown_as,
                      std::span<const CaseId> cases);
  /// Reads a text as load() reads a file. `path` names it in errors.
  static Budgets parse(std::string_view text, std::string_view path, std::span<const CaseId> cases);
  /// Reads the budget file of a family without registered cases: its sections name the cases.
  static Budgets load_unregistered(const std::filesystem::path& path);

  /// Reads the file of a whole project, of the sections [default] and ["family"], for rest_on().
  static Budgets load_project(const std::filesystem::path& path, std::string_view shown_as);
  /// Places the limits of a project below these and above the built-in defaults.
  void rest_on(const Budgets& project);
  /// Adds the lines of another file of the family. Where both have a line, this one's stays.
  void rest_on_file(const Budgets& file);

  /// The budgets of the case `id`, whose kernel has these `names`, from a file that
  /// load_unregistered() read. Its sections are globs that match names of kernels. For each metric
  /// the section "variant.type" of the id wins, then the longest matching glob with a line for it.
  Budgets of_kernel(const CaseId& id, std::span<const std::string> names) const;

  /// The names of the sections of the file, "variant.type@size" and the like, without [default].
  std::set<std::string> section_names() const;
  /// The limit for `metric` of `id` on `arch` ("sm_90", may be empty), or nullptr. The first of
  /// places() with a limit wins; within a place the architecture's own table goes before the
  /// general one. A table for sm_90 does not apply to sm_90a. A ratio does not apply to the case
  /// that it refers to.
  const Limit* find(const CaseId& id, std::string_view arch, std::string_view metric) const;

  /// The waivers of findings in all places() of `id` on `arch`, the most specific first.
  std::vector<const Waiver*> waivers(const CaseId& id, std::string_view arch) const;

  /// The metrics with a limit for `id` on `arch`: in the order of the catalog, then counters by
  /// name.
  std::vector<const Metric*> metrics(const CaseId& id, std::string_view arch) const;

  /// The cases that the ratios of `id` refer to.
  std::set<CaseId> ratios_of(const CaseId& id) const;

  /// The least confidence with which a value is held against these budgets and the built-in ones.
  Confidence gate_on() const { return gate_on_.value_or(Confidence{}); }

  struct Section {
    std::map<std::string, Limit, std::less<>> limits;  // by metric
    std::vector<Waiver> waivers;
  };
  using Sections = std::map<std::string, Section, std::less<>>;  // "name" or "name/sm_90"

 private:
  /// Reads a text. `cases` is nullptr where the cases are not known.
  static Budgets read(std::string_view text, std::string_view path,
                      const std::span<const CaseId>* cases, bool project = false);

  using Place = std::pair<const Sections*, std::string>;
  /// The sections that can apply to a case, the most specific first. This is the only such list.
  std::vector<Place> places(const CaseId& id) const;

  Sections sections_;
  Sections project_;
  std::optional<Confidence> gate_on_;
};

}  // namespace warpgauge::metrics
