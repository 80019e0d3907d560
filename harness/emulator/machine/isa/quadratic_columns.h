// The quadratics of the multifunction unit as columns, for vectors of segments.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace warpgauge::emulator::machine::isa {

/// Coefficients of a segment, in units of kUnit.
struct Quadratic {
  std::int64_t c0;
  std::int32_t c1, c2;
};
inline constexpr float kUnit = 0x1p-42f;

/// The coefficients of all segments as integers, for sums of 32 bits: in the greatest units of
/// 2^shift kUnit in which all are whole, the lower 32 bits of c0, and the sizes of c1 and c2 in one
/// word; in all segments they have one sign. kSegments is a power of two.
template <std::size_t kSegments>
struct FixedColumns {
  using Sum = std::uint32_t;
  int shift = 0;
  bool c1_is_negative = false, c2_is_negative = false;
  alignas(64) std::uint32_t c0[kSegments] = {}, c1_and_c2[kSegments] = {};
};
inline constexpr int kBitsOfC2 = 13;
template <std::size_t kRows>
consteval FixedColumns<std::bit_ceil(kRows)> fixed_columns(const Quadratic (&rows)[kRows]) {
  std::uint64_t all = 0;
  for (const Quadratic& row : rows) all |= static_cast<std::uint64_t>(row.c0 | row.c1 | row.c2);
  FixedColumns<std::bit_ceil(kRows)> out;
  out.shift = std::countr_zero(all);
  out.c1_is_negative = rows[0].c1 < 0;
  out.c2_is_negative = rows[0].c2 < 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::int32_t c1 = (out.c1_is_negative ? -rows[i].c1 : rows[i].c1) >> out.shift;
    const std::int32_t c2 = (out.c2_is_negative ? -rows[i].c2 : rows[i].c2) >> out.shift;
    if (c1 >> (32 - kBitsOfC2) != 0 || c2 >> (kBitsOfC2 - 1) != 0) throw "not in these bits";
    out.c0[i] = static_cast<std::uint32_t>(rows[i].c0 >> out.shift);
    out.c1_and_c2[i] = static_cast<std::uint32_t>(c1) << kBitsOfC2 | static_cast<std::uint32_t>(c2);
  }
  return out;
}

/// The coefficients of all segments as floats, which are exact: c0 is the sum of two. kSegments is
/// a power of two.
template <std::size_t kSegments>
struct Columns {
  using Sum = double;
  alignas(64) float high[kSegments] = {}, low[kSegments] = {}, c1[kSegments] = {},
                    c2[kSegments] = {};
};
template <std::size_t kRows>
consteval Columns<std::bit_ceil(kRows)> columns(const Quadratic (&rows)[kRows]) {
  Columns<std::bit_ceil(kRows)> out;
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::int64_t low = rows[i].c0 & 0xfffff;
    out.high[i] = static_cast<float>(rows[i].c0 - low) * kUnit;
    out.low[i] = static_cast<float>(low) * kUnit;
    out.c1[i] = static_cast<float>(rows[i].c1) * kUnit;
    out.c2[i] = static_cast<float>(rows[i].c2) * kUnit;
  }
  return out;
}

}  // namespace warpgauge::emulator::machine::isa
