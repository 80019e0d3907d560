// Reads one line of a budget file: the limit of one metric.
#pragma once

#include <toml++/toml.h>

#include <string_view>
#include <utility>
#include <vector>

#include "metrics/budgets/budget.h"
#include "metrics/budgets/budget_text.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::metrics {

using Entry = std::pair<const toml::key*, const toml::node*>;

/// The entries of `table` in the order of the file, so that the first error in the file is reported
/// first. (toml++ sorts entries by name.)
std::vector<Entry> in_file_order(const toml::table& table);

/// Throws BudgetError that points at `at`.
[[noreturn]] void fail_at(const BudgetText& text, const toml::source_region& at,
                          std::string_view problem, std::string_view remedy);

/// The limit that `entry` sets for `metric`; throws BudgetError.
Limit read_limit(const BudgetText& text, const Metric& metric, const Entry& entry);

}  // namespace warpgauge::metrics
