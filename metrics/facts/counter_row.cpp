// Makes the rows of hardware counters, and keeps them.
#include "metrics/facts/counter_row.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <regex>
#include <string>

#include "metrics/facts/catalog_file.h"

namespace warpgauge::metrics {
namespace {

bool has_form(std::string_view name, const CounterForm& form) {
  static const std::regex kPattern{std::string(form.pattern)};
  // The expression recurses, so that the length has a limit. CUPTI's longest name has 129.
  return name.size() <= form.longest && std::regex_match(name.begin(), name.end(), kPattern);
}

}  // namespace

const Metric* find_counter(std::string_view id) {
  if (!id.starts_with(kCounterPrefix)) return nullptr;
  const CounterForm& form = built_in_catalog().counter;
  if (!has_form(id.substr(kCounterPrefix.size()), form)) return nullptr;
  static std::mutex mutex;
  static std::map<std::string, Metric, std::less<>> rows;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = rows.try_emplace(std::string(id), form.row);
  Metric& row = place->second;
  if (is_new) {
    row.id = place->first;
    const std::string_view name = row.id.substr(kCounterPrefix.size());
    row.unit = std::ranges::find_if(form.units, [&](const auto& unit) {
                 return name.ends_with(unit.first);
               })->second;
    row.formula = Formula(name);
    row.cupti_names = row.nsight_names = {name};
  }
  return &row;
}

bool is_counter(const Metric& metric) { return metric.id.starts_with(kCounterPrefix); }

}  // namespace warpgauge::metrics
