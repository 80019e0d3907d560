// Bits and bytes within integers: permutation of bytes, counts, searches and fields.
#include "harness/emulator/machine/isa/alu_families.h"
#include "harness/emulator/machine/isa/alu_lanes.h"
#include "harness/emulator/machine/isa/operators.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// Bytes of b:a, chosen by the four nibbles of c; bit 3 of a nibble spreads the byte's sign.
constexpr auto kPermute = [](u32 a, u32 b, u32 c) -> u32 {
  const u64 both = u64{b} << 32 | a;
  u32 result = 0;
  for (int n = 0; n < 4; ++n) {
    const u32 selector = c >> (4 * n) & 15;
    const u32 byte = static_cast<u32>(both >> (8 * (selector & 7))) & 0xff;
    const u32 sign = (byte & 0x80) != 0 ? 0xff : 0;
    result |= ((selector & 8) != 0 ? sign : byte) << (8 * n);
  }
  return result;
};
/// The modes that have names choose by the two lowest bits of c: byte n is that with this number.
WARPGAUGE_INLINE int byte_of_mode(AluOp mode, int n, int c) {
  switch (mode) {
    case AluOp::prmt_f4e:
      return c + n;
    case AluOp::prmt_b4e:
      return (c - n) & 7;
    case AluOp::prmt_rc8:
      return c;
    case AluOp::prmt_ecl:
      return n > c ? n : c;
    case AluOp::prmt_ecr:
      return n < c ? n : c;
    default:
      return (c & 1) * 2 + (n & 1);  // rc16
  }
}
template <AluOp kMode>
constexpr auto kPermuteMode = [](u32 a, u32 b, u32 c) -> u32 {
  const u64 both = u64{b} << 32 | a;
  u32 result = 0;
  for (int n = 0; n < 4; ++n) {
    const int byte = byte_of_mode(kMode, n, static_cast<int>(c & 3));
    result |= (static_cast<u32>(both >> (8 * byte)) & 0xff) << (8 * n);
  }
  return result;
};

constexpr auto kPopulation = []<typename T>(T a) -> u32 {
  // Sums of neighbouring bits, pairs, nibbles, then bytes: vectorises everywhere.
  using U = Unsigned<T>;
  U x = static_cast<U>(a);
  x -= x >> 1 & static_cast<U>(0x5555555555555555);
  x = (x & static_cast<U>(0x3333333333333333)) + (x >> 2 & static_cast<U>(0x3333333333333333));
  x = (x + (x >> 4)) & static_cast<U>(0x0f0f0f0f0f0f0f0f);
  return static_cast<u32>(x * static_cast<U>(0x0101010101010101) >> (sizeof(T) * 8 - 8));
};
constexpr auto kLeadingZeros = []<typename T>(T a) -> u32 {
  if (a == 0) return sizeof(T) * 8;
  if constexpr (sizeof(T) == 8) return static_cast<u32>(__builtin_clzll(a));
  return static_cast<u32>(__builtin_clz(static_cast<u32>(a)));
};
/// Number of the highest bit that differs from the sign (of unsigned values: that is set).
template <bool kShiftAmount>
constexpr auto kFind = []<typename T>(T a) -> u32 {
  using U = Unsigned<T>;
  const U bits = static_cast<U>(kIsSigned<T> && a < 0 ? ~a : a);
  const u32 zeros = kLeadingZeros(bits);
  if (bits == 0) return 0xffffffff;
  return kShiftAmount ? zeros : sizeof(T) * 8 - 1 - zeros;
};
template <auto kFunction, typename T>
void count(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  write<u32>(warp, instruction, [=](int i) { return kFunction(a[i]); });
}

constexpr auto kReverse = []<typename T>(T a) -> T {
  using U = Unsigned<T>;
  const auto swap = [](U x, int n, u64 low) {
    return static_cast<U>((x >> n & static_cast<U>(low)) | (x & static_cast<U>(low)) << n);
  };
  U x = swap(swap(swap(a, 1, 0x5555555555555555), 2, 0x3333333333333333), 4, 0x0f0f0f0f0f0f0f0f);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(x);
  return __builtin_bswap32(static_cast<u32>(x));
};

