// Says which sizes are in a range.
#include "harness/cases/size_range.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpgauge {
namespace {

/// The first multiple of the extent that is not below the range.
std::int64_t first(const SizeRange& range, std::size_t extent) {
  const std::int64_t step = range.multiples_of[extent];
  return (range.lowest[extent] + step - 1) / step * step;
}

}  // namespace

bool SizeRange::has(const Size& size) const {
  if (size.extents().size() != lowest.extents().size()) return false;
  for (std::size_t i = 0; i < size.extents().size(); ++i) {
    if (size[i] < lowest[i] || size[i] > highest[i] || size[i] % multiples_of[i] != 0) return false;
  }
  return true;
}

std::int64_t SizeRange::count(std::size_t extent) const {
  const std::int64_t begin = first(*this, extent);
  return begin > highest[extent] ? 0 : (highest[extent] - begin) / multiples_of[extent] + 1;
}

std::int64_t SizeRange::at(std::size_t extent, std::int64_t number) const {
  return first(*this, extent) + number * multiples_of[extent];
}

std::int64_t SizeRange::number_of(std::size_t extent, std::int64_t value) const {
  const std::int64_t number = (value - first(*this, extent)) / multiples_of[extent];
  return std::clamp<std::int64_t>(number, 0, count(extent) - 1);
}

std::string SizeRange::str() const {
  std::string text = fmt::format("from {} to {}", lowest.str(), highest.str());
  const auto is_one = [](std::int64_t extent) { return extent == 1; };
  if (std::ranges::all_of(multiples_of.extents(), is_one)) return text;
  return text + " in multiples of " + multiples_of.str();
}

std::string why_no_range(const SizeRange& range) {
  const std::size_t extents = range.lowest.extents().size();
  if (extents == 0) return "has no extents";
  for (const Size* size : {&range.highest, &range.multiples_of}) {
    if (size->extents().size() != extents) {
      return fmt::format("has sizes of {} and {} extents", extents, size->extents().size());
    }
  }
  for (std::size_t i = 0; i < extents; ++i) {
    if (range.lowest[i] < 0) return fmt::format("begins with {}", range.lowest[i]);
    if (range.multiples_of[i] < 1) return fmt::format("has multiples of {}", range.multiples_of[i]);
    if (range.count(i) == 0) {
      return fmt::format("has no multiple of {} from {} to {}", range.multiples_of[i],
                         range.lowest[i], range.highest[i]);
    }
  }
  return "";
}

}  // namespace warpgauge
