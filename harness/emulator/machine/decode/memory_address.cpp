// Decodes what handles addresses without accessing memory (cvta, isspacep), fences, and hints to
// caches, which do nothing here.
#include "harness/emulator/machine/core/window.h"
#include "harness/emulator/machine/decode/memory_common.h"
#include "harness/emulator/machine/memory/address_conversion.h"

namespace warpgauge::emulator::machine::decode {
namespace {

/// The window whose base makes an address of the space generic.
Window window_of(AccessSpace space, const ptx::Operand& operand, const Decoder& decoder) {
  switch (space) {
    case AccessSpace::shared:
    case AccessSpace::cluster:
      return Window::shared;
    case AccessSpace::local:
      return Window::local;
    case AccessSpace::constant:
      return Window::constant;
    case AccessSpace::parameter: {
      const auto place = decoder.place(operand.name);
      const bool is_local =
          place ? place->kind == Location::Kind::local : !decoder.decodes_kernel();
      return is_local ? Window::local : Window::parameter;
    }
    default:
      return Window::global;
  }
}

void decode_cvta(const ptx::Instruction& instruction, Decoder& decoder, Instruction* result) {
  Modifiers modifiers(instruction);
  const bool from_generic = modifiers.take("to");
  const AccessSpace space = take_space(modifiers);
  if (!modifiers.take("u64")) throw Unsupported("addresses have 64 bits");
  modifiers.finish();
  if (space == AccessSpace::generic) throw Unsupported("without a state space");
  const ptx::Operand& operand = operand_at(instruction, 1);
  const Window window = window_of(space, operand, decoder);
  // Global and constant addresses are generic ones as they are.
  const bool same = window == Window::global || window == Window::constant;
  const auto base = same ? 0 : static_cast<std::int64_t>(window_base(window));
  result->destination = decoder.destination(operand_at(instruction, 0), ptx::Type::u64);
  result->sources[0] = decoder.source(operand, ptx::Type::u64);
  result->offset = from_generic ? -base : base;
  result->execute = memory::execute_add_offset;
}

void decode_isspacep(const ptx::Instruction& instruction, Decoder& decoder, Instruction* result) {
  Modifiers modifiers(instruction);
  const AccessSpace space = take_space(modifiers);
  modifiers.finish();
  if (space == AccessSpace::generic) throw Unsupported("without a state space");
  const ptx::Operand& operand = operand_at(instruction, 1);
  const Window window =
      space == AccessSpace::parameter ? Window::parameter : window_of(space, operand, decoder);
  result->destination = decoder.destination(operand_at(instruction, 0), ptx::Type::pred);
  result->sources[0] = decoder.source(operand, ptx::Type::u64);
  result->flags = static_cast<std::uint16_t>(window);
  if (space == AccessSpace::shared) result->flags |= memory::kOfBlock;
  result->execute = memory::execute_is_in_window;
}

/// The proxies see memory in the same way here. True of a fence for shared memory.
bool take_proxy(Modifiers& modifiers) {
  if (modifiers.take("alias") || modifiers.take("tensormap::generic")) return false;
  if (!modifiers.take("async") && !modifiers.take("async::generic")) {
    throw Unsupported("of this proxy");
  }
  if (modifiers.take("global")) return false;
  for (const char* const name : {"shared::cta", "shared::cluster", "sync_restrict::shared::cta",
                                 "sync_restrict::shared::cluster"}) {
    modifiers.take(name);
  }
  return true;
}

void decode_fence(const ptx::Instruction& instruction, Instruction* result) {
  Modifiers modifiers(instruction);
  for (const char* const name : {"sc", "acq_rel", "acquire", "release", "cta", "cluster",
                                 "sync_restrict::shared::cta", "sync_restrict::shared::cluster"}) {
    modifiers.take(name);
  }
  if (modifiers.take("mbarrier_init")) result->flags |= memory::kOfMbarriers;
  if (modifiers.take("proxy") && take_proxy(modifiers)) result->flags |= memory::kOfProxy;
  result->flags |= memory_flag::of_scope(scope_of(instruction));
  for (const char* const name : {"gpu", "gl", "sys"}) modifiers.take(name);
  modifiers.finish();
  result->execute = memory::execute_fence;
}

/// Hints: checked for nothing but their operand, which must be an address.
void decode_hint(const ptx::Instruction& instruction, Instruction* result) {
  Modifiers modifiers(instruction);
  take_space(modifiers);
  take_hints(modifiers);
  for (const char* const name : {"L1", "L2"}) modifiers.take(name);
  modifiers.finish();
  if (operand_at(instruction, 0).kind != ptx::Operand::Kind::address) {
    throw Unsupported("without an address");
  }
  result->execute = memory::execute_nothing;
}

}  // namespace

bool decode_address_op(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa&,
                       Instruction* result) {
  const std::string& opcode = instruction.opcode;
  if (opcode == "cvta") {
    decode_cvta(instruction, decoder, result);
  } else if (opcode == "isspacep") {
    decode_isspacep(instruction, decoder, result);
  } else if (opcode == "fence" || opcode == "membar") {
    decode_fence(instruction, result);
  } else if (opcode == "prefetch" || opcode == "prefetchu" || opcode == "applypriority" ||
             opcode == "discard") {
    decode_hint(instruction, result);
  } else if (opcode == "createpolicy") {  // only ever used as a hint
    result->destination = decoder.destination(operand_at(instruction, 0), ptx::Type::b64);
    result->execute = memory::execute_zero;
  } else {
    return false;
  }
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
