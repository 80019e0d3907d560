// Makes the rows of hardware counters, and keeps them.
#include "metrics/facts/counter_row.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <regex>
#include <string>
#include <utility>

#include "metrics/facts/catalog_file.h"

namespace warpgauge::metrics {
namespace {

const CounterForm& form() { return built_in_catalog().counter; }

bool has_form(std::string_view name) {
  static const std::regex kPattern{std::string(form().pattern)};
  // The expression recurses, so that the length has a limit. CUPTI's longest name has 129.
  return name.size() <= form().longest && std::regex_match(name.begin(), name.end(), kPattern);
}

/// The row of a counter; `id` must outlive it.
Metric row_of(std::string_view id) {
  const std::string_view name = id.substr(kCounterPrefix.size());
  Metric row = form().row;
  row.id = id;
  // There is one: the last unit is that of all names.
  row.unit = std::ranges::find_if(form().units, [&](const auto& unit) {
               return name.ends_with(unit.first);
             })->second;
  row.formula = Formula(name);
  row.cupti_names = row.nsight_names = {name};
  return row;
}

}  // namespace

const Metric* find_counter(std::string_view id) {
  if (!id.starts_with(kCounterPrefix)) return nullptr;
  if (!has_form(id.substr(kCounterPrefix.size()))) return nullptr;
  static std::mutex mutex;
  static std::map<std::string_view, Metric> rows;  // by their own ids
  static std::deque<std::string> ids;
  const std::lock_guard lock(mutex);
  if (const auto found = rows.find(id); found != rows.end()) return &found->second;
  Metric row = row_of(ids.emplace_back(id));
  return &rows.emplace(row.id, std::move(row)).first->second;
}

bool is_counter(const Metric& metric) { return metric.id.starts_with(kCounterPrefix); }

}  // namespace warpgauge::metrics
