// Tries smaller extents one after the other, as long as one of them fails.
#include "harness/fuzz/shrink.h"

#include <utility>

namespace warpgauge::fuzz {
namespace {

Size with_extent(const Size& size, std::size_t extent, std::int64_t value) {
  std::vector<std::int64_t> extents = size.extents();
  extents[extent] = value;
  return Size(std::move(extents));
}

}  // namespace

Trial smallest(const Case& tried, Trial failing, const std::function<bool(const Trial&)>& fails) {
  const auto take = [&](Trial smaller) {
    if (!fails(smaller)) return false;
    failing = std::move(smaller);
    return true;
  };
  /// Makes an extent smaller, once.
  const auto shrink = [&](std::size_t extent) {
    const SizeRange& range = *tried.other_sizes;
    const std::int64_t number = range.number_of(extent, failing.size[extent]);
    for (std::int64_t less = number; less > 0; less /= 2) {
      const std::int64_t value = range.at(extent, number - less);
      if (take({with_extent(failing.size, extent, value), failing.seed})) return true;
    }
    return false;
  };
  for (bool is_new = tried.other_sizes.has_value(); is_new;) {
    is_new = false;
    for (std::size_t extent = 0; extent < failing.size.extents().size(); ++extent) {
      while (shrink(extent)) is_new = true;
    }
  }
  for (std::uint32_t seed = 0; seed < failing.seed; ++seed) {
    if (take({failing.size, seed})) break;
  }
  return failing;
}

}  // namespace warpgauge::fuzz
