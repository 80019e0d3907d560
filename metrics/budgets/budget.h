// Budgets: what a kernel may cost. One TOML file beside each family and one for the whole project,
// each read whole or not at all.
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
  /// ["variant.type@size"], each with tables of its own per architecture ([default.sm_90]), and
  /// before them perhaps `gate_on = "estimate"`.
  /// `cases` are the cases of the family; a section that fits none of them, an unknown metric or
  /// key, or a limit that makes no sense throws BudgetError with the nearest name. Only the
  /// first error of a file is reported.
  /// `shown_as` names the file in errors and as the origin of limits.
  static Budgets load(const std::filesystem::path& path, std::string_view shown_as,
                      std::span<const CaseId> cases);
  /// The same for a text; `path` names it in errors.
  static Budgets parse(std::string_view text, std::string_view path, std::span<const CaseId> cases);
  /// Reads the budget file of a family without registered cases: its sections name the cases.
  static Budgets load_unregistered(const std::filesystem::path& path);

  /// Reads the file of a whole project, of the sections [default] and ["family"], for rest_on().
  static Budgets load_project(const std::filesystem::path& path, std::string_view shown_as);
  /// Puts the file of a project below this one and above the built-in defaults.
  void rest_on(const Budgets& project);
  /// Adds the lines of another file of the family; of two for the same, this one's stays.
  void rest_on_file(const Budgets& file);

  /// Those of a file read by load_unregistered() whose sections are globs of names of
  /// kernels: the budgets of one case, `id`, whose kernel has these `names`. For each metric the
  /// section "variant.type" of the id wins, then the longest matching glob with a line for it.
  Budgets of_kernel(const CaseId& id, std::span<const std::string> names) const;

  /// The names of the sections of the file, "variant.type@size" and the like, without [default].
  std::set<std::string> section_names() const;
  /// The limit for `metric` of `id` on `arch` ("sm_90", may be empty), or nullptr: that of the
  /// first of places() with one, and within each that of the architecture's own table before the
  /// general one. That of sm_90 does not hold for sm_90a. A ratio does not hold for the case that
  /// it is of.
  const Limit* find(const CaseId& id, std::string_view arch, std::string_view metric) const;

  /// The metrics that have a limit there: in the order of the catalog, then counters by name.
  std::vector<const Metric*> metrics(const CaseId& id, std::string_view arch) const;

  /// The cases that limits of `id` are multiples of.
  std::set<CaseId> ratios_of(const CaseId& id) const;

  /// The least sure values that are held against these budgets and the built-in ones.
  Confidence gate_on() const { return gate_on_.value_or(Confidence{}); }

  using Section = std::map<std::string, Limit, std::less<>>;     // metric -> limit
  using Sections = std::map<std::string, Section, std::less<>>;  // "name" or "name/sm_90"

 private:
  /// `cases` nullptr: not known.
  static Budgets read(std::string_view text, std::string_view path,
                      const std::span<const CaseId>* cases, bool project = false);

  using Place = std::pair<const Sections*, std::string>;
  /// The sections that can hold for a case, the most special first. There is no other such list.
  std::vector<Place> places(const CaseId& id) const;

  Sections sections_;
  Sections project_;
  std::optional<Confidence> gate_on_;
};

}  // namespace warpgauge::metrics
