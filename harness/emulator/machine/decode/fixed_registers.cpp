// Registers that hold the same as long as a block runs: kernel parameters, special registers,
// constants. Where such a register is written once, it lies where the value does, and the
// instruction that would copy the value does nothing.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "harness/emulator/machine/decode/function_decoder.h"
#include "harness/emulator/machine/memory/address_conversion.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using OperandKind = ptx::Operand::Kind;
using Writes = std::unordered_map<std::string_view, int>;

void note_names(const ptx::Operand& operand, Writes* writes) {
  if (operand.kind == OperandKind::name) ++(*writes)[operand.name];
  for (const ptx::Operand& element : operand.elements) note_names(element, writes);
}

/// By register, how many instructions may write it. Results are first, but for those of calls.
Writes writes_of(const ptx::Function& function) {
  Writes writes;
  for (const ptx::Instruction& instruction : function.body) {
    if (instruction.opcode == "st" || instruction.opcode == "red") continue;
    const std::size_t results = instruction.opcode == "call" ? instruction.operands.size() : 1;
    for (std::size_t n = 0; n < results && n < instruction.operands.size(); ++n) {
      note_names(instruction.operands[n], &writes);
    }
  }
  return writes;
}

bool is_plain(const ptx::Operand& operand) { return !operand.negated && operand.selector.empty(); }

}  // namespace

void FunctionDecoder::place_fixed_registers() {
  const Writes writes = writes_of(function());
  const auto& body = function().body;
  for (std::size_t position = 0; position < body.size(); ++position) {
    const ptx::Instruction& instruction = body[position];
    if (instruction.guard || instruction.operands.size() != 2) continue;
    const ptx::Operand& result = instruction.operands[0];
    const auto declared = types_.find(result.name);
    if (result.kind != OperandKind::name || declared == types_.end()) continue;
    if (lane_bytes(declared->second) == 0 || writes.at(result.name) != 1) continue;
    const std::optional<OperandSlot> slot = fixed_source(instruction, declared->second);
    if (slot && slots_.try_emplace(result.name, *slot).second) {
      fixed_.insert(static_cast<std::uint32_t>(position));
    }
  }
}

std::optional<OperandSlot> FunctionDecoder::fixed_source(const ptx::Instruction& instruction,
                                                         ptx::Type type) {
  const ptx::Operand& operand = instruction.operands[1];
  const bool is_cast = instruction.opcode == "cvta" && instruction.has("global");
  const bool of_type =
      !instruction.modifiers.empty() &&
      ptx::bytes_of(ptx::type_from(instruction.modifiers.back()).value_or(ptx::Type::none)) ==
          lane_bytes(type);
  if (!of_type || !is_plain(operand)) return std::nullopt;
  if (instruction.opcode == "ld") return fixed_parameter(instruction, type);
  if (instruction.opcode != "mov" && !is_cast) return std::nullopt;
  if (operand.kind == OperandKind::integer || operand.kind == OperandKind::real)
    return immediate(operand, type);
  if (operand.kind != OperandKind::name) return std::nullopt;
  if (types_.contains(operand.name)) {
    const auto known = slots_.find(operand.name);
    const bool is_fixed = known != slots_.end() && known->second.base != OperandSlot::frame;
    return is_fixed && lane_bytes(types_.at(operand.name)) == lane_bytes(type)
               ? std::optional(known->second)
               : std::nullopt;
  }
  const Special* const special = find_special(operand.name);
  if (special == nullptr || lane_bytes(special->type) != lane_bytes(type)) return std::nullopt;
  return kernel_.result->specials.add(*special);
}

/// The vector of what a load reads of a parameter of the kernel.
std::optional<OperandSlot> FunctionDecoder::fixed_parameter(const ptx::Instruction& instruction,
                                                            ptx::Type type) {
  const ptx::Operand& operand = instruction.operands[1];
  if (!instruction.has("param") || operand.kind != OperandKind::address) return std::nullopt;
  if (operand.elements.size() != 1) return std::nullopt;
  const std::string& name = operand.elements[0].name;
  const auto is_hidden = [&](const ptx::Variable& parameter) {
    return parameter.is_hidden && parameter.name == name;
  };
  if (std::ranges::any_of(function().parameters, is_hidden)) return std::nullopt;
  const std::optional<Location> found = place(name);
  if (!found || found->kind != Location::Kind::kernel_parameter) return std::nullopt;
  const auto bytes = static_cast<std::uint64_t>(lane_bytes(type));
  const auto offset = static_cast<std::uint64_t>(operand.offset);
  const std::uint64_t address = found->address + offset;
  if (offset > found->bytes || bytes > found->bytes - offset || address % bytes != 0) {
    return std::nullopt;  // the load itself says what is wrong
  }
  return kernel_.result->parameters.add(address, static_cast<int>(bytes));
}

}  // namespace warpgauge::emulator::machine::decode
