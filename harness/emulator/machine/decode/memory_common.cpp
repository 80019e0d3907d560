// Addresses, spaces and counters of memory instructions.
#include "harness/emulator/machine/decode/memory_common.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "harness/emulator/machine/decode/families.h"
#include "harness/emulator/machine/decode/fragment.h"

namespace warpgauge::emulator::machine::decode {
namespace {

/// Up to this offset from a register 32-bit addresses of shared memory cannot wrap around.
constexpr std::int64_t kMostOffset = std::int64_t{1} << 30;

std::uint8_t low_mask(int bytes) { return static_cast<std::uint8_t>(bytes - 1); }

}  // namespace

AccessSpace take_space(Modifiers& modifiers) {
  return modifiers
      .take_one<AccessSpace>({{"global", AccessSpace::global},
                              {"shared", AccessSpace::shared},
                              {"shared::cta", AccessSpace::shared},
                              {"shared::cluster", AccessSpace::cluster},
                              {"local", AccessSpace::local},
                              {"const", AccessSpace::constant},
                              {"param", AccessSpace::parameter},
                              {"param::entry", AccessSpace::parameter},
                              {"param::func", AccessSpace::parameter}})
      .value_or(AccessSpace::generic);
}

Scope scope_of(const ptx::Instruction& instruction) {
  if (instruction.has("cta")) return Scope::block;
  return instruction.has("cluster") ? Scope::cluster : Scope::grid;
}

bool take_hints(Modifiers& modifiers) {
  for (const char* const name : {"cta",
                                 "cluster",
                                 "gpu",
                                 "sys",
                                 "ca",
                                 "cg",
                                 "cs",
                                 "lu",
                                 "cv",
                                 "wb",
                                 "wt",
                                 "nc",
                                 "L1::evict_normal",
                                 "L1::evict_unchanged",
                                 "L1::evict_first",
                                 "L1::evict_last",
                                 "L1::no_allocate",
                                 "L2::evict_normal",
                                 "L2::evict_first",
                                 "L2::evict_last",
                                 "L2::64B",
                                 "L2::128B",
                                 "L2::256B"}) {
    modifiers.take(name);
  }
  return modifiers.take("L2::cache_hint");
}

std::optional<memory::AtomicOp> take_atomic_op(Modifiers& modifiers) {
  return modifiers.take_one<memory::AtomicOp>({{"add", memory::AtomicOp::add},
                                               {"min", memory::AtomicOp::min},
                                               {"max", memory::AtomicOp::max},
                                               {"inc", memory::AtomicOp::increment},
                                               {"dec", memory::AtomicOp::decrement},
                                               {"exch", memory::AtomicOp::exchange},
                                               {"cas", memory::AtomicOp::compare_and_swap},
                                               {"and", memory::AtomicOp::bit_and},
                                               {"or", memory::AtomicOp::bit_or},
                                               {"xor", memory::AtomicOp::bit_xor}});
}

memory::AtomicOp take_reduction_op(Modifiers& modifiers) {
  const auto op = take_atomic_op(modifiers);
  const bool reduces =
      op && *op != memory::AtomicOp::exchange && *op != memory::AtomicOp::compare_and_swap;
  if (!reduces) throw Unsupported("unknown operation");
  return *op;
}

std::span<const ptx::Operand> elements_of(const ptx::Operand& operand, int count) {
  std::span<const ptx::Operand> elements(&operand, 1);
  if (operand.kind == ptx::Operand::Kind::vector) elements = operand.elements;
  if (elements.size() != static_cast<std::size_t>(count)) {
    throw Unsupported("a vector of " + std::to_string(elements.size()) + " registers for " +
                      std::to_string(count) + " values");
  }
  return elements;
}

const ptx::Operand& operand_at(const ptx::Instruction& instruction, std::size_t n) {
  if (n >= instruction.operands.size()) throw Unsupported("with so few operands");
  return instruction.operands[n];
}

std::uint64_t integer_at(const ptx::Instruction& instruction, std::size_t n) {
  const ptx::Operand& operand = operand_at(instruction, n);
  if (operand.kind != ptx::Operand::Kind::integer) throw Unsupported("a number is missing");
  return operand.bits;
}

Address decode_address(const ptx::Operand& operand, AccessSpace space, Decoder& decoder) {
  if (operand.kind != ptx::Operand::Kind::address || operand.elements.size() != 1) {
    throw Unsupported("an address of another form than [base + offset]");
  }
  const ptx::Operand& base = operand.elements[0];
  ptx::Type type = decoder.register_type(base);
  const bool is_shared = space == AccessSpace::shared || space == AccessSpace::cluster;
  if (type == ptx::Type::none) {
    type = is_shared ? ptx::Type::u32 : ptx::Type::u64;
  }
  const bool is_short = ptx::bytes_of(type) == 4;
  if (!is_short && ptx::bytes_of(type) != 8) throw Unsupported("an address that has not 64 bits");
  const bool offsets = is_shared || space == AccessSpace::local || space == AccessSpace::parameter;
  if (is_short && !offsets) throw Unsupported("an address of 32 bits");
  if (offsets && std::abs(operand.offset) > kMostOffset) {
    throw Unsupported("the offset " + std::to_string(operand.offset));
  }
  return {decoder.source(base, type), is_short, operand.offset};
}

memory::BulkCounter bulk_counter(const ptx::Instruction& instruction, Decoder& decoder) {
  const AccessPlan plan = decoder.access_plan(instruction);
  return {decoder.counter(instruction), plan.role == AccessPlan::Role::one_for_all};
}

Access decode_access(const ptx::Instruction& instruction, Decoder& decoder, AccessEffect effect,
                     AccessSpace space, int width) {
  const AccessPlan plan = decoder.access_plan(instruction);
  using Role = AccessPlan::Role;
  Access access;
  access.effect = effect;
  access.space = space;
  access.width = static_cast<std::uint8_t>(width);
  access.used_to = access.width;
  if (instruction.used_bytes != UINT32_MAX) {
    const std::uint32_t used = instruction.used_bytes & UINT32_MAX >> (32 - std::min(width, 32));
    if (used == 0) throw Unsupported("which uses none of its bytes");
    access.used_from = static_cast<std::uint8_t>(std::countr_zero(used));
    access.used_to = static_cast<std::uint8_t>(std::bit_width(used));
  }
  access.counts = plan.role != Role::absorbed && space != AccessSpace::constant &&
                  space != AccessSpace::parameter && space != AccessSpace::cluster;
  access.counted_width = static_cast<std::uint8_t>(plan.role == Role::leader ? plan.width : width);
  switch (effect) {
    case AccessEffect::read:
      access.shared_kind = metrics::AccessKind::shared_load;
      break;
    case AccessEffect::write:
      access.shared_kind = metrics::AccessKind::shared_store;
      break;
    case AccessEffect::update:
      access.shared_kind = metrics::AccessKind::shared_atomic;
      break;
  }
  if (plan.role == Role::one_for_all) {
    access.shared_kind = metrics::AccessKind::shared_popc_increment;
  }
  access.cas_loop = plan.role == Role::compare_and_swap;

  const int counted = access.counts ? access.counted_width : width;
  access.low_mask[0] = low_mask(access.counts ? 128 : width);                // cache lines
  access.low_mask[1] = access.low_mask[2] = low_mask(std::max(4, counted));  // words
  const bool generic = space == AccessSpace::generic;
  const auto counter = [&](bool needed) -> std::uint32_t {
    return needed ? decoder.counter(instruction) : 0;
  };
  access.counters[0] =
      counter(generic || space == AccessSpace::global || space == AccessSpace::constant);
  access.counters[1] =
      counter(generic || space == AccessSpace::shared || space == AccessSpace::cluster);
  access.counters[2] = counter(generic || space == AccessSpace::local);
  const bool has_clusters = decoder.architecture().major >= 9;
  access.cluster_counter = counter((generic && has_clusters) || space == AccessSpace::cluster);
  return access;
}

bool decode_memory(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                   Instruction* result) {
  return decode_bulk_copy(instruction, decoder, isa, result) ||
         decode_tensor_copy(instruction, decoder, isa, result) ||
         decode_move(instruction, decoder, isa, result) ||
         decode_atomic(instruction, decoder, isa, result) ||
         decode_async(instruction, decoder, isa, result) ||
         decode_fragment_move(instruction, decoder, isa, result) ||
         decode_address_op(instruction, decoder, isa, result);
}

}  // namespace warpgauge::emulator::machine::decode
