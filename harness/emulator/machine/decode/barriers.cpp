// Decoding of barriers.
#include "harness/emulator/machine/control/barriers.h"

#include <string>
#include <vector>

#include "harness/emulator/machine/decode/control.h"
#include "harness/emulator/machine/decode/function_decoder.h"

namespace warpgauge::emulator::machine::decode {
namespace {

const std::string& last_part(const ptx::Instruction& instruction) {
  static const std::string kNone;
  return instruction.modifiers.empty() ? kNone : instruction.modifiers.back();
}

// bar.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, {!}c; and barrier with the same, perhaps
// with .cta, which changes nothing here. bar is barrier.aligned.
void decode_block_barrier(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                          Instruction* result) {
  std::vector<std::string> parts;
  for (const std::string& part : instruction.modifiers) {
    if (part != "cta" && part != "aligned") parts.push_back(part);
  }
  std::string what;
  for (const std::string& part : parts) what += "." + part;
  using control::BarrierOp;
  control::BarrierOp operation;
  if (what == ".sync") {
    operation = control::BarrierOp::sync;
  } else if (what == ".arrive") {
    operation = control::BarrierOp::arrive;
  } else if (what == ".red.popc.u32") {
    operation = control::BarrierOp::vote_count;
  } else if (what == ".red.and.pred") {
    operation = control::BarrierOp::vote_all;
  } else if (what == ".red.or.pred") {
    operation = control::BarrierOp::vote_any;
  } else {
    throw Unsupported("this kind of barrier");
  }
  const auto& operands = instruction.operands;
  const bool votes = operation >= control::BarrierOp::vote_count;
  const std::size_t begin = votes ? 1 : 0;
  const std::size_t end = operands.size() - begin;
  if (operands.size() <= 2 * begin || end - begin > 2)
    throw Unsupported("wrong number of operands");
  result->flags = static_cast<std::uint16_t>(operation);
  if (instruction.opcode == "bar" || instruction.has("aligned")) {
    result->flags |= control::kBarrierAligned;
  }
  result->sources[0] = decoder.source(operands[begin], ptx::Type::u32);
  if (end - begin == 2) {
    result->sources[1] = decoder.source(operands[begin + 1], ptx::Type::u32);
    result->flags |= control::kBarrierCounted;
  }
  if (votes) {
    const bool counts = operation == control::BarrierOp::vote_count;
    result->destination =
        decoder.destination(operands[0], counts ? ptx::Type::u32 : ptx::Type::pred);
    result->sources[2] = decoder.source(operands.back(), ptx::Type::pred);
    if (operands.back().negated) result->flags |= control::kBarrierNegated;
  }
  result->execute = control::arrive;
  decoder.note_dependence();
}

}  // namespace

bool decode_barrier(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                    Instruction* result) {
  if (instruction.opcode != "bar" && instruction.opcode != "barrier") return false;
  if (instruction.opcode == "bar" && instruction.has("warp")) {
    if (last_part(instruction) != "sync" || instruction.operands.size() != 1) {
      throw Unsupported("this kind of barrier");
    }
    result->sources[0] = decoder.source(instruction.operands[0], ptx::Type::u32);
    result->execute = control::sync_warp;
  } else {
    decode_block_barrier(instruction, decoder, result);
  }
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
