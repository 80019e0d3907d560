// The approximate functions: division, square roots, exponentials, logarithms, trigonometry. They
// are what ptxas makes of them: with .ftz an instruction of the multifunction unit, without it
// further ones that keep subnormal numbers away from it.
#include "harness/emulator/machine/isa/alu_families.h"
#include "harness/emulator/machine/isa/approximations.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

using alu_option::kApprox;
using alu_option::kFtz;
using alu_option::kFull;

constexpr bool is_tiny(float x) { return __builtin_fabsf(x) < 0x1p-126f; }

/// An instruction of the unit alone, with .ftz; below are those that keep subnormal numbers.
/// `before` and `after` leave ordinary arguments and their results as they are.
template <typename Unit>
struct Alone {
  using Function = Unit;
  WARPGAUGE_INLINE static float before(float x) { return x; }
  WARPGAUGE_INLINE static float after(float, float y) { return y; }
};

struct KeptReciprocal {
  using Function = Reciprocal;
  WARPGAUGE_INLINE static float factor(float x) {
    const float large = __builtin_fabsf(x) > 0x1p126f ? 0.25f : 1.0f;
    return is_tiny(x) ? 0x1p24f : large;
  }
  WARPGAUGE_INLINE static float before(float x) { return x * factor(x); }
  WARPGAUGE_INLINE static float after(float x, float y) { return y * factor(x); }
};

/// f(x) = f(2^24 x) kFactor if x is tiny.
template <typename Unit, float kFactor>
struct KeptRoot {
  using Function = Unit;
  WARPGAUGE_INLINE static float before(float x) { return x * (is_tiny(x) ? 0x1p24f : 1.0f); }
  WARPGAUGE_INLINE static float after(float x, float y) {
    return y * (is_tiny(x) ? kFactor : 1.0f);
  }
};

struct KeptExponential {
  using Function = Exponential;
  WARPGAUGE_INLINE static float before(float x) { return x * (x < -126.0f ? 0.5f : 1.0f); }
  WARPGAUGE_INLINE static float after(float x, float y) { return y * (x < -126.0f ? y : 1.0f); }
};

struct KeptLogarithm {
  using Function = Logarithm;
  WARPGAUGE_INLINE static float before(float x) { return x * (is_tiny(x) ? 0x1p24f : 1.0f); }
  WARPGAUGE_INLINE static float after(float x, float y) { return y - (is_tiny(x) ? 24.0f : 0.0f); }
};

template <typename Form>
void of_one(Warp& warp, const Instruction& instruction) {
  using Function = typename Form::Function;
  const float* const a = lanes<float>(warp, instruction, 0);
  alignas(64) float x[kLanes], y[kLanes];
  const float* const of_x = y;
  if constexpr (kHasOrdinary<Function>) {
    if (all_in(Function::kOrdinary, a)) [[likely]] {
      evaluate_ordinary<Function>(y, a);
      return write<float>(warp, instruction, [=](int i) -> float { return of_x[i]; });
    }
  }
  for (int i = 0; i < kLanes; ++i) x[i] = Form::before(a[i]);
  evaluate<Function>(y, x);
  write<float>(warp, instruction, [=](int i) -> float { return Form::after(a[i], of_x[i]); });
}

template <bool kFlush>
WARPGAUGE_INLINE float product(float a, float b) {
  return kFlush ? flush(a * b, a * kScale * b) : a * b;
}

/// A quotient: both are scaled, and multiplied with the reciprocal of the one.
template <typename Scaling, bool kFlush>
void quotient(Warp& warp, const Instruction& instruction) {
  const float* const a = lanes<float>(warp, instruction, 0);
  const float* const b = lanes<float>(warp, instruction, 1);
  alignas(64) float x[kLanes], y[kLanes];
  const float* const inverse = y;
  if (all_in(Reciprocal::kOrdinary, b)) [[likely]] {
    evaluate_ordinary<Reciprocal>(y, b);
    return write_canonical<float, 1>(warp, instruction, [=](int i) -> float {
      return product<kFlush>(flush_if<kFlush>(a[i]), inverse[i]);
    });
  }
  for (int i = 0; i < kLanes; ++i) x[i] = flush_if<kFlush>(b[i]) * Scaling::factor(b[i]);
  evaluate<Reciprocal>(y, x);
  write<float>(warp, instruction, [=](int i) -> float {
    const float dividend = product<kFlush>(flush_if<kFlush>(a[i]), Scaling::factor(b[i]));
    return canonical(product<kFlush>(dividend, inverse[i]));
  });
}

/// How both sides of a quotient are scaled, by the divisor.
struct Unscaled {
  WARPGAUGE_INLINE static float factor(float) { return 1.0f; }
};
struct TinyScaled {
  WARPGAUGE_INLINE static float factor(float y) { return is_tiny(y) ? 0x1p24f : 1.0f; }
};
struct LargeScaled {
  WARPGAUGE_INLINE static float factor(float y) {
    return __builtin_fabsf(y) > 0x1p126f ? 0.25f : 1.0f;
  }
};

