// The functions of the multifunction unit whose results lie near numbers that the host has.
#pragma once

#include <cstddef>

#include "harness/emulator/machine/isa/approximation_tables.h"

namespace warpgauge::emulator::machine::isa {

/// The lower bits of its sums, without the `dropped` lowest, are those of its results: of the
/// numbers that have them, the nearest to the host's. A segment has 2^bits places.
template <std::size_t kSegments>
struct NearFunction {
  FixedColumns<kSegments> columns;
  int bits = 0, dropped = 0;
};
template <std::size_t kRows>
consteval auto near_function(const Quadratic (&rows)[kRows], int bits, int dropped) {
  const auto columns = fixed_columns(rows);
  return NearFunction{columns, bits, dropped - columns.shift};
}

// Each file has its own (not inline): those made for newer CPUs share nothing with others.

/// In [1, 2) the sums are in (1/2, 1].
constexpr auto kNearReciprocal = near_function(kRcpTable, 16, 18);
/// In [1, 4): the first half of the table is of even exponents.
constexpr auto kNearInverseRoot = near_function(kRsqrtTable, 17, 18);
constexpr auto kNearRoot = near_function(kSqrtTable, 17, 19);
/// The exponential function of numbers with 23 bits of fraction.
constexpr auto kNearExponential = near_function(kEx2Table, 17, 19);

}  // namespace warpgauge::emulator::machine::isa
