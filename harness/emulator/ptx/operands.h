// Operands of instructions.
#pragma once

#include "harness/emulator/ptx/module.h"
#include "harness/emulator/ptx/token_stream.h"

namespace warpgauge::emulator::ptx {

/// One operand of any form. `in_call`: "(" begins a list of arguments, not an expression.
Operand parse_operand(TokenStream& stream, bool in_call);

/// The guard after @: a name, perhaps negated.
Operand parse_guard(TokenStream& stream);

/// Calls `visit` with the name of every register, variable, label and function in `operand`.
template <typename Visit>
void for_each_name(Operand& operand, const Visit& visit) {
  if (operand.kind == Operand::Kind::name) visit(operand.name);
  for (Operand& element : operand.elements) for_each_name(element, visit);
}

}  // namespace warpgauge::emulator::ptx
