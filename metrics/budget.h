// Budgets: what a kernel may cost. One TOML file beside each family, read whole or not at all.
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
#include <vector>

#include "metrics/catalog.h"
#include "metrics/confidence.h"
#include "metrics/fact.h"

namespace warpgauge::metrics {

/// One budget line. Either `equal` or at least one of max and min is set.
///
/// A limit with `until` is a waiver: a temporary, looser limit that needs a reason. Up to and
/// including that date a value within it is `waived`, however good it is (the line does not say
/// what would be right without it), and a value beyond it fails. After that date every value
/// fails until the line is taken out or replaced by a lasting budget.
struct Limit {
  std::optional<double> max, min;
  Value equal;           ///< monostate: not set
  double tolerance = 0;  ///< 0..1, fraction of the limit by which a value may go beyond it
  std::optional<std::chrono::year_month_day> until;
  std::string code;  ///< the code_hash of the fact that the limit was measured by; may be empty
  std::string reason;
  std::string where;  ///< file:line of the budget line; "built-in default" for those

  /// "<= 20", ">= 0.5", "= 32", ">= 1 and <= 2", with " ± 5%" and " until 2027-01-31".
  std::string str() const;
};

/// "2027-01-31", as dates are shown.
std::string to_text(std::chrono::year_month_day date);

/// The limit of `metric` that holds for every kernel unless its budget file says otherwise, or
/// nullptr: a right result, and no bank conflicts, spills or local traffic.
const Limit* built_in_limit(std::string_view metric);

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
  Budgets();

  /// Reads `path`, a file of the sections [default], ["variant"], ["variant.type"] and
  /// ["variant.type@size"], each with tables of its own per architecture ([default.sm_90]), and
  /// before them perhaps `gate_on = "estimate"`.
  /// `cases` are the cases of the family; a section that fits none of them, an unknown metric or
  /// key, or a limit that makes no sense throws BudgetError with the nearest name. Only the
  /// first error of a file is reported.
  static Budgets load(const std::filesystem::path& path, std::span<const CaseId> cases);
  /// The same for a text; `path` names it in errors.
  static Budgets parse(std::string_view text, std::string_view path, std::span<const CaseId> cases);
  /// Reads the budget file of a family whose cases nobody registered here: its sections say which
  /// there are.
  static Budgets load_unregistered(const std::filesystem::path& path);

  /// Those of a file read by load_unregistered() whose sections are globs that stand for names of
  /// kernels: the budgets of one case, `id`, whose kernel has these `names`. What the longest glob
  /// that fits says of a metric goes before what the others say.
  Budgets of_kernel(const CaseId& id, std::span<const std::string> names) const;

  /// The names of the sections of the file, "variant.type@size" and the like, without [default].
  std::set<std::string> section_names() const;
  /// The limit for `metric` of `id` on `arch` ("sm_90", may be empty), or nullptr. The most
  /// special wins: variant.type@size, variant.type, variant, default, built-in; and within each
  /// the architecture's own table before the general one.
  const Limit* find(const CaseId& id, std::string_view arch, std::string_view metric) const;

  /// The least sure values that are held against these budgets and the built-in ones.
  Confidence gate_on() const { return gate_on_; }

  using Section = std::map<std::string, Limit, std::less<>>;     // metric -> limit
  using Sections = std::map<std::string, Section, std::less<>>;  // "name" or "name/sm_90"

 private:
  /// `cases` nullptr: not known.
  static Budgets read(std::string_view text, std::string_view path,
                      const std::span<const CaseId>* cases);

  Sections sections_;
  Confidence gate_on_ = Confidence::exact;
};

}  // namespace warpgauge::metrics
