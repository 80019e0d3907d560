// Arithmetic with the carry bit: add.cc, addc, sub.cc, subc, mad.cc, madc.
#include "harness/emulator/machine/isa/alu_families.h"
#include "harness/emulator/machine/isa/lanes.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

enum class Term { sum, difference, low_product, high_product };

/// The operands of an addition or subtraction.
template <typename T, Term kTerm>
WARPGAUGE_INLINE Unsigned<T> first_term(T a, T b) {
  using U = Unsigned<T>;
  if constexpr (kTerm == Term::low_product) return static_cast<U>(a) * static_cast<U>(b);
  if constexpr (kTerm == Term::high_product) {
    using Both = Bits<sizeof(T) * 2>;
    using Wide = Choose<kIsSigned<T>, typename Both::Signed, typename Both::Unsigned>;
    return static_cast<U>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (sizeof(T) * 8));
  }
  return static_cast<U>(a);
}

/// a + b + carry in, or a - b - borrow in; the carry or borrow out of a lane is bit i of
/// warp.carry.
template <typename T, Term kTerm, bool kIn, bool kOut>
void with_carry(Warp& warp, const Instruction& instruction) {
  using U = Unsigned<T>;
  constexpr bool kProduct = kTerm == Term::low_product || kTerm == Term::high_product;
  const T* const a = lanes<T>(warp, instruction, 0);
  const T* const b = lanes<T>(warp, instruction, 1);
  const U* const addend = lanes<U>(warp, instruction, kProduct ? 2 : 1);
  const Mask carry = kIn ? warp.carry : 0;
  const auto in = [=](int i) { return static_cast<U>((carry >> i) & 1); };
  const auto out = [=](int i) {
    const U x = first_term<T, kTerm>(a[i], b[i]), y = addend[i];
    if constexpr (kTerm == Term::difference) {
      return (x < y) | ((x == y) & (in(i) != 0));
    } else {
      const U sum = static_cast<U>(x + y);
      return (sum < x) | (static_cast<U>(sum + in(i)) < sum);
    }
  };
  if constexpr (kOut) {
    const Mask mask = mask_of(out);
    warp.carry = (warp.carry & ~warp.active) | (mask & warp.active);
  }
  write<U>(warp, instruction, [=](int i) -> U {
    const U x = first_term<T, kTerm>(a[i], b[i]);
    return kTerm == Term::difference ? x - addend[i] - in(i) : x + addend[i] + in(i);
  });
}

template <typename T, Term kTerm>
Execute carries(const AluKey& key) {
  switch (key.options) {
    case alu_option::kCarryOut:
      return with_carry<T, kTerm, false, true>;
    case alu_option::kCarryIn:
      return with_carry<T, kTerm, true, false>;
    case alu_option::kCarryIn | alu_option::kCarryOut:
      return with_carry<T, kTerm, true, true>;
    default:
      return nullptr;
  }
}

template <typename T>
Execute terms(const AluKey& key) {
  using U = Unsigned<T>;
  switch (key.op) {
    case AluOp::add:
      return carries<U, Term::sum>(key);
    case AluOp::sub:
      return carries<U, Term::difference>(key);
    case AluOp::mad:
      return carries<U, Term::low_product>(key);
    case AluOp::mad_hi:
      return carries<T, Term::high_product>(key);
    default:
      return nullptr;
  }
}

}  // namespace

Execute carry_handler(const AluKey& key) {
  switch (key.type) {
    case ptx::Type::u32:
      return terms<u32>(key);
    case ptx::Type::s32:
      return terms<s32>(key);
    case ptx::Type::u64:
      return terms<u64>(key);
    case ptx::Type::s64:
      return terms<s64>(key);
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
