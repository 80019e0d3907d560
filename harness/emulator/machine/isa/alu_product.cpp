// Integer products: low, high and wide halves, 24-bit ones, dot products.
#include "harness/emulator/machine/isa/alu_families.h"
#include "harness/emulator/machine/isa/alu_lanes.h"
#include "harness/emulator/machine/isa/operators.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

constexpr auto kLow = []<typename T>(T a, T b) -> T {
  return static_cast<T>(static_cast<Modular<T>>(a) * static_cast<Modular<T>>(b));
};
constexpr auto kHigh = []<typename T>(T a, T b) -> T {
  using Bit2 = Bits<sizeof(T) * 2>;
  if constexpr (kIsSigned<T>) {
    using Wide = typename Bit2::Signed;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (sizeof(T) * 8));
  } else {
    using Wide = Modular<typename Bit2::Unsigned>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (sizeof(T) * 8));
  }
};
constexpr auto kLowPlus = []<typename T>(T a, T b, T c) -> T {
  return static_cast<T>(static_cast<Modular<T>>(kLow(a, b)) + static_cast<Modular<T>>(c));
};
constexpr auto kHighPlus = []<typename T>(T a, T b, T c) -> T {
  return static_cast<T>(static_cast<Modular<T>>(kHigh(a, b)) + static_cast<Modular<T>>(c));
};

s32 saturated_sum(s32 a, s32 b) {
  constexpr s64 kMost = 0x7fffffff;
  const s64 sum = s64{a} + b;
  return static_cast<s32>(sum > kMost ? kMost : sum < -kMost - 1 ? -kMost - 1 : sum);
}
constexpr auto kHighPlusSaturated = [](s32 a, s32 b, s32 c) -> s32 {
  return saturated_sum(kHigh(a, b), c);
};

/// The product of the low 24 bits: 48 bits.
template <typename T>
WARPGAUGE_INLINE s64 product24(T a, T b) {
  if constexpr (kIsSigned<T>) {
    return s64{static_cast<s32>(static_cast<u32>(a) << 8) >> 8} *
           s64{static_cast<s32>(static_cast<u32>(b) << 8) >> 8};
  } else {
    return static_cast<s64>(u64{a & 0xffffffu} * u64{b & 0xffffffu});
  }
}
constexpr auto kLow24 = []<typename T>(T a, T b) -> T { return static_cast<T>(product24(a, b)); };
constexpr auto kHigh24 = []<typename T>(T a, T b) -> T {
  return static_cast<T>(product24(a, b) >> 16);
};
constexpr auto kLow24Plus = []<typename T>(T a, T b, T c) -> T {
  return static_cast<T>(static_cast<u32>(kLow24(a, b)) + static_cast<u32>(c));
};
constexpr auto kHigh24Plus = []<typename T>(T a, T b, T c) -> T {
  return static_cast<T>(static_cast<u32>(kHigh24(a, b)) + static_cast<u32>(c));
};
constexpr auto kHigh24PlusSaturated = [](s32 a, s32 b, s32 c) -> s32 {
  return saturated_sum(kHigh24(a, b), c);
};

template <typename T, bool kPlus>
void wide(Warp& warp, const Instruction& instruction) {
  using Wide = typename Bits<sizeof(T) * 2>::Unsigned;
  using Product = Choose<kIsSigned<T>, Signed<Wide>, Wide>;
  const T* const a = lanes<T>(warp, instruction, 0);
  const T* const b = lanes<T>(warp, instruction, 1);
  if constexpr (kPlus) {
    const Wide* const c = lanes<Wide>(warp, instruction, 2);
    write<Wide>(warp, instruction, [=](int i) -> Wide {
      return static_cast<Wide>(static_cast<Modular<Wide>>(static_cast<Product>(a[i])) *
                                   static_cast<Modular<Wide>>(static_cast<Product>(b[i])) +
                               c[i]);
    });
  } else {
    write<Wide>(warp, instruction, [=](int i) -> Wide {
      return static_cast<Wide>(static_cast<Modular<Wide>>(static_cast<Product>(a[i])) *
                               static_cast<Modular<Wide>>(static_cast<Product>(b[i])));
    });
  }
}