/// Position of the n-th set bit of `mask`, counted from `base`, upwards or downwards.
constexpr auto kFindNth = [](u32 mask, u32 base, u32 n) -> u32 {
  const s32 offset = static_cast<s32>(n);
  if (base > 31) return 0xffffffff;
  if (offset == 0) return (mask >> base & 1) != 0 ? base : 0xffffffff;
  const int step = offset > 0 ? 1 : -1;
  s64 left = offset > 0 ? s64{offset} : -s64{offset};
  for (int position = static_cast<int>(base); position >= 0 && position < 32; position += step) {
    if ((mask >> position & 1) != 0 && --left == 0) return static_cast<u32>(position);
  }
  return 0xffffffff;
};

/// `length` ones; all of the type from its width on.
template <typename U>
WARPGAUGE_INLINE U ones(u32 length) {
  constexpr u32 kWidth = sizeof(U) * 8;
  return length >= kWidth ? static_cast<U>(~U{0}) : (U{1} << (length & (kWidth - 1))) - 1;
}

template <typename T>
void extract_field(Warp& warp, const Instruction& instruction) {
  using U = Unsigned<T>;
  constexpr u32 kWidth = sizeof(T) * 8;
  const U* const a = lanes<U>(warp, instruction, 0);
  const u32* const b = lanes<u32>(warp, instruction, 1);
  const u32* const c = lanes<u32>(warp, instruction, 2);
  write<U>(warp, instruction, [=](int i) -> U {
    const u32 position = b[i] & 0xff, length = c[i] & 0xff;
    const U shifted = position < kWidth ? a[i] >> (position & (kWidth - 1)) : U{0};
    const U mask = ones<U>(length);
    if constexpr (!kIsSigned<T>) return shifted & mask;
    // The sign is the field's highest bit, or the value's where the field reaches beyond it.
    const u32 top = position + length - 1;
    const u32 sign_bit = top < kWidth ? top : kWidth - 1;
    const bool negative = length != 0 && (a[i] >> (sign_bit & (kWidth - 1)) & 1) != 0;
    const U inside = position < kWidth ? mask & ones<U>(kWidth - position) : U{0};
    return (shifted & inside) | (negative ? static_cast<U>(~inside) : U{0});
  });
}

template <typename U>
void insert_field(Warp& warp, const Instruction& instruction) {
  constexpr u32 kWidth = sizeof(U) * 8;
  const U* const a = lanes<U>(warp, instruction, 0);
  const U* const b = lanes<U>(warp, instruction, 1);
  const u32* const c = lanes<u32>(warp, instruction, 2);
  const u32* const d = lanes<u32>(warp, instruction, 3);
  write<U>(warp, instruction, [=](int i) -> U {
    const u32 position = c[i] & 0xff, length = d[i] & 0xff;
    const u32 shift = position & (kWidth - 1);
    const U mask = position < kWidth ? ones<U>(length) << shift : U{0};
    return (b[i] & ~mask) | (a[i] << shift & mask);
  });
}

template <bool kSigned, bool kWrap>
constexpr auto kExtend = [](u32 a, u32 b) -> u32 {
  const u32 length = b & 31;
  const bool too_large = !kWrap && b >= 32;
  const u32 above = too_large ? 0 : ~u32{0} << length;
  const bool negative = kSigned && length != 0 && !too_large && (a >> ((length - 1) & 31) & 1) != 0;
  return (a & ~above) | (negative ? above : 0);
};
/// `b` ones from bit `a` on.
template <bool kWrap>
constexpr auto kBitMask = [](u32 a, u32 b) -> u32 {
  const u32 position = a & 31, end = position + (b & 31);
  const u32 from = !kWrap && a >= 32 ? 0 : ~u32{0} << position;
  const bool to_the_top = end >= 32 || (!kWrap && (a >= 32 || b >= 32));
  return from & ~(to_the_top ? 0 : ~u32{0} << (end & 31));
};

