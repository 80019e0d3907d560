// Decoding of mov: of values, of predicates, of vectors to and from one register.
#include <memory>
#include <vector>

#include "harness/emulator/machine/decode/alu_form.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using ptx::Type;
using Kind = ptx::Operand::Kind;

/// The type of one of the vector's elements.
Type part_type(const ptx::Operand& vector, Type whole) {
  const int parts = static_cast<int>(vector.elements.size());
  if (parts != 2 && parts != 4) throw Unsupported("a vector of this length");
  return unsigned_of(ptx::bytes_of(whole) / parts);
}

void pack(AluForm& form, Type type) {
  const ptx::Operand& vector = form.operand(1);
  form.key.op = AluOp::pack;
  form.key.from = part_type(vector, type);
  form.destination(form.operand(0), type);
  for (std::size_t n = 0; n < vector.elements.size(); ++n) {
    form.source(static_cast<int>(n), vector.elements[n], form.key.from);
  }
}

void unpack(AluForm& form, Type type) {
  const ptx::Operand& vector = form.operand(0);
  form.key.op = AluOp::unpack;
  form.key.from = part_type(vector, type);
  const auto slots = std::make_shared<std::vector<OperandSlot>>();
  for (const ptx::Operand& element : vector.elements) {
    slots->push_back(form.decoder.destination(element, form.key.from));
  }
  form.result.detail = slots->data();
  form.decoder.keep(slots);
  form.source(0, form.operand(1), type);
}

}  // namespace

bool decode_move(AluForm& form) {
  if (form.instruction.opcode != "mov") return false;
  form.count_operands(2);
  const Type type = form.take_type();
  if (type == Type::pred) {
    form.key.op = AluOp::pred_mov;
    form.operands(type, {type});
  } else {
    const bool packed = (form.key.options & alu_option::kPacked) != 0;
    form.key.type = unsigned_of(ptx::bytes_of(type) * (packed ? 2 : 1));
    form.key.options = 0;
    if (form.operand(1).kind == Kind::vector) {
      pack(form, form.key.type);
    } else if (form.operand(0).kind == Kind::vector) {
      unpack(form, form.key.type);
    } else {
      form.key.op = AluOp::mov;
      // A real immediate needs its own type to be of the right width.
      form.operands(form.key.type, {form.key.type});
    }
  }
  form.finish();
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
