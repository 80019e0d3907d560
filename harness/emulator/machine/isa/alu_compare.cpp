// Comparison and selection: setp, set, testp, selp, slct.
#include "harness/emulator/machine/isa/alu_families.h"
#include "harness/emulator/machine/isa/alu_lanes.h"
#include "harness/emulator/machine/isa/floats.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

template <Comparison kComparison, typename T>
WARPGAUGE_INLINE bool compare(T a, T b) {
  switch (kComparison) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return (a < b) | (a > b);
    case Comparison::lt:
      return a < b;
    case Comparison::le:
      return a <= b;
    case Comparison::gt:
      return a > b;
    case Comparison::ge:
      return a >= b;
    case Comparison::equ:
      return !((a < b) | (a > b));
    case Comparison::neu:
      return a != b;
    case Comparison::ltu:
      return !(a >= b);
    case Comparison::leu:
      return !(a > b);
    case Comparison::gtu:
      return !(a <= b);
    case Comparison::geu:
      return !(a < b);
    case Comparison::num:
      return (a == a) & (b == b);
    case Comparison::nan:
      return (a != a) | (b != b);
    default:
      return false;
  }
}

/// The operand type of a comparison; integers compare with C++'s own operators.
template <Comparison kComparison, bool kFtz, typename T>
WARPGAUGE_INLINE bool compare_values(T a, T b) {
  if constexpr (kSame<T, float>) {
    return compare<kComparison>(flush_if<kFtz>(a), flush_if<kFtz>(b));
  } else if constexpr (kSame<T, Half>) {
    const float x = widen(a), y = widen(b);
    // The smallest normal half is 2^-14.
    return compare<kComparison>(kFtz && __builtin_fabsf(x) < 0x1p-14f ? 0.0f : x,
                                kFtz && __builtin_fabsf(y) < 0x1p-14f ? 0.0f : y);
  } else if constexpr (kSame<T, BFloat>) {
    return compare<kComparison>(widen(a), widen(b));
  } else if constexpr (kComparison == Comparison::ne && !kSame<T, double>) {
    return a != b;
  } else {
    return compare<kComparison>(a, b);
  }
}

template <Comparison kComparison, bool kFtz, typename T>
WARPGAUGE_INLINE Mask comparison_mask(const T* a, const T* b) {
  using Compared = Choose<kSame<T, Half> || kSame<T, BFloat>, float, T>;
  return mask_of<Compared>([=](int i) { return compare_values<kComparison, kFtz>(a[i], b[i]); });
}

WARPGAUGE_INLINE Mask combine(Mask mask, Mask c, std::uint16_t flags) {
  switch ((flags & alu_flag::kCombineMask) >> alu_flag::kCombineShift) {
    case alu_flag::kAnd:
      return mask & c;
    case alu_flag::kOr:
      return mask | c;
    case alu_flag::kXor:
      return mask ^ c;
    default:
      return mask;
  }
}

/// The rest of setp p|q: p = comparison with c, q = its negation with c.
void set_predicates(Warp& warp, const Instruction& instruction, Mask mask) {
  const bool combined = (instruction.flags & alu_flag::kCombineMask) != 0;
  const Mask c = combined ? predicate(warp, instruction, 2) : 0;
  write_predicate(warp, destination<Mask>(warp, instruction), combine(mask, c, instruction.flags));
  if ((instruction.flags & alu_flag::kSecondDestination) != 0) {
    write_predicate(warp, second_destination<Mask>(warp, instruction),
                    combine(~mask, c, instruction.flags));
  }
}

template <Comparison kComparison, bool kFtz, typename T>
void setp(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  const T* const b = lanes<T>(warp, instruction, 1);
  const Mask mask = comparison_mask<kComparison, kFtz>(a, b);
  if ((instruction.flags & (alu_flag::kCombineMask | alu_flag::kSecondDestination)) == 0) {
    write_predicate(warp, destination<Mask>(warp, instruction), mask);
  } else {
    set_predicates(warp, instruction, mask);
  }
}

/// setp of f16x2, bf16x2: p of the low halves, q of the high ones, each combined with c.
template <Comparison kComparison, bool kFtz, typename T>
void setp_packed(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  const T* const b = lanes<T>(warp, instruction, 1);
  const bool combined = (instruction.flags & alu_flag::kCombineMask) != 0;
  const Mask c = combined ? predicate(warp, instruction, 2) : 0;
  const auto half = [=](int n) {
    return mask_of(
        [=](int i) { return compare_values<kComparison, kFtz>(a[2 * i + n], b[2 * i + n]); });
  };
  const Mask low = half(0), high = half(1);
  write_predicate(warp, destination<Mask>(warp, instruction), combine(low, c, instruction.flags));
  write_predicate(warp, second_destination<Mask>(warp, instruction),
                  combine(high, c, instruction.flags));
}

