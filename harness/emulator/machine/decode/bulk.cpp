// Decoding of bulk copies and reductions, their groups, st.async and red.async.
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "harness/emulator/machine/control/bulk_copies.h"
#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/decode/memory_common.h"
#include "harness/emulator/machine/decode/modifiers.h"
#include "harness/emulator/machine/memory/address_conversion.h"
#include "harness/emulator/machine/memory/atomic_operations.h"

namespace warpgauge::emulator::machine::decode {
namespace {

control::BulkAddress address_at(const ptx::Instruction& instruction, std::size_t n,
                                AccessSpace space, Decoder& decoder) {
  const Address at = decode_address(operand_at(instruction, n), space, decoder);
  return {at.slot, at.is_short, at.offset};
}

void expect_operands(const ptx::Instruction& instruction, std::size_t count) {
  if (instruction.operands.size() != count) throw Unsupported("with so many operands");
}

AtomicOperation take_reduction(Modifiers& modifiers, ptx::Type* type) {
  const memory::AtomicOp op = take_reduction_op(modifiers);
  modifiers.take("noftz");
  *type = modifiers.take_type().value_or(ptx::Type::none);
  const AtomicOperation operation = atomic_operation(op, *type);
  if (operation == nullptr) throw Unsupported("this operation on this type");
  return operation;
}

/// Where a copy goes from and to: by how its end is known.
void take_direction(Modifiers& modifiers, control::BulkDetail* detail) {
  detail->to_shared = modifiers.take("mbarrier::complete_tx::bytes");
  if (!detail->to_shared && !modifiers.take("bulk_group")) throw Unsupported("this completion");
  const bool has_global = modifiers.take("global");
  const bool has_cta = modifiers.take("shared::cta");
  const bool has_cluster = modifiers.take("shared::cluster");
  detail->from_shared = !detail->to_shared || !has_global;
  const bool known = detail->to_shared ? has_cluster || (has_global && has_cta)
                                       : has_global && has_cta && !has_cluster;
  if (!known) throw Unsupported("between these spaces");
}

/// cp.async.bulk: [to], [from], bytes{, [barrier]}{, blocks}{, policy}{, mask of bytes}
void decode_copy_of_bytes(const ptx::Instruction& instruction, Decoder& decoder,
                          Instruction* result) {
  Modifiers modifiers(instruction);
  auto detail = std::make_shared<control::BulkDetail>();
  const bool reduces = instruction.has("reduce");
  detail->name = reduces ? "cp.reduce.async.bulk" : "cp.async.bulk";
  for (const char* const name : {"reduce", "async", "bulk"}) modifiers.take(name);
  take_direction(modifiers, detail.get());
  detail->multicasts = modifiers.take("multicast::cluster");
  detail->masks_bytes = modifiers.take("cp_mask");
  const bool has_policy = take_hints(modifiers);
  if (reduces) {
    ptx::Type type = ptx::Type::none;
    detail->reduction = take_reduction(modifiers, &type);
    detail->element_bytes = static_cast<std::uint8_t>(ptx::bytes_of(type));
  }
  modifiers.finish();

  const AccessSpace to = detail->to_shared ? AccessSpace::cluster : AccessSpace::global;
  const AccessSpace from = detail->from_shared ? AccessSpace::shared : AccessSpace::global;
  std::size_t next = 0;
  detail->to = address_at(instruction, next++, to, decoder);
  detail->from = address_at(instruction, next++, from, decoder);
  detail->size = decoder.source(operand_at(instruction, next++), ptx::Type::u32);
  if (detail->to_shared) {
    detail->barrier = address_at(instruction, next++, AccessSpace::cluster, decoder);
  }
  if (detail->multicasts) {
    detail->blocks = decoder.source(operand_at(instruction, next++), ptx::Type::b16);
  }
  if (has_policy) ++next;
  if (detail->masks_bytes) {
    detail->bytes = decoder.source(operand_at(instruction, next++), ptx::Type::b16);
  }
  expect_operands(instruction, next);
  detail->counter = bulk_counter(instruction, decoder);
  result->execute = control::execute_bulk_copy;
  result->detail = decoder.keep(std::move(detail));
}

/// cp.async.bulk.prefetch.L2.global [from], bytes{, policy}: changes nothing that can be seen.
void decode_prefetch(const ptx::Instruction& instruction, Instruction* result) {
  Modifiers modifiers(instruction);
  for (const char* const name : {"async", "bulk", "prefetch", "L2", "global"}) modifiers.take(name);
  const bool has_policy = take_hints(modifiers);
  modifiers.finish();
  expect_operands(instruction, has_policy ? 3 : 2);
  result->execute = memory::execute_nothing;
}

void decode_bulk(const ptx::Instruction& instruction, Decoder& decoder, Instruction* result) {
  Modifiers modifiers(instruction);
  for (const char* const name : {"async", "bulk"}) modifiers.take(name);
  if (modifiers.take("commit_group")) {
    result->execute = control::execute_bulk_commit;
  } else if (modifiers.take("wait_group")) {
    modifiers.take("read");
    result->offset = static_cast<std::int64_t>(integer_at(instruction, 0));
    result->execute = control::execute_bulk_wait;
  } else if (instruction.has("prefetch")) {
    decode_prefetch(instruction, result);
    return;
  } else {
    decode_copy_of_bytes(instruction, decoder, result);
    return;
  }
  modifiers.finish();
}

/// st.async [to], value, [barrier]; red.async.op [to], value, [barrier]
void decode_remote_store(const ptx::Instruction& instruction, Decoder& decoder,
                         Instruction* result) {
  Modifiers modifiers(instruction);
  auto detail = std::make_shared<control::RemoteStoreDetail>();
  const bool reduces = instruction.opcode == "red";
  detail->name = reduces ? "red.async" : "st.async";
  for (const char* const name : {"async", "weak", "relaxed", "cluster"}) modifiers.take(name);
  if (!modifiers.take("shared::cluster") || !modifiers.take("mbarrier::complete_tx::bytes")) {
    throw Unsupported("only .shared::cluster with .mbarrier::complete_tx::bytes");
  }
  detail->elements =
      static_cast<std::uint8_t>(modifiers.take_one<int>({{"v2", 2}, {"v4", 4}}).value_or(1));
  ptx::Type type = ptx::Type::none;
  if (reduces) {
    detail->reduction = take_reduction(modifiers, &type);
  } else {
    type = modifiers.take_type().value_or(ptx::Type::none);
  }
  modifiers.finish();
  const int bytes = ptx::bytes_of(type);
  if (bytes != 4 && bytes != 8) throw Unsupported("of this type");
  detail->element_bytes = static_cast<std::uint8_t>(bytes);
  expect_operands(instruction, 3);
  detail->to = address_at(instruction, 0, AccessSpace::cluster, decoder);
  const ptx::Operand& value = instruction.operands[1];
  std::span<const ptx::Operand> values(&value, 1);
  if (value.kind == ptx::Operand::Kind::vector) values = value.elements;
  if (values.size() != detail->elements) throw Unsupported("with so many values");
  for (std::size_t n = 0; n < values.size(); ++n) {
    detail->values[n] = decoder.source(values[n], type);
  }
  detail->barrier = address_at(instruction, 2, AccessSpace::cluster, decoder);
  detail->counter = decoder.counter(instruction);
  result->execute = control::execute_remote_store;
  result->detail = decoder.keep(std::move(detail));
}

}  // namespace

bool decode_bulk_copy(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa&,
                      Instruction* result) {
  const std::string& opcode = instruction.opcode;
  if (!instruction.has("async")) return false;
  if (opcode == "cp" && instruction.has("bulk") && !instruction.has("tensor")) {
    decode_bulk(instruction, decoder, result);
  } else if (opcode == "st" || opcode == "red") {
    decode_remote_store(instruction, decoder, result);
  } else {
    return false;
  }
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
