// A limit: what one line of a budget allows.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "metrics/value.h"

namespace warpgauge::metrics {

enum class Confidence;

/// The origin of limits that hold for every kernel unless its budget file says otherwise.
inline constexpr std::string_view kBuiltInOrigin = "built-in";

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
  std::string of;  ///< id of the case, or "ideal", that the numbers are multiples of; may be empty
  std::string origin;    ///< file:line of the budget line; kBuiltInOrigin for those
  Confidence gate_on{};  ///< exact: the least sure values that are judged

  /// "<= 20", ">= 0.5", "= 32", ">= 1 and <= 2", with " ± 5%" and " until 2027-01-31".
  std::string str() const;
  /// The same with the reason, and whether it is built in: "= 0 (built-in default: ...)".
  std::string text() const;
};

/// "2027-01-31", as dates are shown.
std::string to_text(std::chrono::year_month_day date);

}  // namespace warpgauge::metrics
