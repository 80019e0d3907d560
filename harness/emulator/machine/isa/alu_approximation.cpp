// The approximate functions: division, square roots, exponentials, logarithms, trigonometry. The
// hardware's tables are not documented; these results are closer to the exact ones than the PTX ISA
// asks for, the same on every instruction set (no fused operations), and follow its tables of
// special values.
#include "harness/emulator/machine/isa/alu_families.h"
#include "harness/emulator/machine/isa/approximations.h"
#include "harness/emulator/machine/isa/floats.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

using alu_option::kApprox;
using alu_option::kFtz;

template <auto kFunction, bool kFlush>
void approximate(Warp& warp, const Instruction& instruction) {
  const float* const a = lanes<float>(warp, instruction, 0);
  write<float>(warp, instruction, [=](int i) -> float {
    return canonical(flush_if<kFlush>(kFunction(flush_if<kFlush>(a[i]))));
  });
}

constexpr auto kExponential = [](float x) { return static_cast<float>(exp2_of(x)); };
constexpr auto kLogarithm = [](float x) { return static_cast<float>(log2_of(x)); };
constexpr auto kSine = [](float x) { return static_cast<float>(sine_of(x, 0)); };
constexpr auto kCosine = [](float x) { return static_cast<float>(sine_of(x, 0.25)); };
constexpr auto kTangent = [](float x) { return static_cast<float>(tanh_of(x)); };
constexpr auto kInverseRoot = [](float x) { return 1.0f / __builtin_sqrtf(x); };

/// div.approx is a product with the reciprocal, which is 0 for divisors above 2^126.
template <bool kFlush>
void divide(Warp& warp, const Instruction& instruction) {
  const float* const a = lanes<float>(warp, instruction, 0);
  const float* const b = lanes<float>(warp, instruction, 1);
  write<float>(warp, instruction, [=](int i) -> float {
    const float x = flush_if<kFlush>(a[i]), y = flush_if<kFlush>(b[i]);
    const float zero = bits_as<float>(bits_as<u32>(y) & 0x80000000);
    const float quotient = __builtin_fabsf(y) > 0x1p126f ? x * zero : x / y;
    return canonical(flush_if<kFlush>(quotient));
  });
}

/// The gross approximations of f64: of the upper half of the value, into the upper half of the
/// result. Subnormal values are zeros, and so are subnormal results.
template <bool kRoot>
void gross(Warp& warp, const Instruction& instruction) {
  const u64* const a = lanes<u64>(warp, instruction, 0);
  write<u64>(warp, instruction, [=](int i) -> u64 {
    constexpr u64 kUpper = 0xffffffff00000000, kExponent = 0x7ff0000000000000;
    const u64 sign = a[i] & (u64{1} << 63);
    const u64 bits = (a[i] & kExponent) == 0 ? sign : a[i] & kUpper;
    const double value =
        is_nan(bits_as<double>(a[i])) ? bits_as<double>(a[i]) : bits_as<double>(bits);
    const u64 result = bits_as<u64>(1 / (kRoot ? __builtin_sqrt(value) : value));
    if (is_nan(bits_as<double>(result))) return 0x7fffffff00000000;
    return (result & kExponent) == 0 ? result & (u64{1} << 63) : result & kUpper;
  });
}

/// rsqrt.approx.f64 with subnormal values.
void inverse_root(Warp& warp, const Instruction& instruction) {
  const double* const a = lanes<double>(warp, instruction, 0);
  write<double>(warp, instruction, [=](int i) { return 1 / __builtin_sqrt(a[i]); });
}

template <auto kFunction>
Execute single(const AluKey& key) {
  if (key.options == kApprox) return approximate<kFunction, false>;
  return key.options == (kApprox | kFtz) ? approximate<kFunction, true> : nullptr;
}

Execute double_handler(const AluKey& key) {
  if (key.op == AluOp::rcp && key.options == (kApprox | kFtz)) return gross<false>;
  if (key.op != AluOp::rsqrt) return nullptr;
  if (key.options == (kApprox | kFtz)) return gross<true>;
  return key.options == kApprox ? inverse_root : nullptr;
}

}  // namespace

Execute approximation_handler(const AluKey& key) {
  if (key.rounding != Rounding::none) return nullptr;
  if (key.type == ptx::Type::f64) return double_handler(key);
  if (key.type != ptx::Type::f32) return nullptr;
  switch (key.op) {
    case AluOp::div:
      return key.options == kApprox            ? divide<false>
             : key.options == (kApprox | kFtz) ? divide<true>
                                               : nullptr;
    case AluOp::rsqrt:
      return single<kInverseRoot>(key);
    case AluOp::ex2:
      return single<kExponential>(key);
    case AluOp::lg2:
      return single<kLogarithm>(key);
    case AluOp::sin:
      return single<kSine>(key);
    case AluOp::cos:
      return single<kCosine>(key);
    case AluOp::tanh:
      return key.options == kApprox ? single<kTangent>(key) : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
