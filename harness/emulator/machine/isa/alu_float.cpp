// Floating-point arithmetic of f32, f32x2 and f64 with all rounding modes: sums, products, fused
// ones, quotients, square roots; signs and extremes.
#include <fenv.h>

#include "harness/emulator/machine/isa/alu_families.h"
#include "harness/emulator/machine/isa/floats.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

using alu_option::kFtz;
using alu_option::kNan;
using alu_option::kPacked;
using alu_option::kSat;
using alu_option::kXorsignAbs;

WARPGAUGE_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WARPGAUGE_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
WARPGAUGE_INLINE float root(float a) { return __builtin_sqrtf(a); }
WARPGAUGE_INLINE double root(double a) { return __builtin_sqrt(a); }

constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kSubtract = [](auto a, auto b) { return a - b; };
constexpr auto kMultiply = [](auto a, auto b) { return a * b; };
constexpr auto kDivide = [](auto a, auto b) { return a / b; };
constexpr auto kFused = [](auto a, auto b, auto c) { return fused(a, b, c); };
constexpr auto kReciprocal = [](auto a) { return decltype(a){1} / a; };
constexpr auto kRoot = [](auto a) { return root(a); };

/// Flushing and saturation around a rounded operation.
template <unsigned kOptions, typename T>
WARPGAUGE_INLINE T input(T value) {
  return flush_if<(kOptions & kFtz) != 0>(value);
}
template <unsigned kOptions, typename T>
WARPGAUGE_INLINE T output(T flushed) {
  return (kOptions & kSat) != 0 ? saturate(flushed) : flushed;
}

/// Whether the result is in proportion to the first operand and, of fused ones, the third.
template <auto kFunction>
inline constexpr bool kIsProduct = false;
template <>
inline constexpr bool kIsProduct<kMultiply> = true;
template <>
inline constexpr bool kIsProduct<kFused> = true;

template <auto kFunction, unsigned kOptions, typename T, typename... Others>
WARPGAUGE_INLINE T operate(T a, Others... others) {
  const T value = kFunction(a, others...);
  if constexpr ((kOptions & kFtz) == 0) {
    return output<kOptions>(value);
  } else if constexpr (!kIsProduct<kFunction>) {
    return output<kOptions>(flush(value));
  } else {
    const auto scaled = [=](T b, auto... c) { return kFunction(a * kScale, b, c * kScale...); };
    return output<kOptions>(flush(value, scaled(others...)));
  }
}

template <auto kFunction, int kArity, typename T, unsigned kOptions>
void arithmetic(Warp& warp, const Instruction& instruction) {
  constexpr int kPerLane = (kOptions & kPacked) != 0 ? 2 : 1;
  const T* const a = lanes<T>(warp, instruction, 0);
  const T* const b = lanes<T>(warp, instruction, kArity > 1 ? 1 : 0);
  const T* const c = lanes<T>(warp, instruction, kArity > 2 ? 2 : 0);
  const auto result = [=](int i) -> T {
    const T x = input<kOptions>(a[i]);
    if constexpr (kArity == 1) {
      return operate<kFunction, kOptions>(x);
    } else if constexpr (kArity == 2) {
      return operate<kFunction, kOptions>(x, input<kOptions>(b[i]));
    } else {
      return operate<kFunction, kOptions>(x, input<kOptions>(b[i]), input<kOptions>(c[i]));
    }
  };
  if constexpr ((kOptions & kSat) != 0) {
    write<T, kPerLane>(warp, instruction, result);
  } else {
    write_canonical<T, kPerLane>(warp, instruction, result);
  }
}

/// The same in another rounding mode. The calls are what keeps the compiler from moving arithmetic
/// out of it: all that the handler reads and writes is memory that they might touch.
template <Execute kExecute, int kMode>
void rounded(Warp& warp, const Instruction& instruction) {
  const int before = fegetround();
  fesetround(kMode);
  kExecute(warp, instruction);
  fesetround(before);
}

template <Execute kExecute>
Execute with_rounding(Rounding rounding) {
  switch (rounding) {
    case Rounding::none:
    case Rounding::rn:
      return kExecute;
    case Rounding::rz:
      return rounded<kExecute, FE_TOWARDZERO>;
    case Rounding::rm:
      return rounded<kExecute, FE_DOWNWARD>;
    case Rounding::rp:
      return rounded<kExecute, FE_UPWARD>;
  }
  return nullptr;
}

