// Decodes atom and red.
#include <memory>
#include <span>

#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/decode/memory_common.h"
#include "harness/emulator/machine/memory/atomic_operations.h"

namespace warpgauge::emulator::machine::decode {
namespace {

struct Atomic {
  AccessSpace space = AccessSpace::generic;
  memory::AtomicOp op = memory::AtomicOp::add;
  ptx::Type type = ptx::Type::none;
  int elements = 1;
  bool has_policy = false;
  std::uint16_t flags = 0;
};

Atomic take_atomic(const ptx::Instruction& instruction) {
  Modifiers modifiers(instruction);
  Atomic atomic;
  atomic.space = take_space(modifiers);
  const auto op = take_atomic_op(modifiers);
  if (!op) throw Unsupported("unknown operation");
  atomic.op = *op;
  // Atomics are sequentially consistent here; 16-bit formats never flush subnormals.
  if (modifiers.take("release")) atomic.flags |= memory_flag::kRelease;
  if (modifiers.take("acquire")) atomic.flags |= memory_flag::kAcquire;
  if (modifiers.take("acq_rel")) atomic.flags |= memory_flag::kRelease | memory_flag::kAcquire;
  for (const char* const name : {"relaxed", "noftz"}) modifiers.take(name);
  atomic.flags |= memory_flag::of_scope(scope_of(instruction));
  atomic.has_policy = take_hints(modifiers);
  atomic.elements = modifiers.take_one<int>({{"v2", 2}, {"v4", 4}, {"v8", 8}}).value_or(1);
  atomic.type = modifiers.take_type().value_or(ptx::Type::none);
  modifiers.finish();
  if (atomic.elements * ptx::bytes_of(atomic.type) > 16) throw Unsupported("wider than 16 bytes");
  if (atomic.elements > 1 && atomic.space == AccessSpace::shared) {
    throw Unsupported("vectors are for global memory");
  }
  return atomic;
}

}  // namespace

bool decode_atomic(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                   Instruction* result) {
  const bool returns = instruction.opcode == "atom";
  if (!returns && instruction.opcode != "red") return false;
  const Atomic atomic = take_atomic(instruction);
  auto detail = std::make_shared<AtomicDetail>();
  detail->operation = atomic_operation(atomic.op, atomic.type);
  if (detail->operation == nullptr) throw Unsupported("this operation on this type");
  detail->element_bytes = static_cast<std::uint8_t>(ptx::bytes_of(atomic.type));
  detail->elements = static_cast<std::uint8_t>(atomic.elements);
  detail->has_c = atomic.op == memory::AtomicOp::compare_and_swap;

  const std::size_t first = returns ? 1 : 0;  // operand: the address
  const std::size_t count = first + 2 + (detail->has_c ? 1 : 0) + (atomic.has_policy ? 1 : 0);
  if (instruction.operands.size() != count) throw Unsupported("with so many operands");
  detail->access = decode_access(instruction, decoder, AccessEffect::update, atomic.space,
                                 atomic.elements * detail->element_bytes);
  detail->access.is_strong = true;
  // What an exchange returns is mostly of no use where it gives memory its first value.
  detail->access.overwrites = atomic.op == memory::AtomicOp::exchange;
  result->flags = atomic.flags;
  if (detail->has_c) detail->access.shared_kind = metrics::AccessKind::shared_cas;

  const Address at = decode_address(instruction.operands[first], atomic.space, decoder);
  detail->access.short_address = at.is_short;
  result->sources[0] = at.slot;
  result->offset = at.offset;
  const auto b = elements_of(instruction.operands[first + 1], atomic.elements);
  for (std::size_t n = 0; n < b.size(); ++n) detail->b[n] = decoder.source(b[n], atomic.type);
  if (detail->has_c) detail->c = decoder.source(instruction.operands[first + 2], atomic.type);
  detail->returns = returns && instruction.operands[0].kind != ptx::Operand::Kind::sink;
  if (detail->returns) {
    const auto results = elements_of(instruction.operands[0], atomic.elements);
    for (std::size_t n = 0; n < results.size(); ++n) {
      detail->results[n] = decoder.destination(results[n], atomic.type);
    }
  }
  result->execute = isa.atomic();
  result->detail = decoder.keep(std::move(detail));
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
