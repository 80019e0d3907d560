// Finds metrics in the table, and says what their columns mean.
#include "metrics/facts/catalog.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "metrics/base/nearest.h"
#include "metrics/facts/catalog_file.h"
#include "metrics/facts/catalog_words.h"
#include "metrics/facts/counter_row.h"

namespace warpgauge::metrics {
namespace {

template <typename Value, std::size_t count>
std::string_view word_of(const Word<Value> (&words)[count], Value value) {
  return std::ranges::find(words, value, &Word<Value>::second)->first;
}

}  // namespace

std::span<const Metric> catalog() { return built_in_catalog().metrics; }

const Metric* find_metric(std::string_view id) {
  static const auto kPlaces = [] {
    std::unordered_map<std::string_view, const Metric*> places;
    for (const Metric& row : catalog()) places.emplace(row.id, &row);
    return places;
  }();
  const auto found = kPlaces.find(id);
  return found == kPlaces.end() ? find_counter(id) : found->second;
}

const Metric& metric(std::string_view id) {
  if (const Metric* found = find_metric(id)) return *found;
  std::vector<std::string> ids;
  for (const Metric& row : catalog()) ids.emplace_back(row.id);
  throw std::out_of_range("unknown metric '" + std::string(id) + "'" + did_you_mean(id, ids));
}

std::vector<std::string_view> cupti_names(Source source) {
  std::vector<std::string_view> names;
  for (const Metric& row : catalog()) {
    if (row.source != source) continue;
    for (std::string_view name : row.cupti_names) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

bool is_run_time(const Metric& metric) {
  return metric.source != Source::cubin && metric.source != Source::occupancy;
}

bool is_word(const Metric& metric) { return metric.unit == "resource"; }

std::string_view to_string(Direction direction) {
  return direction == Direction::none ? "-" : word_of(kDirections, direction);
}

std::string_view to_string(Class cls) { return word_of(kClasses, cls); }

std::string_view to_string(Source source) { return word_of(kSources, source); }

std::string_view to_string(Cost cost) { return word_of(kCosts, cost); }

}  // namespace warpgauge::metrics
