// 8x8 matrices of 16-bit elements between their rows in memory and the registers of a warp. For the
// files of this folder only.
#pragma once

#include "harness/emulator/machine/isa/lanes.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// Where the rows of up to four matrices lie.
struct Rows {
  std::byte* at[kLanes];
};

/// Where lane `lane` has its two elements of a matrix: in row lane/4, next to each other, or, of a
/// transposed one, in column lane/4, one below the other.
struct Elements {
  u16* low;
  u16* high;
};
WARPGAUGE_INLINE Elements elements(const Rows& rows, int matrix, bool transposed, int lane) {
  const int pair = lane % 4 * 2;
  const int other = lane / 4;
  const auto element = [&](int row, int column) {
    return reinterpret_cast<u16*>(rows.at[8 * matrix + row]) + column;
  };
  if (transposed) return {element(pair, other), element(pair + 1, other)};
  return {element(other, pair), element(other, pair + 1)};
}

WARPGAUGE_INLINE void load_matrix(const Rows& rows, int matrix, bool transposed, u32* to) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const Elements from = elements(rows, matrix, transposed, lane);
    to[lane] = *from.low | static_cast<u32>(*from.high) << 16;
  }
}

WARPGAUGE_INLINE void store_matrix(const Rows& rows, int matrix, bool transposed, const u32* from) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const Elements to = elements(rows, matrix, transposed, lane);
    *to.low = static_cast<u16>(from[lane]);
    *to.high = static_cast<u16>(from[lane] >> 16);
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