/// The starting values of f64: of the upper half of the value, the upper half of the result.
template <typename Function>
WARPGAUGE_INLINE void starting_values(u64* out, const u64* a) {
  alignas(64) u32 high[kLanes], found[kLanes];
  for (int i = 0; i < kLanes; ++i) high[i] = static_cast<u32>(a[i] >> 32);
  evaluate_high<Function>(found, high);
  for (int i = 0; i < kLanes; ++i) out[i] = u64{found[i]} << 32;
}
template <typename Function>
void starting_value(Warp& warp, const Instruction& instruction) {
  alignas(64) u64 values[kLanes];
  starting_values<Function>(values, lanes<u64>(warp, instruction, 0));
  const u64* const found = values;
  write<u64>(warp, instruction, [=](int i) -> u64 { return found[i]; });
}

/// rsqrt.approx.f64 keeps subnormal values: the starting value made better once.
void inverse_root_of_double(Warp& warp, const Instruction& instruction) {
  const double* const a = lanes<double>(warp, instruction, 0);
  alignas(64) u64 scaled[kLanes], starts[kLanes];
  const auto is_tiny = [](double x) { return __builtin_fabs(x) < 0x1p-1022; };
  for (int i = 0; i < kLanes; ++i) {
    scaled[i] = bits_as<u64>(a[i] * (is_tiny(a[i]) ? 0x1p54 : 1.0));
  }
  starting_values<InverseRootHigh>(starts, scaled);
  const u64 *const bits = scaled, *const start_bits = starts;
  write<double>(warp, instruction, [=](int i) -> double {
    const double x = bits_as<double>(bits[i]), start = bits_as<double>(start_bits[i]);
    const double rest = __builtin_fma(x, -(start * start), 1.0);
    const double better = __builtin_fma(__builtin_fma(rest, 0.375, 0.5), start * rest, start);
    const double number = better * (is_tiny(a[i]) ? 0x1p27 : 1.0);
    const double infinity = __builtin_inf();
    const double positive = a[i] < infinity ? number : 0;
    const double ordered = a[i] > 0 ? positive : bits_as<double>(0xfff8000000000000);
    const double other = a[i] == 0 ? __builtin_copysign(infinity, a[i]) : ordered;
    return is_nan(a[i]) ? a[i] + a[i] : other;
  });
}

template <typename Keeping, typename Flushing>
Execute single(const AluKey& key) {
  if (key.options == kApprox) return of_one<Keeping>;
  return key.options == (kApprox | kFtz) ? of_one<Flushing> : nullptr;
}

Execute quotient_handler(const AluKey& key) {
  switch (key.options) {
    case kApprox:
      return quotient<TinyScaled, false>;
    case kApprox | kFtz:
      return quotient<Unscaled, true>;
    case kFull:
      return quotient<KeptReciprocal, false>;
    case kFull | kFtz:
      return quotient<LargeScaled, true>;
    default:
      return nullptr;
  }
}

Execute double_handler(const AluKey& key) {
  const bool flushes = key.options == (kApprox | kFtz);
  if (key.op == AluOp::rcp) return flushes ? starting_value<ReciprocalHigh> : nullptr;
  if (key.op != AluOp::rsqrt) return nullptr;
  if (flushes) return starting_value<InverseRootHigh>;
  return key.options == kApprox ? inverse_root_of_double : nullptr;
}

}  // namespace

Execute approximation_handler(const AluKey& key) {
  if (key.rounding != Rounding::none) return nullptr;
  if (key.type == ptx::Type::f64) return double_handler(key);
  if (key.type != ptx::Type::f32) return nullptr;
  switch (key.op) {
    case AluOp::div:
      return quotient_handler(key);
    case AluOp::rcp:
      return single<KeptReciprocal, Alone<Reciprocal>>(key);
    case AluOp::rsqrt:
      return single<KeptRoot<InverseRoot, 0x1p12f>, Alone<InverseRoot>>(key);
    case AluOp::sqrt:
      return single<KeptRoot<SquareRoot, 0x1p-12f>, Alone<SquareRoot>>(key);
    case AluOp::ex2:
      return single<KeptExponential, Alone<Exponential>>(key);
    case AluOp::lg2:
      return single<KeptLogarithm, Alone<Logarithm>>(key);
    case AluOp::sin:
      return single<Alone<Sine<false>>, Alone<Sine<false>>>(key);
    case AluOp::cos:
      return single<Alone<Sine<true>>, Alone<Sine<true>>>(key);
    case AluOp::tanh:
      return key.options == kApprox ? of_one<Alone<Tangent>> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
