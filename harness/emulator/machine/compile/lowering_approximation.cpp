// Lowering of the approximate functions whose results lie near numbers of the host: reciprocals,
// quotients, roots and powers of 2. See isa/approximations.h for what they are.
#include <cstddef>

#include "harness/emulator/machine/compile/constants.h"
#include "harness/emulator/machine/compile/lowering.h"

namespace warpgauge::emulator::machine::compile {
namespace {

using isa::AluKey;
using isa::AluOp;
using Xbyak::Zmm;

// Comparisons of vcmpps and vpcmpud.
constexpr std::uint8_t kLess = 1, kUnsignedMore = 6, kNotLess = 0x0d;

#define WARPGAUGE_EACH(name) e.constant_in_each_lane(offsetof(Constants, name))
#define WARPGAUGE_ONE(name) e.constant(offsetof(Constants, name))

/// A function of isa/near_functions.h, with its columns in Constants.
struct Function {
  std::size_t c0, c1_and_c2;
  int segments;
  int bits, dropped;
  bool c1_is_negative, c2_is_negative;
};
template <std::size_t kSegments>
constexpr Function function_of(const isa::NearFunction<kSegments>& from, std::size_t offset) {
  using From = isa::NearFunction<kSegments>;
  using Columns = isa::FixedColumns<kSegments>;
  const std::size_t columns = offset + offsetof(From, columns);
  return {columns + offsetof(Columns, c0),
          columns + offsetof(Columns, c1_and_c2),
          kSegments,
          from.bits,
          from.dropped,
          from.columns.c1_is_negative,
          from.columns.c2_is_negative};
}
constexpr Function kReciprocal = function_of(isa::kNearReciprocal, offsetof(Constants, reciprocal));
constexpr Function kInverseRoot =
    function_of(isa::kNearInverseRoot, offsetof(Constants, inverse_root));
constexpr Function kRoot = function_of(isa::kNearRoot, offsetof(Constants, root));
constexpr Function kExponential =
    function_of(isa::kNearExponential, offsetof(Constants, exponential));

/// The numbers of two columns for each lane's segment, which the bits of `place` above
/// Function::bits name.
struct Coefficients {
  Zmm c0, c1_and_c2;
};
Coefficients look_up(Emitter& e, const Zmm& place, const Function& function) {
  const Coefficients found = {e.fresh(), e.fresh()};
  const Zmm table = e.fresh();
  // An instruction looks up 32 segments, and leaves the numbers of the others as they are.
  const Xbyak::Opmask masks[] = {e.k7, e.fresh_predicate(), e.fresh_predicate(),
                                 e.fresh_predicate()};
  if (function.segments == 64) {
    e.vptestnmd(masks[0], place, WARPGAUGE_EACH(upper_half_of_64));
    e.vptestmd(masks[1], place, WARPGAUGE_EACH(upper_half_of_64));
  } else {
    e.vpsrld(table, place, static_cast<std::uint8_t>(function.bits + 5));
    e.vptestnmd(masks[0], table, table);
    e.vpcmpeqd(masks[1], table, WARPGAUGE_EACH(counted[0]));
    e.vpcmpeqd(masks[2], table, WARPGAUGE_EACH(counted[1]));
    e.vpcmpeqd(masks[3], table, WARPGAUGE_EACH(counted[2]));
  }
  const auto of = [&](const Zmm& column, std::size_t offset) {
    for (int n = 0; n < function.segments / 32; ++n) {
      const std::size_t at = offset + static_cast<std::size_t>(n) * 128;
      e.vmovdqa64(table, e.constant(at));
      e.vpermi2d(column | masks[n], table, e.constant(at + 64));
    }
  };
  e.vpsrld(found.c0, place, static_cast<std::uint8_t>(function.bits));
  e.vmovdqa64(found.c1_and_c2, found.c0);
  of(found.c0, function.c0);
  of(found.c1_and_c2, function.c1_and_c2);
  return found;
}

/// The truncated squares (isa/quadratic.h) of the upper 16 bits of the places in a segment. Both
/// halves of a word have the 16 bits, and half of the pairs of bits.
Zmm truncated_square(Emitter& e, const Zmm& place, const Function& function) {
  const Zmm sum = e.fresh(), both = e.fresh(), upper = e.fresh();
  Zmm products[] = {e.fresh(), e.fresh()};
  e.vpsrld(both, place, static_cast<std::uint8_t>(function.bits - 16));
  e.vpshufb(both, both, WARPGAUGE_ONE(lower_half_twice));
  e.vpsrlw(sum, both, 8);
  e.vpmullw(sum, sum, sum);
  e.vpsrld(sum, sum, 17);
  for (std::size_t n = 0; n < 2; ++n) {
    e.vpandd(products[n], both, e.constant_in_each_lane(offsetof(Constants, lower_pairs) + 4 * n));
    e.vpandd(upper, both, e.constant_in_each_lane(offsetof(Constants, upper_pairs) + 4 * n));
    e.vpmulhuw(products[n], products[n], upper);
  }
  e.vpaddw(products[0], products[0], products[1]);
  e.vpmaddwd(products[0], products[0], WARPGAUGE_ONE(ones_of_16));
  e.vpaddd(sum, sum, products[0]);
  return sum;
}

void add(Emitter& e, const Zmm& sum, const Zmm& term, bool is_negative) {
  is_negative ? e.vpsubd(sum, sum, term) : e.vpaddd(sum, sum, term);
}

/// The lower bits of the sums at the places.
Zmm interpolated(Emitter& e, const Zmm& place, const Function& function) {
  const auto& [sum, c1_and_c2] = look_up(e, place, function);
  const Zmm square = truncated_square(e, place, function);
  const Zmm linear = e.fresh(), c1 = e.fresh();
  e.vpandd(linear, place,
           function.bits == 16 ? WARPGAUGE_EACH(lower_16) : WARPGAUGE_EACH(lower_17));
  e.vpsrld(c1, c1_and_c2, isa::kBitsOfC2);
  e.vpmulld(linear, linear, c1);
  add(e, sum, linear, function.c1_is_negative);
  e.vpandd(c1_and_c2, c1_and_c2, WARPGAUGE_EACH(bits_of_c2));
  e.vpmaddwd(square, square, c1_and_c2);  // both have less than 16 bits
  add(e, sum, square, function.c2_is_negative);
  return sum;
}

/// The results near numbers, in place of these.
void complete(Emitter& e, const Zmm& near, const Zmm& sum, const Function& function) {
  const Zmm off = e.fresh();
  const auto dropped = static_cast<std::uint8_t>(function.dropped);
  e.vpslld(off, near, dropped);
  e.vpsubd(off, sum, off);
  e.vpsrad(off, off, dropped);
  e.vpaddd(near, near, off);
}

/// k7 has the lanes whose value is less than the least normal number, but for the sign.
void find_tiny(Emitter& e, const Zmm& x) {
  const Zmm size = e.fresh();
  e.vpandd(size, x, WARPGAUGE_EACH(magnitude));
  e.vpcmpud(e.k7, size, WARPGAUGE_EACH(least_normal), kLess);
}
/// k7 has the lanes whose value is above 2^126, but for the sign, or a NaN.
void find_large(Emitter& e, const Zmm& x) {
  const Zmm size = e.fresh();
  e.vpandd(size, x, WARPGAUGE_EACH(magnitude));
  e.vpcmpud(e.k7, size, WARPGAUGE_EACH(two_to_126), kUnsignedMore);
}
/// Where k7 is on, `value` becomes a zero with the sign of x, or infinity.
void become_zero(Emitter& e, const Zmm& value, const Zmm& x) {
  e.vpandd(value | e.k7, x, WARPGAUGE_EACH(sign));
}
void become_infinity(Emitter& e, const Zmm& value, const Zmm& x) {
  become_zero(e, value, x);
  e.vpord(value | e.k7, value, WARPGAUGE_EACH(infinity));
}

bool is_flushing(const AluKey& key) { return (key.options & isa::alu_option::kFtz) != 0; }

/// f(x), where tiny x are scaled by 2^24, and f(x) by `factor`.
template <typename Of>
Zmm kept(Emitter& e, const Zmm& x, std::size_t factor, const Of& of) {
  const Zmm scaled = e.fresh();
  e.vmovaps(scaled, x);
  find_tiny(e, x);
  e.vmulps(scaled | e.k7, x, WARPGAUGE_EACH(two_to_24));
  const Zmm result = of(scaled);
  find_tiny(e, x);
  e.vmulps(result | e.k7, result, e.constant_in_each_lane(factor));
  return result;
}

Zmm place_of_root(Emitter& e, const Zmm& x) {
  const Zmm place = e.fresh();
  e.vpandd(place, x, WARPGAUGE_EACH(two_binades));
  e.vpxord(place, place, WARPGAUGE_EACH(least_normal));
  return place;
}

/// A root: `of` the argument, but for what Constants have as `special`. Where tiny arguments are
/// flushed, results `become` what they are of zeros.
template <typename Of>
void lower_root(Emitter& e, const Step& step, std::size_t factor, std::size_t special,
                void (*become)(Emitter&, const Zmm&, const Zmm&), const Of& of) {
  const Zmm x = e.read(step.instruction->sources[0], 4, Nan::any).part[0];
  const bool flushes = is_flushing(step.operation->alu);
  const Zmm result = flushes ? of(x) : kept(e, x, factor, of);
  e.vfixupimmps(result, x, e.constant_in_each_lane(special), 0);
  if (flushes) {
    find_tiny(e, x);
    become(e, result, x);
  }
  Lanes value;
  value.part[0] = result;
  e.write(step.instruction->destination, value, Nan::any);
}

void inverse_root(Emitter& e, const Step& step) {
  const auto of = [&](const Zmm& x) {
    const Zmm place = place_of_root(e, x);
    const Zmm sum = interpolated(e, place, kInverseRoot);
    e.vptestnmd(e.k7, place, place);  // of a power of 4 it is less
    e.vpaddd(sum | e.k7, sum, WARPGAUGE_EACH(less_at_one));
    const Zmm near = e.fresh();
    e.vrsqrt14ps(near, x);
    complete(e, near, sum, kInverseRoot);
    return near;
  };
  lower_root(e, step, offsetof(Constants, two_to_12), offsetof(Constants, inverse_root_of_special),
             become_infinity, of);
}

void root(Emitter& e, const Step& step) {
  const auto of = [&](const Zmm& x) {
    const Zmm sum = interpolated(e, place_of_root(e, x), kRoot);
    const Zmm near = e.fresh();
    e.vrsqrt14ps(near, x);
    e.vmulps(near, near, x);
    complete(e, near, sum, kRoot);
    return near;
  };
  lower_root(e, step, offsetof(Constants, two_to_minus_12), offsetof(Constants, root_of_special),
             become_zero, of);
}

/// By what arguments of the reciprocal are scaled that would be subnormal, or give such a result.
struct Scaling {
  bool tiny, large;
};
Zmm factor_of(Emitter& e, const Zmm& x, const Scaling& scaling) {
  const Zmm factor = e.fresh();
  e.vbroadcastss(factor, WARPGAUGE_ONE(one));
  if (scaling.tiny) {
    find_tiny(e, x);
    e.vbroadcastss(factor | e.k7, WARPGAUGE_ONE(two_to_24));
  }
  if (scaling.large) {
    find_large(e, x);
    e.vbroadcastss(factor | e.k7, WARPGAUGE_ONE(quarter));
  }
  return factor;
}

/// 1 / x, where `scaling` has been applied to x: subnormal arguments and results are zeros.
Zmm inverse(Emitter& e, const Zmm& x, const Scaling& scaling) {
  const Zmm place = e.fresh(), near = e.fresh();
  e.vpandd(place, x, WARPGAUGE_EACH(significand));
  e.vrcp14ps(near, x);
  complete(e, near, interpolated(e, place, kReciprocal), kReciprocal);
  if (!scaling.large) {
    find_large(e, x);
    become_zero(e, near, x);
  }
  e.vfixupimmps(near, x, WARPGAUGE_EACH(inverse_of_special), 0);
  if (!scaling.tiny) {
    find_tiny(e, x);
    become_infinity(e, near, x);
  }
  return near;
}

void reciprocal(Emitter& e, const Step& step) {
  const Zmm x = e.read(step.instruction->sources[0], 4, Nan::any).part[0];
  Lanes value;
  if (is_flushing(step.operation->alu)) {
    value.part[0] = inverse(e, x, {false, false});
  } else {
    constexpr Scaling kBoth = {true, true};
    const Zmm factor = factor_of(e, x, kBoth), scaled = e.fresh();
    e.vmulps(scaled, x, factor);
    value.part[0] = inverse(e, scaled, kBoth);
    e.vmulps(value.part[0], value.part[0], factor);
  }
  e.write(step.instruction->destination, value, Nan::any);
}

Scaling scaling_of(const AluKey& key) {
  const bool full = (key.options & isa::alu_option::kFull) != 0;
  return {!is_flushing(key), full};
}

/// Both sides are scaled, and multiplied with the reciprocal of the one.
void approximate_quotient(Emitter& e, const Step& step) {
  const Scaling scaling = scaling_of(step.operation->alu);
  Zmm a = e.read(step.instruction->sources[0], 4, Nan::any).part[0];
  Zmm b = e.read(step.instruction->sources[1], 4, Nan::any).part[0];
  if (scaling.tiny || scaling.large) {
    const Zmm factor = factor_of(e, b, scaling), dividend = e.fresh(), divisor = e.fresh();
    e.vmulps(dividend, a, factor);
    e.vmulps(divisor, b, factor);
    a = dividend;
    b = divisor;
  }
  Lanes value;
  value.part[0] = inverse(e, b, scaling);
  e.vmulps(value.part[0], a, value.part[0]);
  e.write(step.instruction->destination, value, Nan::any);
}

/// x as a number with 23 bits of fraction, as far as 2^x is normal; negative ones are complements.
Zmm place_of_exponential(Emitter& e, const Zmm& x) {
  const Zmm place = e.fresh(), below = e.fresh();
  e.vmaxps(place, x, WARPGAUGE_EACH(minus_127));
  e.vminps(place, place, WARPGAUGE_EACH(plus_128));
  e.vmulps(place, place, WARPGAUGE_EACH(two_to_23));
  e.vcvttps2dq(place, place);
  e.vptestmd(e.k7, place, WARPGAUGE_EACH(significand));  // whole numbers are no complements
  e.vpsrad(below, place, 31);
  e.vpaddd(place | e.k7, place, below);
  return place;
}

Zmm power_of_2(Emitter& e, const Zmm& x) {
  const Zmm place = place_of_exponential(e, x);
  const Zmm sum = interpolated(e, place, kExponential);
  const Zmm near = e.fresh(), fraction = e.fresh(), whole = e.fresh();
  e.vpandd(fraction, place, WARPGAUGE_EACH(significand));
  e.vpsubd(whole, place, fraction);
  e.vpord(fraction, fraction, WARPGAUGE_EACH(one));
  e.vbroadcastss(near, WARPGAUGE_ONE(near_2));
  e.vfmadd213ps(near, fraction, WARPGAUGE_EACH(near_1));
  e.vfmadd213ps(near, fraction, WARPGAUGE_EACH(near_0));
  e.vpaddd(near, near, whole);
  complete(e, near, sum, kExponential);
  e.vcmpps(e.k7, x, WARPGAUGE_EACH(minus_126), kLess);
  e.vpxord(near | e.k7, near, near);
  e.vcmpps(e.k7, x, WARPGAUGE_EACH(plus_128), kNotLess);
  e.vbroadcastss(near | e.k7, WARPGAUGE_ONE(infinity));
  e.vfixupimmps(near, x, WARPGAUGE_EACH(nan_of_nan), 0);
  return near;
}

void exponential(Emitter& e, const Step& step) {
  const Zmm x = e.read(step.instruction->sources[0], 4, Nan::any).part[0];
  Lanes value;
  if (is_flushing(step.operation->alu)) {
    value.part[0] = power_of_2(e, x);
  } else {  // the square of that of the half, where it may be subnormal
    const Zmm half = e.fresh();
    e.vmovaps(half, x);
    e.vcmpps(e.k7, x, WARPGAUGE_EACH(minus_126), kLess);
    e.vmulps(half | e.k7, x, WARPGAUGE_EACH(one_half));
    value.part[0] = power_of_2(e, half);
    e.vcmpps(e.k7, x, WARPGAUGE_EACH(minus_126), kLess);
    e.vmulps(value.part[0] | e.k7, value.part[0], value.part[0]);
  }
  e.write(step.instruction->destination, value, Nan::any);
}

#undef WARPGAUGE_ONE
#undef WARPGAUGE_EACH

}  // namespace

Lowering lower_approximation(const AluKey& key) {
  using namespace isa::alu_option;
  if (key.type != ptx::Type::f32 || key.rounding != isa::Rounding::none) return nullptr;
  const int form = key.options & ~kFtz;
  if (key.op == AluOp::div)
    return form == kApprox || form == kFull ? approximate_quotient : nullptr;
  if (form != kApprox) return nullptr;
  switch (key.op) {
    case AluOp::rcp:
      return reciprocal;
    case AluOp::rsqrt:
      return inverse_root;
    case AluOp::sqrt:
      return root;
    case AluOp::ex2:
      return exponential;
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::compile
