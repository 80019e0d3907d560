// Values of a kernel by metric, in one piece of memory: libraries have very many kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace warpgauge::programs {

/// Works as a std::map by the ids of the catalog, which outlive it.
template <typename T>
class MetricMap {
 public:
  using Entry = std::pair<std::string_view, T>;

  MetricMap() = default;
  MetricMap(std::initializer_list<Entry> entries) {
    for (const auto& [metric, value] : entries) try_emplace(metric, value);
  }

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  auto find(std::string_view metric) const {
    const auto place = std::ranges::lower_bound(entries_, metric, {}, &Entry::first);
    return place != end() && place->first == metric ? place : end();
  }
  bool contains(std::string_view metric) const { return find(metric) != end(); }
  const T& at(std::string_view metric) const {
    const auto place = find(metric);
    if (place == end()) throw std::out_of_range("no value of this metric");
    return place->second;
  }

  auto try_emplace(std::string_view metric, T value) {
    const auto place = std::ranges::lower_bound(entries_, metric, {}, &Entry::first);
    if (place != entries_.end() && place->first == metric) return std::pair(place, false);
    return std::pair(entries_.insert(place, Entry(metric, std::move(value))), true);
  }
  T& operator[](std::string_view metric) { return try_emplace(metric, T()).first->second; }
  std::size_t erase(std::string_view metric) {
    return std::erase_if(entries_, [metric](const Entry& entry) { return entry.first == metric; });
  }

 private:
  std::vector<Entry> entries_;  ///< in the order of the metrics
};

}  // namespace warpgauge::programs
