// The judge: holds a fact against its budget. There is no other.
#pragma once

#include <chrono>

#include "metrics/budget.h"
#include "metrics/fact.h"

namespace warpgauge::metrics {

/// Sets limit, verdict, would, cause and reason of `fact`. Facts of lines and facts whose
/// verdict is already `error` are left alone; a value of nothing becomes `unmeasured` (keeping the
/// reason it carries), with or without a budget. `today` decides whether waivers have expired.
///
/// A count that is less sure than `budgets.gate_on()` is `unmeasured` and keeps its value, however
/// it stands to its limit; `would` is the verdict that it would have. (Noisy metrics are judged:
/// the tolerance of their limits is for what is not sure in them.)
///
/// A value with a confidence interval is beyond or better only if the whole interval is; if only
/// part of it is beyond, the value is `unmeasured` and would fail. Beyond a limit that has the hash
/// of the code it was measured with, a value of the same machine code and launches is `moved`: the
/// case has not changed, so the machine has.
///
/// A value that cannot be (NaN, infinite, negative, a word for a number) is an `error`. `better`
/// is a value on the good side of a limit other than 0, beyond its tolerance: below `max` or
/// `equal` where lower is better, above `min` or `equal` where higher is. Between a `max` and a
/// `min` everything passes. Where no direction is better, everything but `equal` fails.
/// Throws std::out_of_range for a metric that is not in the catalog.
void judge(Fact& fact, const Budgets& budgets, std::chrono::year_month_day today);

}  // namespace warpgauge::metrics
