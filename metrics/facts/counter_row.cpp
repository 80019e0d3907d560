// Makes the rows of hardware counters, and keeps them.
#include "metrics/facts/counter_row.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <regex>
#include <string>

namespace warpgauge::metrics {
namespace {

constexpr std::size_t kLongest = 256;  // CUPTI's longest has 129; the expression recurses

bool has_shape(std::string_view name) {
  static const std::regex kShape{std::string(kCounterPattern)};
  return name.size() <= kLongest && std::regex_match(name.begin(), name.end(), kShape);
}

std::string_view unit_of(std::string_view name) {
  return std::ranges::find_if(kCounterUnits,
                              [&](const auto& row) { return name.ends_with(row.first); })
      ->second;
}

}  // namespace

const Metric* find_counter(std::string_view id) {
  if (!id.starts_with(kCounterPrefix) || !has_shape(id.substr(kCounterPrefix.size()))) {
    return nullptr;
  }
  static std::mutex mutex;
  static std::map<std::string, Metric, std::less<>> rows;
  const std::lock_guard lock(mutex);
  const auto [row, is_new] = rows.try_emplace(std::string(id));
  if (is_new) {
    const std::string_view kept = row->first, name = kept.substr(kCounterPrefix.size());
    row->second = {.id = kept,
                   .unit = unit_of(name),
                   .direction = Direction::none,
                   .cls = Class::bounded,
                   .source = Source::range,
                   .cupti_names = {name},
                   .meaning =
                       "A counter of the hardware by its name: `warpgauge metrics --chip "
                       "CHIP --search NAME` describes it.",
                   .good = "What the work of the kernel explains.",
                   .cure = "Compare the exact counts and the source lines of the two runs.",
                   .nsight_names = {name}};
  }
  return &row->second;
}

bool is_counter(const Metric& metric) { return metric.id.starts_with(kCounterPrefix); }

}  // namespace warpgauge::metrics
