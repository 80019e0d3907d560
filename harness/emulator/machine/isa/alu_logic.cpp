// Logic and shifts of integers.
#include "harness/emulator/machine/isa/alu_families.h"
#include "harness/emulator/machine/isa/alu_lanes.h"
#include "harness/emulator/machine/isa/operators.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

constexpr auto kAnd = []<typename T>(T a, T b) -> T { return a & b; };
constexpr auto kOr = []<typename T>(T a, T b) -> T { return a | b; };
constexpr auto kXor = []<typename T>(T a, T b) -> T { return a ^ b; };
constexpr auto kNot = []<typename T>(T a) -> T { return static_cast<T>(~a); };
constexpr auto kIsZero = []<typename T>(T a) -> T { return a == 0 ? 1 : 0; };

/// The bits of `yes` where those of `which` are set, else those of `no`.
WARPGAUGE_INLINE u32 choose(u32 which, u32 yes, u32 no) { return (which & yes) | (~which & no); }

/// The truth table in Instruction::offset: bit 4a + 2b + c.
WARPGAUGE_INLINE u32 lop3(u32 a, u32 b, u32 c, u32 table) {
  const auto all = [=](int n) { return u32{0} - (table >> n & 1); };
  return choose(a, choose(b, choose(c, all(7), all(6)), choose(c, all(5), all(4))),
                choose(b, choose(c, all(3), all(2)), choose(c, all(1), all(0))));
}

void lop3_word(Warp& warp, const Instruction& instruction) {
  const u32* const a = lanes<u32>(warp, instruction, 0);
  const u32* const b = lanes<u32>(warp, instruction, 1);
  const u32* const c = lanes<u32>(warp, instruction, 2);
  const u32 table = static_cast<u32>(instruction.offset);
  write<u32>(warp, instruction, [=](int i) { return lop3(a[i], b[i], c[i], table); });
}

/// lop3.or, lop3.and d|p: also whether the result is not 0, combined with predicate q (source 3).
void lop3_with_predicate(Warp& warp, const Instruction& instruction) {
  const u32* const a = lanes<u32>(warp, instruction, 0);
  const u32* const b = lanes<u32>(warp, instruction, 1);
  const u32* const c = lanes<u32>(warp, instruction, 2);
  const Mask q = predicate(warp, instruction, 3);
  const u32 table = static_cast<u32>(instruction.offset);
  const Mask some = mask_of([=](int i) { return lop3(a[i], b[i], c[i], table) != 0; });
  lop3_word(warp, instruction);
  const bool conjunction =
      (instruction.flags & alu_flag::kCombineMask) >> alu_flag::kCombineShift == alu_flag::kAnd;
  write_predicate(warp, second_destination<Mask>(warp, instruction),
                  conjunction ? some & q : some | q);
}

// Shifts. The amount is u32 for all types, and clamped to the width.
template <typename T>
void shift_left(Warp& warp, const Instruction& instruction) {
  constexpr u32 kWidth = sizeof(T) * 8;
  const T* const a = lanes<T>(warp, instruction, 0);
  const u32* const b = lanes<u32>(warp, instruction, 1);
  write<T>(warp, instruction, [=](int i) -> T {
    const u32 n = b[i];
    const Modular<T> shifted = static_cast<Modular<T>>(a[i]) << (n & (sizeof(T) == 8 ? 63 : 31));
    return n < kWidth ? static_cast<T>(shifted) : T{0};
  });
}
template <typename T>
void shift_right(Warp& warp, const Instruction& instruction) {
  constexpr u32 kWidth = sizeof(T) * 8;
  const T* const a = lanes<T>(warp, instruction, 0);
  const u32* const b = lanes<u32>(warp, instruction, 1);
  write<T>(warp, instruction, [=](int i) -> T {
    const u32 n = b[i] < kWidth ? b[i] : kWidth - 1;
    const T shifted = static_cast<T>(a[i] >> n);
    if constexpr (kIsSigned<T>) return shifted;
    return b[i] < kWidth ? shifted : T{0};
  });
}
template <typename T>
struct ShiftLeft {
  static constexpr Execute kHandler = shift_left<T>;
};
template <typename T>
struct ShiftRight {
  static constexpr Execute kHandler = shift_right<T>;
};
template <template <typename> typename Form>
Execute of_type(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::u16:
      return Form<u16>::kHandler;
    case Type::u32:
      return Form<u32>::kHandler;
    case Type::u64:
      return Form<u64>::kHandler;
    case Type::s16:
      return Form<s16>::kHandler;
    case Type::s32:
      return Form<s32>::kHandler;
    case Type::s64:
      return Form<s64>::kHandler;
    default:
      return nullptr;
  }
}

/// 32 bits out of b:a (b is the high word).
template <bool kLeft, bool kWrap>
constexpr auto kFunnel = [](u32 a, u32 b, u32 c) -> u32 {
  const u32 n = kWrap ? c & 31 : c < 32 ? c : 32;
  const u64 both = u64{b} << 32 | a;
  return static_cast<u32>(kLeft ? both << n >> 32 : both >> n);
};

Execute funnel_handler(const AluKey& key) {
  const bool wrap = (key.options & alu_option::kWrap) != 0;
  if (key.op == AluOp::shf_left) {
    return wrap ? ternary<kFunnel<true, true>, u32> : ternary<kFunnel<true, false>, u32>;
  }
  return wrap ? ternary<kFunnel<false, true>, u32> : ternary<kFunnel<false, false>, u32>;
}

}  // namespace

Execute logic_handler(const AluKey& key) {
  using ptx::Type;
  if (!only(key, alu_option::kWrap)) return nullptr;
  const bool is_word = key.type == Type::u32 || key.type == Type::s32;
  if (key.op == AluOp::shf_left || key.op == AluOp::shf_right) {
    return is_word ? funnel_handler(key) : nullptr;
  }
  if (key.options != 0) return nullptr;
  switch (key.op) {
    case AluOp::logic_and:
      return modular_binary<kAnd>(key.type);
    case AluOp::logic_or:
      return modular_binary<kOr>(key.type);
    case AluOp::logic_xor:
      return modular_binary<kXor>(key.type);
    case AluOp::logic_not:
      return modular_unary<kNot>(key.type);
    case AluOp::cnot:
      return modular_unary<kIsZero>(key.type);
    case AluOp::shl:
      return of_type<ShiftLeft>(key.type);
    case AluOp::shr:
      return of_type<ShiftRight>(key.type);
    case AluOp::lop3:
      return key.type == Type::u32 ? lop3_word : nullptr;
    case AluOp::pred_lop3:
      return key.type == Type::u32 ? lop3_with_predicate : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
