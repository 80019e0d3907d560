// Reads one line of a budget file: the limit of one metric. And what other lines have in common.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "metrics/base/in_file_order.h"
#include "metrics/base/toml.h"
#include "metrics/budgets/budget.h"
#include "metrics/budgets/budget_text.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::metrics {

/// Throws BudgetError that points at `at`.
[[noreturn]] void fail_at(const BudgetText& text, const toml::source_region& at,
                          std::string_view problem, std::string_view remedy);

/// The text of `part`, which is not empty; throws BudgetError with the remedy.
std::string text_of(const BudgetText& text, const Entry& part, std::string_view remedy);
/// The date of `until`; throws BudgetError.
std::chrono::year_month_day date_of(const BudgetText& text, const toml::node& node);

/// The limit that `entry` sets for `metric`; throws BudgetError.
Limit read_limit(const BudgetText& text, const Metric& metric, const Entry& entry);

}  // namespace warpgauge::metrics
