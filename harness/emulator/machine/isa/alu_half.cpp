// Arithmetic of f16, bf16 and pairs of them.
#include "harness/emulator/machine/isa/alu_families.h"
#include "harness/emulator/machine/isa/approximations.h"
#include "harness/emulator/machine/isa/halves.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

using alu_option::kApprox;
using alu_option::kFtz;
using alu_option::kNan;
using alu_option::kPacked;
using alu_option::kRelu;
using alu_option::kSat;
using alu_option::kXorsignAbs;

template <typename T>
inline constexpr u16 kExponentBits = kSame<T, Half> ? 0x7c00 : 0x7f80;

template <unsigned kOptions, typename T>
WARPGAUGE_INLINE T flushed(T value) {
  if constexpr ((kOptions & kFtz) == 0) return value;
  const bool tiny = (value.bits & kExponentBits<T>) == 0;
  return {static_cast<u16>(tiny ? value.bits & 0x8000 : value.bits)};
}

/// Saturation and .relu, which rounding does not disturb, then the rounding.
template <unsigned kOptions, typename T>
WARPGAUGE_INLINE T result_of(float value) {
  if constexpr ((kOptions & kSat) != 0) value = saturate(value);
  if constexpr ((kOptions & kRelu) != 0) value = (value > 0) | is_nan(value) ? value : 0.0f;
  const T rounded = round_to_small<T>(value);
  if constexpr ((kOptions & kFtz) == 0) return rounded;
  // A result is tiny if it would be less than the smallest normal number with unlimited exponents
  // (see floats.h).
  const bool tiny = __builtin_fabsf(value) < 0x1p-14f - 0x1p-26f;
  return {static_cast<u16>(tiny ? rounded.bits & 0x8000 : rounded.bits)};
}

// A sum, difference or product of two halves is exact as a float or so close that rounding twice
// gives what rounding once does (24 bits are at least 2 * 11 + 2).
constexpr auto kAdd = [](float a, float b) { return a + b; };
constexpr auto kSubtract = [](float a, float b) { return a - b; };
constexpr auto kMultiply = [](float a, float b) { return a * b; };
constexpr auto kFused = [](float a, float b, float c) { return fused_to_odd(a, b, c); };

template <auto kFunction, int kArity, typename T, unsigned kOptions>
void arithmetic(Warp& warp, const Instruction& instruction) {
  constexpr int kPerLane = (kOptions & kPacked) != 0 ? 2 : 1;
  const u16* const a = lanes<u16>(warp, instruction, 0);
  const u16* const b = lanes<u16>(warp, instruction, 1);
  const u16* const c = lanes<u16>(warp, instruction, kArity > 2 ? 2 : 0);
  const auto value = [](u16 bits) { return widen(flushed<kOptions>(T{bits})); };
  write<u16, kPerLane>(warp, instruction, [=](int i) -> u16 {
    if constexpr (kArity == 2) {
      return result_of<kOptions, T>(kFunction(value(a[i]), value(b[i]))).bits;
    } else {
      return result_of<kOptions, T>(kFunction(value(a[i]), value(b[i]), value(c[i]))).bits;
    }
  });
}

/// The multifunction unit's function of the value as a float, cut off.
template <typename Function, typename T, unsigned kOptions>
void approximate(Warp& warp, const Instruction& instruction) {
  constexpr int kPerLane = (kOptions & kPacked) != 0 ? 2 : 1;
  const u16* const a = lanes<u16>(warp, instruction, 0);
  alignas(64) float x[kLanes * kPerLane], y[kLanes * kPerLane];
  for (int i = 0; i < kLanes * kPerLane; ++i) x[i] = widen(T{a[i]});
  for (int i = 0; i < kPerLane; ++i) evaluate<Function>(y + i * kLanes, x + i * kLanes);
  const float* const of_x = y;
  write<u16, kPerLane>(warp, instruction,
                       [=](int i) -> u16 { return truncate_to_small<T>(of_x[i]).bits; });
}

template <bool kMaximum, unsigned kOptions, typename T>
WARPGAUGE_INLINE u16 extreme(u16 first, u16 second) {
  u16 a = flushed<kOptions>(T{first}).bits, b = flushed<kOptions>(T{second}).bits;
  constexpr bool kXorsign = (kOptions & kXorsignAbs) != 0;
  if constexpr (kXorsign) {
    a &= 0x7fff;
    b &= 0x7fff;
  }
  // Numbers in the order of their sign and magnitude as integers; so -0 is below +0.
  const auto rank = [](u16 bits) {
    return static_cast<s16>((bits & 0x8000) != 0 ? bits ^ 0x7fff : bits);
  };
  const bool nan_a = (a & 0x7fff) > kExponentBits<T>, nan_b = (b & 0x7fff) > kExponentBits<T>;
  const bool take_a = kMaximum ? rank(a) >= rank(b) : rank(a) <= rank(b);
  u16 best = take_a ? a : b;
  if constexpr (kXorsign) best |= (first ^ second) & 0x8000;
  if constexpr ((kOptions & kNan) != 0) return nan_a | nan_b ? kHalfNanBits : best;
  u16 other = nan_a ? b : a;
  if constexpr (kXorsign) other |= (first ^ second) & 0x8000;
  return nan_a & nan_b ? kHalfNanBits : nan_a | nan_b ? other : best;
}

