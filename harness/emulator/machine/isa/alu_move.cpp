// mov, packing and unpacking of vectors, logic of predicates.
#include "harness/emulator/machine/isa/alu_families.h"
#include "harness/emulator/machine/isa/alu_lanes.h"
#include "harness/emulator/machine/isa/lanes.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

template <typename T>
void move(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  T* const d = destination<T>(warp, instruction);
  if (warp.active == kAllLanes) {
    __builtin_memcpy(__builtin_assume_aligned(d, 64), a, sizeof(T) * kLanes);
  } else {
    blend(d, a, warp.active);
  }
}

/// mov.b64 d, {a, b}: kParts values of Part become one, the first lowest.
template <typename Part, int kParts>
void pack(Warp& warp, const Instruction& instruction) {
  using Whole = typename Bits<sizeof(Part) * kParts>::Unsigned;
  const Part* parts[kParts];
  for (int n = 0; n < kParts; ++n) parts[n] = lanes<Part>(warp, instruction, n);
  write<Whole>(warp, instruction, [=](int i) {
    Whole whole = 0;
    for (int n = 0; n < kParts; ++n)
      whole |= static_cast<Whole>(parts[n][i]) << (8 * n * sizeof(Part));
    return whole;
  });
}

/// mov.b64 {a, b}, d. Instruction::detail has the slots of the parts.
template <typename Part, int kParts>
void unpack(Warp& warp, const Instruction& instruction) {
  const Part* const whole = lanes<Part>(warp, instruction, 0);
  const OperandSlot* const slots = static_cast<const OperandSlot*>(instruction.detail);
  for (int n = 0; n < kParts; ++n) {
    Part* const d = reinterpret_cast<Part*>(warp.bases[OperandSlot::frame] + slots[n].offset);
    write_to<Part>(warp, d, [=](int i) { return whole[i * kParts + n]; });
  }
}

void predicate_move(Warp& warp, const Instruction& instruction) {
  write_predicate(warp, destination<Mask>(warp, instruction), predicate(warp, instruction, 0));
}
template <auto kFunction>
void predicate_logic(Warp& warp, const Instruction& instruction) {
  write_predicate(warp, destination<Mask>(warp, instruction),
                  kFunction(predicate(warp, instruction, 0), predicate(warp, instruction, 1)));
}

template <template <typename> typename Form>
Execute of_width(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::u8:
      return Form<u8>::kHandler;
    case Type::u16:
      return Form<u16>::kHandler;
    case Type::u32:
      return Form<u32>::kHandler;
    case Type::u64:
      return Form<u64>::kHandler;
    case Type::b128:
      return Form<u128>::kHandler;
    default:
      return nullptr;
  }
}
template <typename T>
struct Move {
  static constexpr Execute kHandler = move<T>;
};

/// `type` is the whole's, `from` that of a part.
template <bool kPack>
Execute vector_handler(ptx::Type type, ptx::Type from) {
  using ptx::Type;
  const auto choose = []<typename Part, int kParts>(Part, const int(&)[kParts]) -> Execute {
    if constexpr (kPack) return pack<Part, kParts>;
    return unpack<Part, kParts>;
  };
  const int two[2] = {}, four[4] = {};
  if (type == Type::u16 && from == Type::u8) return choose(u8{}, two);
  if (type == Type::u32 && from == Type::u8) return choose(u8{}, four);
  if (type == Type::u32 && from == Type::u16) return choose(u16{}, two);
  if (type == Type::u64 && from == Type::u16) return choose(u16{}, four);
  if (type == Type::u64 && from == Type::u32) return choose(u32{}, two);
  if (type == Type::b128 && from == Type::u32) return choose(u32{}, four);
  if (type == Type::b128 && from == Type::u64) return choose(u64{}, two);
  return nullptr;
}

}  // namespace

Execute move_handler(const AluKey& key) {
  if (key.options != 0) return nullptr;
  switch (key.op) {
    case AluOp::mov:
      return of_width<Move>(key.type);
    case AluOp::pack:
      return vector_handler<true>(key.type, key.from);
    case AluOp::unpack:
      return vector_handler<false>(key.type, key.from);
    case AluOp::pred_mov:
      return predicate_move;
    case AluOp::pred_and:
      return predicate_logic<[](Mask a, Mask b) { return a & b; }>;
    case AluOp::pred_or:
      return predicate_logic<[](Mask a, Mask b) { return a | b; }>;
    case AluOp::pred_xor:
      return predicate_logic<[](Mask a, Mask b) { return a ^ b; }>;
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