/// set: what a lane gets if the comparison holds, 0 otherwise.
template <typename T>
void write_truth(Warp& warp, const Instruction& instruction, Mask mask, T truth) {
  if ((instruction.flags & alu_flag::kCombineMask) != 0) {
    mask = combine(mask, predicate(warp, instruction, 2), instruction.flags);
  }
  write<T>(warp, instruction, [=](int i) -> T { return (mask >> i & 1) != 0 ? truth : T{0}; });
}

template <Comparison kComparison, bool kFtz, typename T>
void set(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  const T* const b = lanes<T>(warp, instruction, 1);
  const Mask mask = comparison_mask<kComparison, kFtz>(a, b);
  const u32 truth = static_cast<u32>(instruction.offset);
  if (instruction.offset >> 32 != 0) {  // a destination of 16 bits
    write_truth<u16>(warp, instruction, mask, static_cast<u16>(truth));
  } else {
    write_truth<u32>(warp, instruction, mask, truth);
  }
}

/// set of f16x2, bf16x2: each half of the destination is the truth value of its half.
template <Comparison kComparison, bool kFtz, typename T>
void set_packed(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  const T* const b = lanes<T>(warp, instruction, 1);
  const bool combined = (instruction.flags & alu_flag::kCombineMask) != 0;
  const Mask c = combined ? predicate(warp, instruction, 2) : 0;
  const std::uint16_t flags = instruction.flags;
  const u16 truth = static_cast<u16>(instruction.offset);
  write<u16, 2>(warp, instruction, [=](int i) -> u16 {
    const Mask here = compare_values<kComparison, kFtz>(a[i], b[i]) ? 1 : 0;
    return (combine(here, c >> (i / 2), flags) & 1) != 0 ? truth : u16{0};
  });
}

template <Comparison kComparison, bool kFtz, typename T>
Execute form(const AluKey& key) {
  const bool packed = (key.options & alu_option::kPacked) != 0;
  if constexpr (sizeof(T) == 2 && (kSame<T, Half> || kSame<T, BFloat>)) {
    if (packed) {
      return key.op == AluOp::set ? set_packed<kComparison, kFtz, T>
                                  : setp_packed<kComparison, kFtz, T>;
    }
  }
  if (packed) return nullptr;
  return key.op == AluOp::set ? set<kComparison, kFtz, T> : setp<kComparison, kFtz, T>;
}

template <typename T>
Execute integer_comparison(const AluKey& key) {
  if (key.options != 0) return nullptr;
  // Equality of signed values is that of unsigned ones.
  using U = Unsigned<T>;
  switch (key.comparison) {
    case Comparison::eq:
      return form<Comparison::eq, false, U>(key);
    case Comparison::ne:
      return form<Comparison::ne, false, U>(key);
    case Comparison::lt:
      return form<Comparison::lt, false, T>(key);
    case Comparison::le:
      return form<Comparison::le, false, T>(key);
    case Comparison::gt:
      return form<Comparison::gt, false, T>(key);
    case Comparison::ge:
      return form<Comparison::ge, false, T>(key);
    default:
      return nullptr;
  }
}

template <typename T, bool kFtz>
Execute float_comparison(const AluKey& key) {
  switch (key.comparison) {
    case Comparison::eq:
      return form<Comparison::eq, kFtz, T>(key);
    case Comparison::ne:
      return form<Comparison::ne, kFtz, T>(key);
    case Comparison::lt:
      return form<Comparison::lt, kFtz, T>(key);
    case Comparison::le:
      return form<Comparison::le, kFtz, T>(key);
    case Comparison::gt:
      return form<Comparison::gt, kFtz, T>(key);
    case Comparison::ge:
      return form<Comparison::ge, kFtz, T>(key);
    case Comparison::equ:
      return form<Comparison::equ, kFtz, T>(key);
    case Comparison::neu:
      return form<Comparison::neu, kFtz, T>(key);
    case Comparison::ltu:
      return form<Comparison::ltu, kFtz, T>(key);
    case Comparison::leu:
      return form<Comparison::leu, kFtz, T>(key);
    case Comparison::gtu:
      return form<Comparison::gtu, kFtz, T>(key);
    case Comparison::geu:
      return form<Comparison::geu, kFtz, T>(key);
    case Comparison::num:
      return form<Comparison::num, kFtz, T>(key);
    case Comparison::nan:
      return form<Comparison::nan, kFtz, T>(key);
    default:
      return nullptr;
  }
}

