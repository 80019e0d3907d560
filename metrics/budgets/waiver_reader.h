// Reads the waivers of a section of a budget file.
#pragma once

#include <vector>

#include "metrics/base/in_file_order.h"
#include "metrics/budgets/budget_text.h"
#include "metrics/budgets/waiver.h"

namespace warpgauge::metrics {

/// Reads `waive = [{ rule = "race", lines = ["bfs.cu:31"], reason = "why" }]`; throws BudgetError.
std::vector<Waiver> read_waivers(const BudgetText& text, const Entry& entry);

}  // namespace warpgauge::metrics
