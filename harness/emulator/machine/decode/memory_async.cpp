// Decodes cp.async with its groups, ldmatrix and stmatrix.
#include <memory>
#include <string>

#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/decode/fragment.h"
#include "harness/emulator/machine/decode/memory_common.h"
#include "harness/emulator/machine/memory/address_conversion.h"

namespace warpgauge::emulator::machine::decode {
namespace {

void decode_source_size(const ptx::Operand& operand, Decoder& decoder, CopyDetail* detail) {
  if (decoder.register_type(operand) == ptx::Type::pred) {
    detail->source = CopyDetail::Source::ignorable;
    detail->ignored = decoder.source(operand, ptx::Type::pred);
    detail->ignored_negated = operand.negated;
  } else {
    detail->source = CopyDetail::Source::sized;
    detail->size = decoder.source(operand, ptx::Type::u32);
  }
}

/// cp.async.ca.shared.global [to], [from], bytes{, bytes to read | ignore}{, policy}
void decode_copy(const ptx::Instruction& instruction, Modifiers& modifiers, Decoder& decoder,
                 const isa::Isa& isa, Instruction* result) {
  const bool bypasses = modifiers.take("cg");
  if (!bypasses && !modifiers.take("ca")) throw Unsupported("only .ca and .cg");
  const bool to_shared = modifiers.take("shared") || modifiers.take("shared::cta");
  if (!to_shared || !modifiers.take("global")) throw Unsupported("only .shared.global");
  const bool has_policy = take_hints(modifiers);
  modifiers.finish();
  const std::uint64_t bytes = integer_at(instruction, 2);
  if (bytes != 16 && (bypasses || (bytes != 4 && bytes != 8)))
    throw Unsupported("of so many bytes");

  auto detail = std::make_shared<CopyDetail>();
  const int width = static_cast<int>(bytes);
  detail->bytes = static_cast<std::uint8_t>(bytes);
  detail->mask = decoder.access_plan(instruction).mask;
  detail->to = decode_access(instruction, decoder, AccessEffect::write, AccessSpace::shared, width);
  detail->from =
      decode_access(instruction, decoder, AccessEffect::read, AccessSpace::global, width);
  detail->to.shared_kind =
      bypasses ? metrics::AccessKind::async_copy_bypass : metrics::AccessKind::async_copy;
  detail->to.low_mask[1] = detail->from.low_mask[0];  // the rule looks at rows of 128 bytes
  const Address to = decode_address(operand_at(instruction, 0), AccessSpace::shared, decoder);
  const Address from = decode_address(operand_at(instruction, 1), AccessSpace::global, decoder);
  detail->to.short_address = to.is_short;
  detail->to_offset = to.offset;
  detail->from_offset = from.offset;
  const std::size_t count = instruction.operands.size() - (has_policy ? 1 : 0);
  if (count > 4) throw Unsupported("with so many operands");
  if (count == 4) decode_source_size(instruction.operands[3], decoder, detail.get());
  result->sources[0] = to.slot;
  result->sources[1] = from.slot;
  result->execute = isa.transfer({TransferKey::Op::copy});
  result->detail = decoder.keep(std::move(detail));
}

void decode_async_copy(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                       Instruction* result) {
  Modifiers modifiers(instruction);
  if (!modifiers.take("async")) throw Unsupported("only cp.async");
  if (modifiers.take("commit_group")) {
    result->execute = memory::execute_commit_group;
  } else if (modifiers.take("wait_group")) {
    result->execute = memory::execute_wait_group;
    result->offset = static_cast<std::int64_t>(integer_at(instruction, 0));
  } else if (modifiers.take("wait_all")) {
    result->execute = memory::execute_wait_all;
  } else {
    decode_copy(instruction, modifiers, decoder, isa, result);
    return;
  }
  modifiers.finish();
}

/// ldmatrix.sync.aligned.m8n8.x4{.trans}.shared.b16 {a, b, c, d}, [address]
void decode_matrix_move(const ptx::Instruction& instruction, bool store, Decoder& decoder,
                        const isa::Isa& isa, Instruction* result) {
  Modifiers modifiers(instruction);
  for (const char* const name : {"sync", "aligned", "m8n8", "b16"}) {
    if (!modifiers.take(name)) throw Unsupported("only .sync.aligned.m8n8 of .b16");
  }
  const auto matrices = modifiers.take_one<int>({{"x1", 1}, {"x2", 2}, {"x4", 4}});
  if (!matrices) throw Unsupported("only .x1, .x2, .x4");
  const bool transposed = modifiers.take("trans");
  const AccessSpace space = take_space(modifiers);
  if (space != AccessSpace::shared && space != AccessSpace::generic) {
    throw Unsupported("only shared memory");
  }
  modifiers.finish();

  auto detail = std::make_shared<MatrixMoveDetail>();
  detail->access =
      decode_access(instruction, decoder, store ? AccessEffect::write : AccessEffect::read,
                    AccessSpace::shared, 16);
  detail->access.space = space;
  detail->access.shared_kind =
      store ? metrics::AccessKind::stmatrix : metrics::AccessKind::ldmatrix;
  detail->matrices = static_cast<std::uint8_t>(*matrices);
  detail->transposed = transposed;
  const Address at = decode_address(operand_at(instruction, store ? 0 : 1), space, decoder);
  detail->access.short_address = at.is_short;
  result->sources[0] = at.slot;
  result->offset = at.offset;

  const ptx::Operand& registers = operand_at(instruction, store ? 1 : 0);
  std::span<const ptx::Operand> elements(&registers, 1);
  if (registers.kind == ptx::Operand::Kind::vector) elements = registers.elements;
  if (elements.size() != static_cast<std::size_t>(*matrices)) {
    throw Unsupported("with another number of registers than matrices");
  }
  for (std::size_t n = 0; n < elements.size(); ++n) {
    detail->registers[n] = store ? decoder.source(elements[n], ptx::Type::b32)
                                 : decoder.destination(elements[n], ptx::Type::b32);
  }
  wait_for_all_lanes(decoder, result);
  result->execute =
      isa.transfer({store ? TransferKey::Op::store_matrix : TransferKey::Op::load_matrix});
  result->detail = decoder.keep(std::move(detail));
}

}  // namespace

bool decode_async(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                  Instruction* result) {
  if (instruction.opcode == "cp") {
    decode_async_copy(instruction, decoder, isa, result);
  } else if (instruction.opcode == "ldmatrix" || instruction.opcode == "stmatrix") {
    decode_matrix_move(instruction, instruction.opcode == "stmatrix", decoder, isa, result);
  } else {
    return false;
  }
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
