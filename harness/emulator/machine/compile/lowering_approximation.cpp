// Lowering of the approximate functions whose results lie near numbers of the host: reciprocals,
// quotients, roots and powers of 2. See isa/approximations.h for what they are.
#include <cstdint>

#include "harness/emulator/machine/compile/constants.h"
#include "harness/emulator/machine/compile/lowering.h"
#include "harness/emulator/machine/compile/lowering_interpolation.h"

namespace warpgauge::emulator::machine::compile {
namespace {

using isa::AluKey;
using isa::AluOp;
using Xbyak::Opmask;
using Xbyak::Zmm;

// Comparisons of vcmpps and vpcmpud.
constexpr std::uint8_t kLess = 1, kUnsignedMore = 6, kGreaterOrEqual = 0x0d;

Zmm source(Emitter& e, const Step& step, int n) {
  return e.read(step.instruction->sources[n], 4, Nan::any).part[0];
}
void write_result(Emitter& e, const Step& step, const Zmm& result) {
  Lanes value;
  value.part[0] = result;
  e.write(step.instruction->destination, value, Nan::any);
}

bool is_flushing(const AluKey& key) { return (key.options & isa::alu_option::kFtz) != 0; }

// Masks of lanes hold until the next one: all are in k7.

/// The lanes whose value is less than the least normal number, but for the sign.
Opmask tiny_lanes(Emitter& e, const Zmm& x) {
  const Zmm magnitude = e.fresh();
  e.vpandd(magnitude, x, e.in_each_lane(&Constants::magnitude));
  e.vpcmpud(e.k7, magnitude, e.in_each_lane(&Constants::least_normal), kLess);
  return e.k7;
}
/// The lanes whose value is above 2^126, but for the sign, or a NaN.
Opmask large_lanes(Emitter& e, const Zmm& x) {
  const Zmm magnitude = e.fresh();
  e.vpandd(magnitude, x, e.in_each_lane(&Constants::magnitude));
  e.vpcmpud(e.k7, magnitude, e.in_each_lane(&Constants::two_to_126), kUnsignedMore);
  return e.k7;
}
Opmask lanes_below_minus_126(Emitter& e, const Zmm& x) {
  e.vcmpps(e.k7, x, e.in_each_lane(&Constants::minus_126), kLess);
  return e.k7;
}

/// In these lanes, `value` becomes a zero with the sign of x.
void become_zero(Emitter& e, const Zmm& value, const Zmm& x, const Opmask& lanes) {
  e.vpandd(value | lanes, x, e.in_each_lane(&Constants::sign));
}
/// In these lanes, `value` becomes infinity with the sign of x.
void become_infinity(Emitter& e, const Zmm& value, const Zmm& x, const Opmask& lanes) {
  become_zero(e, value, x, lanes);
  e.vpord(value | lanes, value, e.in_each_lane(&Constants::infinity));
}

Zmm place_of_root(Emitter& e, const Zmm& x) {
  const Zmm place = e.fresh();
  e.vpandd(place, x, e.in_each_lane(&Constants::two_binades));
  e.vpxord(place, place, e.in_each_lane(&Constants::least_normal));
  return place;
}

Zmm inverse_root_of_normal(Emitter& e, const Zmm& x) {
  const Zmm place = place_of_root(e, x);
  const Zmm sum = interpolated(e, place, kInverseRootTable);
  e.vptestnmd(e.k7, place, place);  // of a power of 4 it is less
  e.vpaddd(sum | e.k7, sum, e.in_each_lane(&Constants::less_at_one));
  const Zmm near = e.fresh();
  e.vrsqrt14ps(near, x);
  complete(e, near, sum, kInverseRootTable);
  return near;
}

Zmm root_of_normal(Emitter& e, const Zmm& x) {
  const Zmm sum = interpolated(e, place_of_root(e, x), kRootTable);
  const Zmm near = e.fresh();
  e.vrsqrt14ps(near, x);
  e.vmulps(near, near, x);
  complete(e, near, sum, kRootTable);
  return near;
}

/// A square root, or the inverse of one.
struct Root {
  Zmm (*of_normal)(Emitter& e, const Zmm& x);
  void (*become_result_of_zero)(Emitter& e, const Zmm& value, const Zmm& x, const Opmask& lanes);
  float Constants::*unscale;             ///< by what the result of 2^24 x is multiplied
  std::uint32_t Constants::*of_special;  ///< the results of zeros, infinities and the like
};
constexpr Root kInverseRoot = {inverse_root_of_normal, become_infinity, &Constants::two_to_12,
                               &Constants::inverse_root_of_special};
constexpr Root kRoot = {root_of_normal, become_zero, &Constants::two_to_minus_12,
                        &Constants::root_of_special};

/// The root of normal and of subnormal numbers, which are scaled by 2^24 first.
Zmm root_of_all(Emitter& e, const Zmm& x, const Root& root) {
  const Zmm scaled = e.fresh();
  e.vmovaps(scaled, x);
  e.vmulps(scaled | tiny_lanes(e, x), x, e.in_each_lane(&Constants::two_to_24));
  const Zmm result = root.of_normal(e, scaled);
  e.vmulps(result | tiny_lanes(e, x), result, e.in_each_lane(root.unscale));
  return result;
}

template <const Root& kOf>
void lower_root(Emitter& e, const Step& step) {
  const Zmm x = source(e, step, 0);
  const bool flushes = is_flushing(step.operation->alu);
  const Zmm result = flushes ? kOf.of_normal(e, x) : root_of_all(e, x, kOf);
  e.vfixupimmps(result, x, e.in_each_lane(kOf.of_special), 0);
  if (flushes) kOf.become_result_of_zero(e, result, x, tiny_lanes(e, x));
  write_result(e, step, result);
}

/// Which arguments of the reciprocal are scaled: those that are subnormal, and those whose result
/// would be. Arguments or results that are not scaled count as zeros.
struct Scaling {
  bool tiny, large;
};

Zmm factor_of(Emitter& e, const Zmm& x, const Scaling& scaling) {
  const Zmm factor = e.fresh();
  e.vbroadcastss(factor, e.constant(&Constants::one));
  if (scaling.tiny) {
    e.vbroadcastss(factor | tiny_lanes(e, x), e.constant(&Constants::two_to_24));
  }
  if (scaling.large) {
    e.vbroadcastss(factor | large_lanes(e, x), e.constant(&Constants::quarter));
  }
  return factor;
}

/// 1 / x. `scaling` says what x has been scaled by already.
Zmm inverse(Emitter& e, const Zmm& x, const Scaling& scaling) {
  const Zmm place = e.fresh(), near = e.fresh();
  e.vpandd(place, x, e.in_each_lane(&Constants::significand));
  e.vrcp14ps(near, x);
  complete(e, near, interpolated(e, place, kReciprocalTable), kReciprocalTable);
  if (!scaling.large) become_zero(e, near, x, large_lanes(e, x));
  e.vfixupimmps(near, x, e.in_each_lane(&Constants::inverse_of_special), 0);
  if (!scaling.tiny) become_infinity(e, near, x, tiny_lanes(e, x));
  return near;
}

void lower_reciprocal(Emitter& e, const Step& step) {
  const Zmm x = source(e, step, 0);
  if (is_flushing(step.operation->alu)) {
    return write_result(e, step, inverse(e, x, {.tiny = false, .large = false}));
  }
  constexpr Scaling kBoth = {.tiny = true, .large = true};
  const Zmm factor = factor_of(e, x, kBoth), scaled = e.fresh();
  e.vmulps(scaled, x, factor);
  const Zmm result = inverse(e, scaled, kBoth);
  e.vmulps(result, result, factor);
  write_result(e, step, result);
}

Scaling scaling_of_quotient(const AluKey& key) {
  return {.tiny = !is_flushing(key), .large = (key.options & isa::alu_option::kFull) != 0};
}

/// The dividend by the reciprocal of the divisor, both scaled by the same.
void lower_quotient(Emitter& e, const Step& step) {
  const Scaling scaling = scaling_of_quotient(step.operation->alu);
  Zmm dividend = source(e, step, 0), divisor = source(e, step, 1);
  if (scaling.tiny || scaling.large) {
    const Zmm factor = factor_of(e, divisor, scaling);
    const Zmm scaled_dividend = e.fresh(), scaled_divisor = e.fresh();
    e.vmulps(scaled_dividend, dividend, factor);
    e.vmulps(scaled_divisor, divisor, factor);
    dividend = scaled_dividend;
    divisor = scaled_divisor;
  }
  const Zmm result = inverse(e, divisor, scaling);
  e.vmulps(result, dividend, result);
  write_result(e, step, result);
}

/// x as a number with 23 bits of fraction, as far as 2^x is normal; negative ones are complements.
Zmm place_of_exponential(Emitter& e, const Zmm& x) {
  const Zmm place = e.fresh(), below = e.fresh();
  e.vmaxps(place, x, e.in_each_lane(&Constants::minus_127));
  e.vminps(place, place, e.in_each_lane(&Constants::plus_128));
  e.vmulps(place, place, e.in_each_lane(&Constants::two_to_23));
  e.vcvttps2dq(place, place);
  // Whole numbers are no complements.
  e.vptestmd(e.k7, place, e.in_each_lane(&Constants::significand));
  e.vpsrad(below, place, 31);
  e.vpaddd(place | e.k7, place, below);
  return place;
}

/// 2^x; 0 where that is subnormal.
Zmm power_of_2(Emitter& e, const Zmm& x) {
  const Zmm place = place_of_exponential(e, x);
  const Zmm sum = interpolated(e, place, kExponentialTable);
  const Zmm near = e.fresh(), fraction = e.fresh(), whole = e.fresh();
  e.vpandd(fraction, place, e.in_each_lane(&Constants::significand));
  e.vpsubd(whole, place, fraction);
  e.vpord(fraction, fraction, e.in_each_lane(&Constants::one));
  e.vbroadcastss(near, e.constant(&Constants::near_2));
  e.vfmadd213ps(near, fraction, e.in_each_lane(&Constants::near_1));
  e.vfmadd213ps(near, fraction, e.in_each_lane(&Constants::near_0));
  e.vpaddd(near, near, whole);
  complete(e, near, sum, kExponentialTable);
  e.vpxord(near | lanes_below_minus_126(e, x), near, near);
  e.vcmpps(e.k7, x, e.in_each_lane(&Constants::plus_128), kGreaterOrEqual);
  e.vbroadcastss(near | e.k7, e.constant(&Constants::infinity));
  e.vfixupimmps(near, x, e.in_each_lane(&Constants::nan_of_nan), 0);
  return near;
}

void lower_exponential(Emitter& e, const Step& step) {
  const Zmm x = source(e, step, 0);
  if (is_flushing(step.operation->alu)) return write_result(e, step, power_of_2(e, x));
  // Where the result may be subnormal, it is the square of 2^(x/2).
  const Zmm half = e.fresh();
  e.vmovaps(half, x);
  e.vmulps(half | lanes_below_minus_126(e, x), x, e.in_each_lane(&Constants::one_half));
  const Zmm result = power_of_2(e, half);
  e.vmulps(result | lanes_below_minus_126(e, x), result, result);
  write_result(e, step, result);
}

}  // namespace

Lowering lower_approximation(const AluKey& key) {
  using namespace isa::alu_option;
  if (key.type != ptx::Type::f32 || key.rounding != isa::Rounding::none) return nullptr;
  const int form = key.options & ~kFtz;
  if (key.op == AluOp::div) return form == kApprox || form == kFull ? lower_quotient : nullptr;
  if (form != kApprox) return nullptr;
  switch (key.op) {
    case AluOp::rcp:
      return lower_reciprocal;
    case AluOp::rsqrt:
      return lower_root<kInverseRoot>;
    case AluOp::sqrt:
      return lower_root<kRoot>;
    case AluOp::ex2:
      return lower_exponential;
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::compile
