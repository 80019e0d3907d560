// Decodes ld, ldu and st.
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/decode/memory_common.h"

namespace warpgauge::emulator::machine::decode {
namespace {

/// The modifiers of a move.
struct Move {
  AccessSpace space = AccessSpace::generic;
  ptx::Type type = ptx::Type::none;
  int elements = 1;
  std::uint16_t flags = 0;
  bool is_strong = false;
  std::size_t operands = 2;
};

Move take_move(const ptx::Instruction& instruction) {
  Modifiers modifiers(instruction);
  Move move;
  move.space = take_space(modifiers);
  if (modifiers.take("acquire")) move.flags |= memory_flag::kAcquire;
  if (modifiers.take("release")) move.flags |= memory_flag::kRelease;
  // Every access goes to memory at once, so these ask for nothing more.
  move.is_strong = move.flags != 0 || instruction.has("cv");
  move.flags |= memory_flag::of_scope(scope_of(instruction));
  for (const char* const name : {"volatile", "relaxed", "mmio"}) {
    if (modifiers.take(name)) move.is_strong = true;
  }
  for (const char* const name : {"weak", "unified"}) modifiers.take(name);
  if (take_hints(modifiers)) ++move.operands;
  move.elements = modifiers.take_one<int>({{"v2", 2}, {"v4", 4}, {"v8", 8}}).value_or(1);
  move.type = modifiers.take_type().value_or(ptx::Type::none);
  modifiers.finish();
  if (ptx::bytes_of(move.type) == 0) throw Unsupported("of this type");
  return move;
}

/// Where a parameter is: that of a kernel in the launch's buffer, all others in local memory.
AccessSpace place_of_parameter(const ptx::Operand& address, int width, const Decoder& decoder) {
  if (address.kind != ptx::Operand::Kind::address || address.elements.empty()) {
    return AccessSpace::parameter;
  }
  const std::optional<Location> place = decoder.place(address.elements[0].name);
  if (!place) return decoder.decodes_kernel() ? AccessSpace::parameter : AccessSpace::local;
  if (place->kind == Location::Kind::local) return AccessSpace::local;
  if (place->kind != Location::Kind::kernel_parameter) throw Unsupported("of no parameter");
  const std::int64_t offset = address.offset;
  if (offset < 0 || static_cast<std::uint64_t>(offset + width) > place->bytes) {
    throw Unsupported("bytes outside of the parameter " + address.elements[0].name);
  }
  if ((place->address + static_cast<std::uint64_t>(offset)) % width != 0) {
    throw Unsupported("a misaligned access to the parameter " + address.elements[0].name);
  }
  return AccessSpace::fixed_parameter;
}

bool is_signed(ptx::Type type) {
  return type == ptx::Type::s8 || type == ptx::Type::s16 || type == ptx::Type::s32;
}

/// The type as which all registers of the vector are read or written: at least as wide as `type`.
ptx::Type type_of_registers(std::span<const ptx::Operand> elements, ptx::Type type,
                            const Decoder& decoder) {
  ptx::Type result = ptx::Type::none;
  for (const ptx::Operand& element : elements) {
    const ptx::Type declared = decoder.register_type(element);
    if (declared == ptx::Type::none) continue;  // an immediate or _
    if (result != ptx::Type::none && ptx::bytes_of(declared) != ptx::bytes_of(result)) {
      throw Unsupported("registers of several widths");
    }
    result = declared;
  }
  if (result == ptx::Type::none) return type;
  if (ptx::bytes_of(result) < ptx::bytes_of(type)) throw Unsupported("a register too narrow");
  return result;
}

}  // namespace

bool decode_move(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                 Instruction* result) {
  const bool store = instruction.opcode == "st";
  if (!store && instruction.opcode != "ld" && instruction.opcode != "ldu") return false;
  Move move = take_move(instruction);
  if (instruction.operands.size() > move.operands) throw Unsupported("with so many operands");
  const ptx::Operand& address = operand_at(instruction, store ? 0 : 1);
  const int bytes = ptx::bytes_of(move.type);
  const int width = bytes * move.elements;
  const bool is_parameter = move.space == AccessSpace::parameter;
  if (is_parameter) move.space = place_of_parameter(address, width, decoder);

  auto detail = std::make_shared<MoveDetail>();
  detail->access = decode_access(
      instruction, decoder, store ? AccessEffect::write : AccessEffect::read, move.space, width);
  if (is_parameter) detail->access.counts = false;
  detail->access.is_store = store;
  detail->access.is_strong = move.is_strong;
  detail->access.is_read_only = instruction.has("nc");
  const auto elements = elements_of(operand_at(instruction, store ? 1 : 0), move.elements);
  const ptx::Type type = type_of_registers(elements, move.type, decoder);
  for (std::size_t n = 0; n < elements.size(); ++n) {
    detail->elements[n] =
        store ? decoder.source(elements[n], type) : decoder.destination(elements[n], type);
  }
  detail->element_bytes = static_cast<std::uint8_t>(bytes);
  detail->register_bytes = static_cast<std::uint8_t>(ptx::bytes_of(type));
  detail->sign_extends = is_signed(move.type);

  const Address at = decode_address(address, move.space, decoder);
  detail->access.short_address = at.is_short;
  result->sources[0] = at.slot;
  result->offset = at.offset;
  result->flags = move.flags;
  if (move.space == AccessSpace::fixed_parameter) {
    result->offset += static_cast<std::int64_t>(decoder.place(address.elements[0].name)->address);
  }
  result->execute = isa.memory({.store = store,
                                .space = move.space,
                                .element_bytes = detail->element_bytes,
                                .elements = static_cast<std::uint8_t>(move.elements),
                                .converts = detail->register_bytes != detail->element_bytes});
  result->detail = decoder.keep(std::move(detail));
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
