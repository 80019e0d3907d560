// Accumulators of matrix products in the registers of a warp, and how sums are rounded. For the
// files of this folder only.
#pragma once

#include "harness/emulator/machine/core/operand_slot.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/isa/halves.h"
#include "harness/emulator/machine/isa/lanes.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

constexpr int kColumns = 8;
constexpr int kMostRows = 16;

template <typename T>
const T* vector(const Warp& warp, OperandSlot slot) {
  return reinterpret_cast<const T*>(warp.bases[slot.base] + slot.offset);
}

/// Row of accumulator `n` of a lane (of two columns each for a pair of them), and its column.
WARPGAUGE_INLINE int accumulator_row(int lane, int n) { return lane / 4 + 8 * (n / 2); }
WARPGAUGE_INLINE int accumulator_column(int lane, int n) { return lane % 4 * 2 + n % 2; }

/// Calls visit(register, lane, part of it, row, column) for each accumulator; two halves share a
/// register.
template <typename T, typename Visit>
WARPGAUGE_INLINE void each_accumulator(int rows, Visit visit) {
  constexpr int kPerRegister = kSame<T, Half> ? 2 : 1;
  for (int n = 0; n < rows / 4; ++n) {
    for (int lane = 0; lane < kLanes; ++lane) {
      visit(n / kPerRegister, lane * kPerRegister + n % kPerRegister, lane,
            accumulator_row(lane, n), accumulator_column(lane, n));
    }
  }
}

template <typename T>
WARPGAUGE_INLINE auto accumulated(T value) {
  if constexpr (kSame<T, s32>) {
    return s64{value};
  } else {
    return static_cast<double>(widen(value));
  }
}
template <typename T>
WARPGAUGE_INLINE T rounded(double sum) {
  if constexpr (kSame<T, Half>) {
    return round_to_half(to_odd(sum));
  } else {
    return canonical(static_cast<T>(sum));
  }
}
}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