template <auto kFunction, int kArity>
Execute arithmetic_handler(const AluKey& key) {
  if (key.type == ptx::Type::f64) {
    return key.options == 0 ? with_rounding<arithmetic<kFunction, kArity, double, 0>>(key.rounding)
                            : nullptr;
  }
  if (key.type != ptx::Type::f32) return nullptr;
  switch (key.options) {
    case 0:
      return with_rounding<arithmetic<kFunction, kArity, float, 0>>(key.rounding);
    case kFtz:
      return with_rounding<arithmetic<kFunction, kArity, float, kFtz>>(key.rounding);
    case kSat:
      return with_rounding<arithmetic<kFunction, kArity, float, kSat>>(key.rounding);
    case kFtz | kSat:
      return with_rounding<arithmetic<kFunction, kArity, float, kFtz | kSat>>(key.rounding);
    case kPacked:
      return with_rounding<arithmetic<kFunction, kArity, float, kPacked>>(key.rounding);
    case kPacked | kFtz:
      return with_rounding<arithmetic<kFunction, kArity, float, kPacked | kFtz>>(key.rounding);
    default:
      return nullptr;
  }
}

/// f32 of which all operands but the last are f16 or bf16.
template <auto kFunction, int kArity, typename Small, bool kSaturate>
void mixed(Warp& warp, const Instruction& instruction) {
  const Small* const a = lanes<Small>(warp, instruction, 0);
  const Small* const b = lanes<Small>(warp, instruction, kArity > 2 ? 1 : 0);
  const float* const c = lanes<float>(warp, instruction, kArity - 1);
  write<float>(warp, instruction, [=](int i) -> float {
    float value;
    if constexpr (kArity == 2) {
      value = kFunction(widen(a[i]), c[i]);
    } else {
      value = kFunction(widen(a[i]), widen(b[i]), c[i]);
    }
    return kSaturate ? saturate(value) : canonical(value);
  });
}
template <auto kFunction, int kArity, typename Small>
Execute mixed_with_options(const AluKey& key) {
  if (key.options == 0) {
    return with_rounding<mixed<kFunction, kArity, Small, false>>(key.rounding);
  }
  return key.options == kSat ? with_rounding<mixed<kFunction, kArity, Small, true>>(key.rounding)
                             : nullptr;
}
template <auto kFunction, int kArity>
Execute mixed_handler(const AluKey& key) {
  return key.from == ptx::Type::f16 ? mixed_with_options<kFunction, kArity, Half>(key)
                                    : mixed_with_options<kFunction, kArity, BFloat>(key);
}

// Signs. They go by the bits, so that a NaN keeps its own.
template <typename T>
inline constexpr Unsigned<T> kSignBit = Unsigned<T>{1} << (sizeof(T) * 8 - 1);
constexpr auto kNegate = []<typename T>(T a) -> T {
  return bits_as<T>(static_cast<Unsigned<T>>(bits_as<Unsigned<T>>(a) ^ kSignBit<T>));
};
constexpr auto kAbsolute = []<typename T>(T a) -> T {
  return bits_as<T>(static_cast<Unsigned<T>>(bits_as<Unsigned<T>>(a) & ~kSignBit<T>));
};
/// The sign of a on the value of b.
constexpr auto kCopySign = []<typename T>(T a, T b) -> T {
  return bits_as<T>(static_cast<Unsigned<T>>((bits_as<Unsigned<T>>(b) & ~kSignBit<T>) |
                                             (bits_as<Unsigned<T>>(a) & kSignBit<T>)));
};

template <auto kFunction, typename T, bool kFlush>
void sign_unary(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  write<T>(warp, instruction, [=](int i) -> T { return kFunction(flush_if<kFlush>(a[i])); });
}
template <typename T>
void copysign(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  const T* const b = lanes<T>(warp, instruction, 1);
  write<T>(warp, instruction, [=](int i) -> T { return kCopySign(a[i], b[i]); });
}
template <auto kFunction>
Execute sign_handler(const AluKey& key) {
  if (key.type == ptx::Type::f64 && key.options == 0) return sign_unary<kFunction, double, false>;
  if (key.type != ptx::Type::f32) return nullptr;
  if (key.options == 0) return sign_unary<kFunction, float, false>;
  return key.options == kFtz ? sign_unary<kFunction, float, true> : nullptr;
}

// Extremes: +0 is above -0; a NaN loses against a number unless `.NaN`.
template <bool kMaximum, typename T>
WARPGAUGE_INLINE T extreme_of_numbers(T a, T b) {
  // Only of zeros the two differ, in their sign.
  const T first = (kMaximum ? a > b : a < b) ? a : b;
  const T second = (kMaximum ? b > a : b < a) ? b : a;
  const Unsigned<T> bits = bits_as<Unsigned<T>>(first), other = bits_as<Unsigned<T>>(second);
  return bits_as<T>(static_cast<Unsigned<T>>(kMaximum ? bits & other : bits | other));
}
template <bool kMaximum, unsigned kOptions, typename T>
WARPGAUGE_INLINE T extreme(T a, T b) {
  const T number = extreme_of_numbers<kMaximum>(a, b);
  const T of_nan = is_nan((kOptions & kNan) != 0 ? a : b) ? a : b;
  return canonical(is_nan(a) | is_nan(b) ? of_nan : number);
}

