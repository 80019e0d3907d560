// Lowering of mov and of logic of predicates.

#include "harness/emulator/machine/compile/constants.h"
#include "harness/emulator/machine/compile/lowering.h"

namespace warpgauge::emulator::machine::compile {
namespace {

using isa::AluKey;
using isa::AluOp;
using ptx::Type;
using Xbyak::Opmask;

void move(Emitter& e, const Step& step) {
  const int bytes = ptx::bytes_of(step.operation->alu.type);
  const Lanes value = e.read(step.instruction->sources[0], bytes);
  const Lanes result = e.fresh(bytes);
  for (int part = 0; part < result.parts; ++part) e.vmovdqa64(result.part[part], value.part[part]);
  e.write(step.instruction->destination, result);
}

/// {low words, high words} to values of 64 bits.
void pack(Emitter& e, const Step& step) {
  const Lanes low = e.read(step.instruction->sources[0], 4);
  const Lanes high = e.read(step.instruction->sources[1], 4);
  const Lanes result = e.fresh(8);
  e.vmovdqa64(result.part[0], e.constant(&Constants::pairs_low));
  e.vmovdqa64(result.part[1], e.constant(&Constants::pairs_high));
  for (int part = 0; part < 2; ++part) e.vpermi2d(result.part[part], low.part[0], high.part[0]);
  e.write(step.instruction->destination, result);
}

void unpack(Emitter& e, const Step& step) {
  const auto* const slots = static_cast<const OperandSlot*>(step.instruction->detail);
  const Lanes whole = e.read(step.instruction->sources[0], 8);
  const Lanes low = e.fresh(4), high = e.fresh(4);
  e.vmovdqa64(low.part[0], e.constant(&Constants::even));
  e.vmovdqa64(high.part[0], e.constant(&Constants::odd));
  e.vpermi2d(low.part[0], whole.part[0], whole.part[1]);
  e.vpermi2d(high.part[0], whole.part[0], whole.part[1]);
  e.write(slots[0], low);
  e.write(slots[1], high);
}

void predicate_logic(Emitter& e, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const AluOp op = step.operation->alu.op;
  const Opmask a = source_predicate(e, instruction, 0);
  const Opmask result = e.fresh_predicate();
  if (op == AluOp::pred_mov) {
    e.kmovw(result, a);
  } else {
    const Opmask b = source_predicate(e, instruction, 1);
    if (op == AluOp::pred_and) e.kandw(result, a, b);
    if (op == AluOp::pred_or) e.korw(result, a, b);
    if (op == AluOp::pred_xor) e.kxorw(result, a, b);
  }
  e.write_predicate(instruction.destination, result);
}

}  // namespace

Lowering lower_move(const AluKey& key) {
  if (key.options != 0) return nullptr;
  switch (key.op) {
    case AluOp::mov:
      return key.type == Type::u16 || key.type == Type::u32 || key.type == Type::u64 ? move
                                                                                     : nullptr;
    case AluOp::pack:
      return key.type == Type::u64 && key.from == Type::u32 ? pack : nullptr;
    case AluOp::unpack:
      return key.type == Type::u64 && key.from == Type::u32 ? unpack : nullptr;
    case AluOp::pred_mov:
    case AluOp::pred_and:
    case AluOp::pred_or:
    case AluOp::pred_xor:
      return predicate_logic;
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::compile
