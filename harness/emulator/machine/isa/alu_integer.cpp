// Integer arithmetic: sums, quotients, extremes.
#include "harness/emulator/machine/isa/alu_families.h"
#include "harness/emulator/machine/isa/alu_lanes.h"
#include "harness/emulator/machine/isa/operators.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

constexpr auto kAdd = []<typename T>(T a, T b) -> T {
  return static_cast<T>(static_cast<Modular<T>>(a) + static_cast<Modular<T>>(b));
};
constexpr auto kSubtract = []<typename T>(T a, T b) -> T {
  return static_cast<T>(static_cast<Modular<T>>(a) - static_cast<Modular<T>>(b));
};
constexpr auto kNegate = []<typename T>(T a) -> T {
  return static_cast<T>(Modular<T>{0} - static_cast<Modular<T>>(a));
};
constexpr auto kAbsolute = []<typename T>(T a) -> T { return a < 0 ? kNegate(a) : a; };
constexpr auto kMinimum = []<typename T>(T a, T b) -> T { return b < a ? b : a; };
constexpr auto kMaximum = []<typename T>(T a, T b) -> T { return a < b ? b : a; };
constexpr auto kMinimumRelu = []<typename T>(T a, T b) -> T {
  return kMaximum(kMinimum(a, b), T{0});
};
constexpr auto kMaximumRelu = []<typename T>(T a, T b) -> T {
  return kMaximum(kMaximum(a, b), T{0});
};
constexpr auto kSumOfDifference = []<typename T>(T a, T b, T c) -> T {
  return kAdd(c, a < b ? kSubtract(b, a) : kSubtract(a, b));
};

s32 saturated(s64 value) {
  constexpr s64 kMost = 0x7fffffff;
  return static_cast<s32>(value > kMost ? kMost : value < -kMost - 1 ? -kMost - 1 : value);
}
constexpr auto kAddSaturated = [](s32 a, s32 b) { return saturated(s64{a} + b); };
constexpr auto kSubtractSaturated = [](s32 a, s32 b) { return saturated(s64{a} - b); };

// Quotients. By zero the hardware gives all ones, for the remainder too; the most negative number
// by -1 wraps. Up to 32 bits a floating-point quotient, rounded, never reaches the next integer:
// the true one is at least 1 / (quotient * divisor) away, in relation, and that is more than half a
// unit in its last place.
template <typename T>
WARPGAUGE_INLINE T quotient(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    if (b == 0) return static_cast<T>(-1);
    if (kIsSigned<T> && b == static_cast<T>(-1)) return kNegate(a);
    return a / b;
  } else {
    using Real = Choose<sizeof(T) == 4, double, float>;
    using Wide = Choose<sizeof(T) == 4, T, s32>;  // what the host converts best
    const bool negates = kIsSigned<T> && b == static_cast<T>(-1);
    const Wide divisor = b == 0 || negates ? 1 : b;
    const Real exact = static_cast<Real>(static_cast<Wide>(a)) / static_cast<Real>(divisor);
    s32 result = 0;
    if constexpr (kSame<T, u32>) {
      const bool large = exact >= 0x1p31;
      result = static_cast<s32>(static_cast<u32>(static_cast<s32>(large ? exact - 0x1p31 : exact)) +
                                (large ? 0x80000000 : 0));
    } else {
      result = static_cast<s32>(exact);
    }
    return b == 0 ? static_cast<T>(-1) : negates ? kNegate(a) : static_cast<T>(result);
  }
}
constexpr auto kQuotient = []<typename T>(T a, T b) -> T { return quotient(a, b); };
constexpr auto kRemainder = []<typename T>(T a, T b) -> T {
  const Modular<T> product = static_cast<Modular<T>>(quotient(a, b)) * static_cast<Modular<T>>(b);
  const T rest = static_cast<T>(static_cast<Modular<T>>(a) - product);
  return b == 0 ? static_cast<T>(-1) : rest;
};

/// The handlers of s16x2 and u16x2.
Execute packed_handler(const AluKey& key) {
  const bool is_signed = key.type == ptx::Type::s16;
  if (!is_signed && key.type != ptx::Type::u16) return nullptr;
  const bool relu = (key.options & alu_option::kRelu) != 0;
  if (relu && !is_signed) return nullptr;
  switch (key.op) {
    case AluOp::add:
      return relu ? nullptr : binary<kAdd, u16, 2>;
    case AluOp::min:
      return relu        ? binary<kMinimumRelu, s16, 2>
             : is_signed ? binary<kMinimum, s16, 2>
                         : binary<kMinimum, u16, 2>;
    case AluOp::max:
      return relu        ? binary<kMaximumRelu, s16, 2>
             : is_signed ? binary<kMaximum, s16, 2>
                         : binary<kMaximum, u16, 2>;
    default:
      return nullptr;
  }
}

}  // namespace

Execute integer_handler(const AluKey& key) {
  using ptx::Type;
  if ((key.options & alu_option::kPacked) != 0) {
    return only(key, alu_option::kPacked | alu_option::kRelu) ? packed_handler(key) : nullptr;
  }
  if (key.options != 0) {
    if (key.type != Type::s32) return nullptr;
    if (key.options == alu_option::kSat && key.op == AluOp::add) return binary<kAddSaturated, s32>;
    if (key.options == alu_option::kSat && key.op == AluOp::sub) {
      return binary<kSubtractSaturated, s32>;
    }
    if (key.options == alu_option::kRelu && key.op == AluOp::min) return binary<kMinimumRelu, s32>;
    if (key.options == alu_option::kRelu && key.op == AluOp::max) return binary<kMaximumRelu, s32>;
    return nullptr;
  }
  switch (key.op) {
    case AluOp::add:
      return modular_binary<kAdd>(key.type);
    case AluOp::sub:
      return modular_binary<kSubtract>(key.type);
    case AluOp::neg:
      return modular_unary<kNegate>(key.type);
    case AluOp::abs:
      return signed_unary<kAbsolute>(key.type);
    case AluOp::min:
      return signed_binary<kMinimum>(key.type);
    case AluOp::max:
      return signed_binary<kMaximum>(key.type);
    case AluOp::div:
      return signed_binary<kQuotient>(key.type);
    case AluOp::rem:
      return signed_binary<kRemainder>(key.type);
    case AluOp::sad:
      return signed_ternary<kSumOfDifference>(key.type);
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