template <bool kMaximum, int kArity, typename T, unsigned kOptions>
void extremes(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  const T* const b = lanes<T>(warp, instruction, 1);
  const T* const c = lanes<T>(warp, instruction, kArity > 2 ? 2 : 0);
  constexpr bool kXorsign = (kOptions & kXorsignAbs) != 0;
  const auto take = [](T value) {
    const T flushed = input<kOptions>(value);
    return kXorsign ? kAbsolute(flushed) : flushed;
  };
  const auto write_extremes = [&](auto of_two) {
    write<T>(warp, instruction, [=](int i) -> T {
      T result = of_two(take(a[i]), take(b[i]));
      Unsigned<T> sign = bits_as<Unsigned<T>>(a[i]) ^ bits_as<Unsigned<T>>(b[i]);
      if constexpr (kArity > 2) {
        result = of_two(result, take(c[i]));
        sign ^= bits_as<Unsigned<T>>(c[i]);
      }
      return kXorsign && !is_nan(result) ? kCopySign(bits_as<T>(sign), result) : result;
    });
  };
  if (any_nan<kLanes>(a) | any_nan<kLanes>(b) | any_nan<kLanes>(c)) [[unlikely]] {
    write_extremes([](T x, T y) { return extreme<kMaximum, kOptions>(x, y); });
  } else {
    write_extremes([](T x, T y) { return extreme_of_numbers<kMaximum>(x, y); });
  }
}

template <bool kMaximum, int kArity>
Execute extreme_handler(const AluKey& key) {
  if (key.type == ptx::Type::f64) {
    return key.options == 0 && kArity == 2 ? extremes<kMaximum, 2, double, 0> : nullptr;
  }
  if (key.type != ptx::Type::f32) return nullptr;
  switch (key.options) {
    case 0:
      return extremes<kMaximum, kArity, float, 0>;
    case kFtz:
      return extremes<kMaximum, kArity, float, kFtz>;
    case kNan:
      return extremes<kMaximum, kArity, float, kNan>;
    case kFtz | kNan:
      return extremes<kMaximum, kArity, float, kFtz | kNan>;
    case kXorsignAbs:
      return extremes<kMaximum, kArity, float, kXorsignAbs>;
    case kXorsignAbs | kFtz:
      return extremes<kMaximum, kArity, float, kXorsignAbs | kFtz>;
    case kXorsignAbs | kNan:
      return extremes<kMaximum, kArity, float, kXorsignAbs | kNan>;
    case kXorsignAbs | kNan | kFtz:
      return extremes<kMaximum, kArity, float, kXorsignAbs | kNan | kFtz>;
    default:
      return nullptr;
  }
}

}  // namespace

Execute float_handler(const AluKey& key) {
  if (key.type != ptx::Type::f32 && key.type != ptx::Type::f64) return nullptr;
  switch (key.op) {
    case AluOp::add:
      return arithmetic_handler<kAdd, 2>(key);
    case AluOp::sub:
      return arithmetic_handler<kSubtract, 2>(key);
    case AluOp::mul:
      return arithmetic_handler<kMultiply, 2>(key);
    case AluOp::fma:
      return arithmetic_handler<kFused, 3>(key);
    case AluOp::add_mixed:
      return mixed_handler<kAdd, 2>(key);
    case AluOp::sub_mixed:
      return mixed_handler<kSubtract, 2>(key);
    case AluOp::fma_mixed:
      return mixed_handler<kFused, 3>(key);
    case AluOp::div:
      return arithmetic_handler<kDivide, 2>(key);
    case AluOp::rcp:
      return arithmetic_handler<kReciprocal, 1>(key);
    case AluOp::sqrt:
      return arithmetic_handler<kRoot, 1>(key);
    case AluOp::neg:
      return sign_handler<kNegate>(key);
    case AluOp::abs:
      return sign_handler<kAbsolute>(key);
    case AluOp::copysign:
      if (key.options != 0) return nullptr;
      return key.type == ptx::Type::f32 ? copysign<float> : copysign<double>;
    case AluOp::min:
      return extreme_handler<false, 2>(key);
    case AluOp::max:
      return extreme_handler<true, 2>(key);
    case AluOp::min3:
      return extreme_handler<false, 3>(key);
    case AluOp::max3:
      return extreme_handler<true, 3>(key);
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
