// Decoding of barrier.cluster, mapa and getctarank.
#include "harness/emulator/machine/control/cluster_ops.h"
#include "harness/emulator/machine/decode/control.h"
#include "harness/emulator/machine/decode/function_decoder.h"
#include "harness/emulator/machine/decode/memory_common.h"
#include "harness/emulator/machine/decode/modifiers.h"

namespace warpgauge::emulator::machine::decode {
namespace {

/// barrier.cluster.arrive{.release, .relaxed}{.aligned}, barrier.cluster.wait{.acquire}{.aligned}
void decode_cluster_barrier(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                            Instruction* result) {
  Modifiers modifiers(instruction);
  modifiers.take("cluster");
  const bool waits = modifiers.take("wait");
  if (!waits && !modifiers.take("arrive")) throw Unsupported("this kind of barrier");
  if (modifiers.take("relaxed")) result->flags |= control::kRelaxed;
  for (const char* const name : {"release", "acquire", "aligned"}) modifiers.take(name);
  modifiers.finish();
  result->execute = waits ? control::wait_for_cluster : control::arrive_at_cluster;
  decoder.note_dependence();
}

/// mapa{.shared::cluster}.type d, address, rank; getctarank{.shared::cluster}.type d, address
void decode_place(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                  Instruction* result) {
  Modifiers modifiers(instruction);
  const bool is_generic = !modifiers.take("shared::cluster");
  const ptx::Type type = modifiers.take_type().value_or(ptx::Type::none);
  modifiers.finish();
  if (type != ptx::Type::u32 && type != ptx::Type::u64) throw Unsupported("of this type");
  const bool maps = instruction.opcode == "mapa";
  result->flags = is_generic ? control::kGenericAddresses : 0;
  if (type == ptx::Type::u32) result->flags |= control::kShortAddresses;
  result->destination =
      decoder.destination(operand_at(instruction, 0), maps ? type : ptx::Type::u32);
  result->sources[0] = decoder.source(operand_at(instruction, 1), type);
  if (maps) result->sources[1] = decoder.source(operand_at(instruction, 2), ptx::Type::u32);
  result->execute = maps ? control::map_to_block : control::rank_of_block;
}

}  // namespace

bool decode_cluster(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                    Instruction* result) {
  if (instruction.opcode == "barrier" && instruction.has("cluster")) {
    decode_cluster_barrier(instruction, decoder, result);
  } else if (instruction.opcode == "mapa" || instruction.opcode == "getctarank") {
    decode_place(instruction, decoder, result);
  } else {
    return false;
  }
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