template <bool kMaximum, typename T, unsigned kOptions>
void extremes(Warp& warp, const Instruction& instruction) {
  constexpr int kPerLane = (kOptions & kPacked) != 0 ? 2 : 1;
  const u16* const a = lanes<u16>(warp, instruction, 0);
  const u16* const b = lanes<u16>(warp, instruction, 1);
  write<u16, kPerLane>(warp, instruction,
                       [=](int i) -> u16 { return extreme<kMaximum, kOptions, T>(a[i], b[i]); });
}

template <bool kAbsolute, typename T, unsigned kOptions>
void sign(Warp& warp, const Instruction& instruction) {
  constexpr int kPerLane = (kOptions & kPacked) != 0 ? 2 : 1;
  const u16* const a = lanes<u16>(warp, instruction, 0);
  write<u16, kPerLane>(warp, instruction, [=](int i) -> u16 {
    const u16 bits = flushed<kOptions>(T{a[i]}).bits;
    return kAbsolute ? bits & 0x7fff : bits ^ 0x8000;
  });
}

/// The handler for key.options if they are one of the sets, each with and without kPacked.
template <template <unsigned> typename Form, unsigned... kSets>
Execute one_of(const AluKey& key) {
  Execute execute = nullptr;
  const auto consider = [&]<unsigned kSet>() {
    if (key.options == kSet) execute = Form<kSet>::kHandler;
    if (key.options == (kSet | kPacked)) execute = Form<kSet | kPacked>::kHandler;
  };
  (consider.template operator()<kSets>(), ...);
  return execute;
}

template <auto kFunction, int kArity, typename T>
struct Arithmetic {
  template <unsigned kOptions>
  struct Form {
    static constexpr Execute kHandler = arithmetic<kFunction, kArity, T, kOptions>;
  };
};
template <typename Function, typename T>
struct Approximation {
  template <unsigned kOptions>
  struct Form {
    static constexpr Execute kHandler = approximate<Function, T, kOptions>;
  };
};
template <bool kMaximum, typename T>
struct Extremes {
  template <unsigned kOptions>
  struct Form {
    static constexpr Execute kHandler = extremes<kMaximum, T, kOptions>;
  };
};
template <bool kAbsolute, typename T>
struct Sign {
  template <unsigned kOptions>
  struct Form {
    static constexpr Execute kHandler = sign<kAbsolute, T, kOptions>;
  };
};

template <auto kFunction>
Execute two_operands(const AluKey& key) {
  if (key.type == ptx::Type::f16) {
    return one_of<Arithmetic<kFunction, 2, Half>::template Form, 0, kFtz, kSat, kFtz | kSat>(key);
  }
  return one_of<Arithmetic<kFunction, 2, BFloat>::template Form, 0>(key);
}
Execute fused_handler(const AluKey& key) {
  if (key.type == ptx::Type::f16) {
    return one_of<Arithmetic<kFused, 3, Half>::Form, 0, kFtz, kSat, kFtz | kSat, kRelu,
                  kFtz | kRelu>(key);
  }
  return one_of<Arithmetic<kFused, 3, BFloat>::Form, 0, kRelu>(key);
}
template <bool kMaximum>
Execute extreme_handler(const AluKey& key) {
  if (key.type == ptx::Type::f16) {
    return one_of<Extremes<kMaximum, Half>::template Form, 0, kFtz, kNan, kFtz | kNan, kXorsignAbs,
                  kFtz | kXorsignAbs, kNan | kXorsignAbs, kFtz | kNan | kXorsignAbs>(key);
  }
  return one_of<Extremes<kMaximum, BFloat>::template Form, 0, kNan, kXorsignAbs,
                kNan | kXorsignAbs>(key);
}
template <bool kAbsolute>
Execute sign_handler(const AluKey& key) {
  if (key.type == ptx::Type::f16) {
    return one_of<Sign<kAbsolute, Half>::template Form, 0, kFtz>(key);
  }
  return one_of<Sign<kAbsolute, BFloat>::template Form, 0>(key);
}
Execute approximate_handler(const AluKey& key) {
  const bool is_half = key.type == ptx::Type::f16;
  if (key.op == AluOp::tanh) {
    return is_half ? one_of<Approximation<Tangent, Half>::Form, kApprox>(key)
                   : one_of<Approximation<Tangent, BFloat>::Form, kApprox>(key);
  }
  return is_half ? one_of<Approximation<Exponential, Half>::Form, kApprox>(key)
                 : one_of<Approximation<Exponential, BFloat>::Form, kApprox | kFtz>(key);
}

}  // namespace

Execute half_handler(const AluKey& key) {
  if (key.type != ptx::Type::f16 && key.type != ptx::Type::bf16) return nullptr;
  if (key.rounding != Rounding::none && key.rounding != Rounding::rn) return nullptr;
  switch (key.op) {
    case AluOp::add:
      return two_operands<kAdd>(key);
    case AluOp::sub:
      return two_operands<kSubtract>(key);
    case AluOp::mul:
      return two_operands<kMultiply>(key);
    case AluOp::fma:
      return fused_handler(key);
    case AluOp::min:
      return extreme_handler<false>(key);
    case AluOp::max:
      return extreme_handler<true>(key);
    case AluOp::neg:
      return sign_handler<false>(key);
    case AluOp::abs:
      return sign_handler<true>(key);
    case AluOp::ex2:
    case AluOp::tanh:
      return approximate_handler(key);
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
