// The judge: holds a fact against its budget. Nothing else decides verdicts.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "metrics/budgets/budget.h"
#include "metrics/facts/fact.h"

namespace warpgauge::metrics {

/// The facts in which the judge finds the reference of a ratio.
class References {
 public:
  References() = default;
  /// `together` are the facts that were measured with the judged one. `before` returns the facts of
  /// the run so far; it is called only where a budget is a multiple of another case.
  explicit References(std::span<const Fact> together,
                      std::function<std::span<const Fact>()> before = nullptr)
      : together_(together), before_(std::move(before)) {}

  /// The value of the whole case, or nullptr.
  const Fact* find(const CaseId& id, std::string_view arch, std::string_view metric) const;

 private:
  std::span<const Fact> together_;
  std::function<std::span<const Fact>()> before_;
};

/// The confidence of the comparison of `fact` with its limit: the lesser of that of the value and
/// that of the reference of a ratio. nullopt where the fact has no confidence.
std::optional<Confidence> judged_confidence(const Fact& fact);

/// The day by which waivers end, in UTC.
std::chrono::sys_days today();

/// Sets limit, verdict, would, cause and reason of `fact`. Facts of lines and facts whose verdict
/// is already `error` are left alone, but for findings of checks: those that a waiver names are
/// `waived`; a fact without a value becomes `unmeasured` (keeping the
/// reason it carries), with or without a budget. `today` decides whether waivers have expired.
///
/// A count that is less sure than `budgets.gate_on()` is `unmeasured` and keeps its value, whatever
/// its limit; `would` is the verdict that it would have. (Noisy metrics are judged: the tolerance
/// of their limits allows for noise.)
///
/// A value with a confidence interval is beyond or better only if the whole interval is; if only
/// part of it is beyond, the value is `unmeasured` and would fail. Beyond a limit that has the hash
/// of the code it was measured with, a value of the same machine code and launches is `moved`: the
/// case has not changed, so the machine has.
///
/// A value that cannot be (NaN, infinite, negative, a word for a number) is an `error`. `better` is
/// a value on the good side of a limit other than 0, beyond its tolerance: below `max` or `equal`
/// where lower is better, above `min` or `equal` where higher is. Between a `max` and a `min`
/// everything passes. Where no direction is better, every value other than `equal` fails.
///
/// The numbers of a ratio are multiples of its reference, which `references` has. A reference that
/// was not measured, or is no number, makes the fact `unmeasured`; an estimated one makes the
/// comparison an estimate. No value is `better` than a `max` or `min` that is a ratio, because a
/// ratio is a rule and not a count. A multiple of 0 is 0. Throws std::out_of_range for a metric
/// that is not in the catalog.
void judge(Fact& fact, const Budgets& budgets, std::chrono::year_month_day today,
           const References& references = {});

}  // namespace warpgauge::metrics
