// Decoding of mbarrier and cp.async.mbarrier.arrive.
#include <optional>

#include "harness/emulator/machine/control/mbarriers.h"
#include "harness/emulator/machine/decode/control.h"
#include "harness/emulator/machine/decode/function_decoder.h"
#include "harness/emulator/machine/decode/memory_common.h"
#include "harness/emulator/machine/decode/modifiers.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using control::MbarrierOp;
namespace flag = control::mbarrier_flag;

/// An mbarrier lies in shared memory, whatever the address.
void decode_place(const ptx::Operand& operand, AccessSpace space, Decoder& decoder,
                  Instruction* result) {
  if (space != AccessSpace::generic && space != AccessSpace::shared &&
      space != AccessSpace::cluster) {
    throw Unsupported("only shared memory");
  }
  const Address at = decode_address(operand, space, decoder);
  if (at.is_short) result->flags |= flag::kShortAddress;
  result->sources[0] = at.slot;
  result->offset = at.offset;
}

/// An operation as its modifiers say.
struct BarrierForm {
  MbarrierOp op = MbarrierOp::init;
  std::uint16_t flags = 0;
  AccessSpace space = AccessSpace::generic;
};

BarrierForm take_form(const ptx::Instruction& instruction) {
  Modifiers modifiers(instruction);
  BarrierForm form;
  const auto op = modifiers.take_one<MbarrierOp>({{"init", MbarrierOp::init},
                                                  {"inval", MbarrierOp::invalidate},
                                                  {"arrive", MbarrierOp::arrive},
                                                  {"arrive_drop", MbarrierOp::arrive_drop},
                                                  {"test_wait", MbarrierOp::wait_state},
                                                  {"try_wait", MbarrierOp::wait_state},
                                                  {"complete_tx", MbarrierOp::complete_bytes}});
  const bool expects = modifiers.take("expect_tx");
  if (!op && !expects) throw Unsupported("unknown operation");
  form.op = op.value_or(MbarrierOp::expect_bytes);
  if (op && expects) form.flags |= flag::kExpectsBytes;
  if (modifiers.take("noComplete")) form.flags |= flag::kNoCompletion;
  if (modifiers.take("parity")) form.op = MbarrierOp::wait_parity;
  form.space = take_space(modifiers);
  const bool is_relaxed = modifiers.take("relaxed");
  if (modifiers.take("cluster")) form.flags |= flag::kOfCluster;
  for (const char* const name : {"release", "acquire", "cta"}) modifiers.take(name);
  if (!modifiers.take("b64")) throw Unsupported("only .b64");
  modifiers.finish();
  const bool arrives = form.op == MbarrierOp::arrive || form.op == MbarrierOp::arrive_drop;
  if (arrives && !is_relaxed) form.flags |= flag::kReleases;
  return form;
}

/// {state,} [address]{, count or bytes}
void decode_arrival(const ptx::Instruction& instruction, const BarrierForm& form, Decoder& decoder,
                    Instruction* result) {
  const auto& operands = instruction.operands;
  const bool has_state = operand_at(instruction, 0).kind != ptx::Operand::Kind::address;
  const std::size_t at = has_state ? 1 : 0;
  decode_place(operand_at(instruction, at), form.space, decoder, result);
  if (has_state && operands[0].kind != ptx::Operand::Kind::sink) {
    result->flags |= flag::kReturnsState;
    result->destination = decoder.destination(operands[0], ptx::Type::b64);
  }
  const bool has_operand = operands.size() > at + 1;
  if (operands.size() > at + 2) throw Unsupported("with so many operands");
  const bool expects = (form.flags & flag::kExpectsBytes) != 0;
  if (has_operand && !expects) result->flags |= flag::kCounted;
  if (!has_operand && expects) throw Unsupported("without a number of bytes");
  ptx::Operand count;
  count.kind = ptx::Operand::Kind::integer;
  count.bits = 1;
  result->sources[1] = decoder.source(has_operand ? operands[at + 1] : count, ptx::Type::u32);
}

/// waitComplete, [address], state or parity{, time limit}
void decode_wait(const ptx::Instruction& instruction, const BarrierForm& form,
                 FunctionDecoder& decoder, Instruction* result) {
  const bool by_parity = form.op == MbarrierOp::wait_parity;
  if (instruction.operands.size() > 4) throw Unsupported("with so many operands");
  result->destination = decoder.destination(operand_at(instruction, 0), ptx::Type::pred);
  decode_place(operand_at(instruction, 1), form.space, decoder, result);
  result->sources[1] =
      decoder.source(operand_at(instruction, 2), by_parity ? ptx::Type::u32 : ptx::Type::b64);
  decoder.note_dependence();
}

void decode_operation(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                      Instruction* result) {
  const BarrierForm form = take_form(instruction);
  result->flags = static_cast<std::uint16_t>(form.op) | form.flags;
  switch (form.op) {
    case MbarrierOp::arrive:
    case MbarrierOp::arrive_drop:
      decode_arrival(instruction, form, decoder, result);
      break;
    case MbarrierOp::wait_state:
    case MbarrierOp::wait_parity:
      decode_wait(instruction, form, decoder, result);
      break;
    default: {
      const std::size_t operands = form.op == MbarrierOp::invalidate ? 1 : 2;
      if (instruction.operands.size() != operands) throw Unsupported("with so many operands");
      decode_place(operand_at(instruction, 0), form.space, decoder, result);
      if (operands == 2) {
        result->sources[1] = decoder.source(instruction.operands[1], ptx::Type::u32);
      }
      break;
    }
  }
  result->execute = control::execute_mbarrier;
}

}  // namespace

bool decode_mbarrier(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                     Instruction* result) {
  if (instruction.opcode == "cp" && instruction.has("mbarrier") && instruction.has("arrive")) {
    Modifiers modifiers(instruction);
    for (const char* const name : {"async", "mbarrier", "arrive", "b64"}) modifiers.take(name);
    if (modifiers.take("noinc")) result->flags = flag::kNoIncrement;
    const AccessSpace space = take_space(modifiers);
    modifiers.finish();
    decode_place(operand_at(instruction, 0), space, decoder, result);
    result->execute = control::execute_arrive_copied;
  } else if (instruction.opcode != "mbarrier") {
    return false;
  } else if (instruction.has("pending_count")) {
    result->destination = decoder.destination(operand_at(instruction, 0), ptx::Type::u32);
    result->sources[0] = decoder.source(operand_at(instruction, 1), ptx::Type::b64);
    result->execute = control::execute_pending_count;
  } else {
    decode_operation(instruction, decoder, result);
  }
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