Execute find_handler(const AluKey& key) {
  using ptx::Type;
  const bool amount = (key.options & alu_option::kShiftAmount) != 0;
  switch (key.type) {
    case Type::u32:
      return amount ? count<kFind<true>, u32> : count<kFind<false>, u32>;
    case Type::s32:
      return amount ? count<kFind<true>, s32> : count<kFind<false>, s32>;
    case Type::u64:
      return amount ? count<kFind<true>, u64> : count<kFind<false>, u64>;
    case Type::s64:
      return amount ? count<kFind<true>, s64> : count<kFind<false>, s64>;
    default:
      return nullptr;
  }
}

Execute field_handler(const AluKey& key) {
  using ptx::Type;
  switch (key.type) {
    case Type::u32:
      return extract_field<u32>;
    case Type::s32:
      return extract_field<s32>;
    case Type::u64:
      return extract_field<u64>;
    case Type::s64:
      return extract_field<s64>;
    default:
      return nullptr;
  }
}

/// Operations with a mode: .wrap or .clamp, of 32 bits.
Execute modal_handler(const AluKey& key) {
  const bool wrap = (key.options & alu_option::kWrap) != 0;
  const bool is_signed = key.type == ptx::Type::s32;
  if (!is_signed && key.type != ptx::Type::u32) return nullptr;
  switch (key.op) {
    case AluOp::szext:
      if (is_signed) {
        return wrap ? binary<kExtend<true, true>, u32> : binary<kExtend<true, false>, u32>;
      }
      return wrap ? binary<kExtend<false, true>, u32> : binary<kExtend<false, false>, u32>;
    case AluOp::bmsk:
      return wrap ? binary<kBitMask<true>, u32> : binary<kBitMask<false>, u32>;
    default:
      return nullptr;
  }
}

Execute word_handler(AluOp op) {
  switch (op) {
    case AluOp::prmt:
      return ternary<kPermute, u32>;
    case AluOp::prmt_f4e:
      return ternary<kPermuteMode<AluOp::prmt_f4e>, u32>;
    case AluOp::prmt_b4e:
      return ternary<kPermuteMode<AluOp::prmt_b4e>, u32>;
    case AluOp::prmt_rc8:
      return ternary<kPermuteMode<AluOp::prmt_rc8>, u32>;
    case AluOp::prmt_ecl:
      return ternary<kPermuteMode<AluOp::prmt_ecl>, u32>;
    case AluOp::prmt_ecr:
      return ternary<kPermuteMode<AluOp::prmt_ecr>, u32>;
    case AluOp::prmt_rc16:
      return ternary<kPermuteMode<AluOp::prmt_rc16>, u32>;
    case AluOp::fns:
      return ternary<kFindNth, u32>;
    default:
      return nullptr;
  }
}

}  // namespace

Execute bits_handler(const AluKey& key) {
  using ptx::Type;
  if (key.op == AluOp::bfind) {
    return only(key, alu_option::kShiftAmount) ? find_handler(key) : nullptr;
  }
  if (!only(key, alu_option::kWrap)) return nullptr;
  if (const Execute execute = modal_handler(key)) return execute;
  if (key.options != 0) return nullptr;
  if (key.op == AluOp::bfe) return field_handler(key);
  const bool is_long = key.type == Type::u64;
  const bool word_or_long = key.type == Type::u32 || is_long;
  if (!word_or_long) return nullptr;
  switch (key.op) {
    case AluOp::popc:
      return is_long ? count<kPopulation, u64> : count<kPopulation, u32>;
    case AluOp::clz:
      return is_long ? count<kLeadingZeros, u64> : count<kLeadingZeros, u32>;
    case AluOp::brev:
      return is_long ? unary<kReverse, u64> : unary<kReverse, u32>;
    case AluOp::bfi:
      return is_long ? insert_field<u64> : insert_field<u32>;
    default:
      return is_long ? nullptr : word_handler(key.op);
  }
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