Execute comparison_handler(const AluKey& key) {
  using ptx::Type;
  if (!only(key, alu_option::kFtz | alu_option::kPacked)) return nullptr;
  const bool ftz = (key.options & alu_option::kFtz) != 0;
  switch (key.op == AluOp::set ? key.from : key.type) {
    case Type::u16:
      return integer_comparison<u16>(key);
    case Type::s16:
      return integer_comparison<s16>(key);
    case Type::u32:
      return integer_comparison<u32>(key);
    case Type::s32:
      return integer_comparison<s32>(key);
    case Type::u64:
      return integer_comparison<u64>(key);
    case Type::s64:
      return integer_comparison<s64>(key);
    case Type::f16:
      return ftz ? float_comparison<Half, true>(key) : float_comparison<Half, false>(key);
    case Type::bf16:
      return ftz ? nullptr : float_comparison<BFloat, false>(key);
    case Type::f32:
      return ftz ? float_comparison<float, true>(key) : float_comparison<float, false>(key);
    case Type::f64:
      return ftz ? nullptr : float_comparison<double, false>(key);
    default:
      return nullptr;
  }
}

/// testp: classes of values, by their bits.
template <typename T, Comparison kClass>
void testp(Warp& warp, const Instruction& instruction) {
  using U = Unsigned<T>;
  constexpr U kInfinity = sizeof(T) == 4 ? U{0x7f800000} : static_cast<U>(0x7ff0000000000000);
  constexpr U kSmallestNormal = sizeof(T) == 4 ? U{0x00800000} : static_cast<U>(0x0010000000000000);
  const U* const a = lanes<U>(warp, instruction, 0);
  const Mask mask = mask_of([=](int i) -> bool {
    const U magnitude = a[i] & (static_cast<U>(~U{0}) >> 1);
    switch (kClass) {
      case Comparison::finite:
        return magnitude < kInfinity;
      case Comparison::infinite:
        return magnitude == kInfinity;
      case Comparison::number:
        return magnitude <= kInfinity;
      case Comparison::notanumber:
        return magnitude > kInfinity;
      case Comparison::normal:
        return (magnitude >= kSmallestNormal) & (magnitude < kInfinity);
      default:
        return (magnitude < kSmallestNormal) & (magnitude != 0);
    }
  });
  write_predicate(warp, destination<Mask>(warp, instruction), mask);
}

template <typename T>
Execute test_handler(Comparison asked) {
  switch (asked) {
    case Comparison::finite:
      return testp<T, Comparison::finite>;
    case Comparison::infinite:
      return testp<T, Comparison::infinite>;
    case Comparison::number:
      return testp<T, Comparison::number>;
    case Comparison::notanumber:
      return testp<T, Comparison::notanumber>;
    case Comparison::normal:
      return testp<T, Comparison::normal>;
    case Comparison::subnormal:
      return testp<T, Comparison::subnormal>;
    default:
      return nullptr;
  }
}

template <typename T>
void selp(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  const T* const b = lanes<T>(warp, instruction, 1);
  const Mask c = predicate(warp, instruction, 2);
  T* const d = destination<T>(warp, instruction);
  if (warp.active == kAllLanes) {
    select_lanes(d, c, a, b);
  } else {
    alignas(64) T chosen[kLanes];
    select_lanes(chosen, c, a, b);
    blend(d, chosen, warp.active);
  }
}

/// slct: a where c >= 0. A NaN is not; -0 is.
template <typename T, typename C, bool kFtz>
void slct(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  const T* const b = lanes<T>(warp, instruction, 1);
  const C* const c = lanes<C>(warp, instruction, 2);
  write<T>(warp, instruction, [=](int i) -> T {
    if constexpr (kFtz) return flush(c[i]) >= C{0} ? a[i] : b[i];
    return c[i] >= C{0} ? a[i] : b[i];
  });
}

template <typename T>
Execute slct_handler(const AluKey& key) {
  if (key.from == ptx::Type::s32 && key.options == 0) return slct<T, s32, false>;
  if (key.from == ptx::Type::f32) {
    if (key.options == alu_option::kFtz) return slct<T, float, true>;
    if (key.options == 0) return slct<T, float, false>;
  }
  return nullptr;
}

}  // namespace

Execute compare_handler(const AluKey& key) {
  using ptx::Type;
  switch (key.op) {
    case AluOp::setp:
    case AluOp::set:
      return comparison_handler(key);
    case AluOp::testp:
      if (key.options != 0) return nullptr;
      return key.type == Type::f32   ? test_handler<float>(key.comparison)
             : key.type == Type::f64 ? test_handler<double>(key.comparison)
                                     : nullptr;
    case AluOp::selp:
      if (key.options != 0) return nullptr;
      return key.type == Type::u16   ? selp<u16>
             : key.type == Type::u32 ? selp<u32>
             : key.type == Type::u64 ? selp<u64>
                                     : nullptr;
    case AluOp::slct:
      return key.type == Type::u16   ? slct_handler<u16>(key)
             : key.type == Type::u32 ? slct_handler<u32>(key)
             : key.type == Type::u64 ? slct_handler<u64>(key)
                                     : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