template <bool kPlus>
Execute wide_handler(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::u16:
      return wide<u16, kPlus>;
    case Type::s16:
      return wide<s16, kPlus>;
    case Type::u32:
      return wide<u32, kPlus>;
    case Type::s32:
      return wide<s32, kPlus>;
    default:
      return nullptr;
  }
}

/// Byte or half `n` of a word, extended.
template <int kBits, bool kSigned>
WARPGAUGE_INLINE u32 part(u32 word, int n) {
  const u32 raised = word << (32 - kBits * (n + 1));
  if constexpr (kSigned) return static_cast<u32>(static_cast<s32>(raised) >> (32 - kBits));
  return raised >> (32 - kBits);
}

template <bool kSignedA, bool kSignedB>
constexpr auto kDot4 = [](u32 a, u32 b, u32 c) -> u32 {
  for (int n = 0; n < 4; ++n) c += part<8, kSignedA>(a, n) * part<8, kSignedB>(b, n);
  return c;
};
template <int kFirst, bool kSignedA, bool kSignedB>
constexpr auto kDot2 = [](u32 a, u32 b, u32 c) -> u32 {
  for (int n = 0; n < 2; ++n) c += part<16, kSignedA>(a, n) * part<8, kSignedB>(b, kFirst + n);
  return c;
};

template <bool kSignedA, bool kSignedB>
Execute dot_handler(AluOp op) {
  switch (op) {
    case AluOp::dp4a:
      return ternary<kDot4<kSignedA, kSignedB>, u32>;
    case AluOp::dp2a_lo:
      return ternary<kDot2<0, kSignedA, kSignedB>, u32>;
    case AluOp::dp2a_hi:
      return ternary<kDot2<2, kSignedA, kSignedB>, u32>;
    default:
      return nullptr;
  }
}
Execute dot_handler(const AluKey& key) {
  const bool signed_b = (key.options & alu_option::kSecondSigned) != 0;
  switch (key.type) {
    case ptx::Type::u32:
      return signed_b ? dot_handler<false, true>(key.op) : dot_handler<false, false>(key.op);
    case ptx::Type::s32:
      return signed_b ? dot_handler<true, true>(key.op) : dot_handler<true, false>(key.op);
    default:
      return nullptr;
  }
}

/// The 24-bit operations are of 32 bits only.
template <template <auto> typename Form, auto kFunction>
Execute word_handler(ptx::Type type) {
  switch (type) {
    case ptx::Type::u32:
      return Form<kFunction>::template kHandler<u32>;
    case ptx::Type::s32:
      return Form<kFunction>::template kHandler<s32>;
    default:
      return nullptr;
  }
}

}  // namespace

Execute integer_product_handler(const AluKey& key) {
  if (key.op == AluOp::dp4a || key.op == AluOp::dp2a_lo || key.op == AluOp::dp2a_hi) {
    return only(key, alu_option::kSecondSigned) ? dot_handler(key) : nullptr;
  }
  if (key.options == alu_option::kSat && key.type == ptx::Type::s32) {
    if (key.op == AluOp::mad_hi) return ternary<kHighPlusSaturated, s32>;
    if (key.op == AluOp::mad24_hi) return ternary<kHigh24PlusSaturated, s32>;
  }
  if (key.options != 0) return nullptr;
  switch (key.op) {
    case AluOp::mul:
      return modular_binary<kLow>(key.type);
    case AluOp::mul_hi:
      return signed_binary<kHigh>(key.type);
    case AluOp::mul_wide:
      return wide_handler<false>(key.type);
    case AluOp::mad:
      return modular_ternary<kLowPlus>(key.type);
    case AluOp::mad_hi:
      return signed_ternary<kHighPlus>(key.type);
    case AluOp::mad_wide:
      return wide_handler<true>(key.type);
    case AluOp::mul24_lo:
      return word_handler<Binary, kLow24>(key.type);
    case AluOp::mul24_hi:
      return word_handler<Binary, kHigh24>(key.type);
    case AluOp::mad24_lo:
      return word_handler<Ternary, kLow24Plus>(key.type);
    case AluOp::mad24_hi:
      return word_handler<Ternary, kHigh24Plus>(key.type);
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
