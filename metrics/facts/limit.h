// A limit: what one line of a budget allows.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "metrics/base/value.h"

namespace warpgauge::metrics {

enum class Confidence;

/// The value of `of` for a ratio to the metric's own ideal instead of another case.
inline constexpr std::string_view kIdeal = "ideal";

/// The origin of limits that hold for every kernel unless its budget file says otherwise.
inline constexpr std::string_view kBuiltInOrigin = "built-in";

/// One budget line. Either `equal` or at least one of max and min is set.
///
/// A limit with `until` is a waiver: a temporary, looser limit that needs a reason. Up to and
/// including that date a value within it is `waived`, however good it is (the line does not say
/// what would be right without it), and a value beyond it fails. After that date every value
/// fails until the line is taken out or replaced by a lasting budget.
///
/// A limit with `of` is a ratio: its numbers are multiples of another value, `reference`, which the
/// judge fills in.
struct Limit {
  std::optional<double> max, min;
  Value equal;           ///< monostate: not set
  double tolerance = 0;  ///< 0..1, fraction of the limit by which a value may go beyond it
  std::optional<std::chrono::year_month_day> until;
  std::string code;  ///< the code_hash of the fact that the limit was measured by; may be empty
  std::string reason;
  /// The case that a ratio refers to: variant.type of the same family and size, or kIdeal. Empty:
  /// no ratio.
  std::string of;
  std::optional<double> reference;    ///< the value of `of`, once a ratio was judged
  Confidence reference_confidence{};  ///< how sure that is
  std::string origin;                 ///< file:line of the budget line; kBuiltInOrigin for those
  Confidence gate_on{};               ///< exact: the least sure values that are judged

  /// This limit with the numbers of a ratio multiplied by its reference. Other limits, and ratios
  /// without a reference, are returned as they are.
  Limit absolute() const;
  /// "<= 20", "<= 1.1 x 1024 of naive.f32", ">= 0.5", "= 32", ">= 1 and <= 2", with " ± 5%" and "
  /// until 2027-01-31".
  std::string str() const;
  /// str() with the reason, and whether the limit is built in: "= 0 (built-in default: ...)".
  std::string text() const;
};

/// "2027-01-31", as dates are shown.
std::string to_text(std::chrono::year_month_day date);

}  // namespace warpgauge::metrics
