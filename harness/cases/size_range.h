// The sizes that a problem may have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "warpgauge/problem.h"

namespace warpgauge {

/// All sizes from `lowest` to `highest`, extent by extent, in multiples of `multiples_of`. The
/// three have as many extents.
struct SizeRange {
  Size lowest, highest, multiples_of;

  bool has(const Size& size) const;
  /// The multiples of an extent in the range, in ascending order: how many there are, and one of
  /// them.
  std::int64_t count(std::size_t extent) const;
  std::int64_t at(std::size_t extent, std::int64_t number) const;
  /// The number of the largest of them that is at most `value`; 0 where all are larger.
  std::int64_t number_of(std::size_t extent, std::int64_t value) const;
  std::string str() const;  ///< "from 1x8 to 4096x512 in multiples of 1x8"
};

/// Why there is no such range; empty if there is.
std::string why_no_range(const SizeRange& range);

}  // namespace warpgauge
