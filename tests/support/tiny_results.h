// Results next to the smallest normal number, of instructions with .ftz, as an H100 gives them:
// less than that is flushed, rounded as if exponents had no limit.
#pragma once

#include <string_view>

namespace warpgauge::support {

struct TinyResult {
  std::string_view form;
  double a, b, c, result;  ///< in the form's types; b, c: 0 where it has none
};

inline constexpr double kLeastFloat = 0x1p-126, kLeastHalf = 0x1p-14;

inline constexpr TinyResult kTinyResults[] = {
    // Half a unit less, which is the number below if exponents had no limit.
    {"mul.rn.ftz.f32", 1 - 0x1p-24, kLeastFloat, 0, 0},
    {"mul.rz.ftz.f32", 1 - 0x1p-24, kLeastFloat, 0, 0},
    {"mul.rm.ftz.f32", -(1 - 0x1p-24), kLeastFloat, 0, -0.0},
    {"mul.rp.ftz.f32", 1 - 0x1p-24, kLeastFloat, 0, 0},
    {"fma.rn.ftz.f32", 1 - 0x1p-24, kLeastFloat, 0, 0},
    {"fma.rp.ftz.f32", 257 * 0x1p-72, -65281 * 0x1p-78, 2 * kLeastFloat, 0},
    {"fma.rn.ftz.f32", 257 * 0x1p-72, -65281 * 0x1p-78, 2 * kLeastFloat, 0},
    {"cvt.rn.ftz.f32.f64", kLeastFloat - 0x1p-150, 0, 0, 0},
    {"cvt.rp.ftz.f32.f64", kLeastFloat - 0x1p-150, 0, 0, 0},
    {"cvt.rm.ftz.f32.f64", -(kLeastFloat - 0x1p-150), 0, 0, -0.0},
    {"mul.rn.ftz.f16", 1 - 0x1p-11, kLeastHalf, 0, 0},
    {"fma.rn.ftz.f16", -3 * 0x1p-8, 683 * 0x1p-17, 2 * kLeastHalf, 0},
    // A quarter less, between that and the smallest normal number, which is even.
    {"mul.rn.ftz.f32", 18631 * 0x1p-77, 1801 * 0x1p-74, 0, kLeastFloat},
    {"cvt.rn.ftz.f32.f64", kLeastFloat - 0x1p-151, 0, 0, kLeastFloat},
    // A little more and a little less than a quarter.
    {"mul.rn.ftz.f32", (1 + 6 * 0x1p-15) * 0x1p-63, (1 - 6 * 0x1p-15) * 0x1p-63, 0, 0},
    {"mul.rn.ftz.f32", (1 + 5 * 0x1p-15) * 0x1p-63, (1 - 5 * 0x1p-15) * 0x1p-63, 0, kLeastFloat},
    {"cvt.rn.ftz.f32.f64", kLeastFloat - 0x1p-151 - 0x1p-177, 0, 0, 0},
    // Very little less.
    {"mul.rz.ftz.f32", (1 + 0x1p-23) * 0x1p-63, (1 - 0x1p-23) * 0x1p-63, 0, 0},
    {"mul.rp.ftz.f32", (1 + 0x1p-23) * 0x1p-63, (1 - 0x1p-23) * 0x1p-63, 0, kLeastFloat},
    {"fma.rn.ftz.f32", -0x1p-80, 0x1p-80, kLeastFloat, kLeastFloat},
    {"fma.rm.ftz.f32", -0x1p-80, 0x1p-80, kLeastFloat, 0},
    {"fma.rp.ftz.f32", -0x1p-80, 0x1p-80, kLeastFloat, kLeastFloat},
    {"cvt.rp.ftz.f32.f64", kLeastFloat - 0x1p-170, 0, 0, kLeastFloat},
    {"mul.rn.ftz.f16", (1 + 0x1p-10) * 0x1p-7, (1 - 0x1p-10) * 0x1p-7, 0, kLeastHalf},
};

}  // namespace warpgauge::support
