// Counts trailing zeros of registers, from what is assigned to them.
#include "harness/emulator/counting/alignment.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>

namespace warpgauge::emulator::counting {
namespace {

using ptx::Instruction;
using ptx::Operand;

constexpr int kMost = 6;  // no access is wider than 64 bytes
using Alignment = std::unordered_map<std::string_view, int>;

int zeros_of(std::uint64_t value) { return std::min(std::countr_zero(value), kMost); }

void add_variables(const std::vector<ptx::Variable>& variables, Alignment& alignment) {
  constexpr std::uint32_t kSharedAlignment = 16;
  for (const ptx::Variable& variable : variables) {
    const bool shared = variable.space == ptx::Space::shared;
    const std::uint32_t bytes = std::max(variable.alignment, shared ? kSharedAlignment : 1u);
    alignment[variable.name] = zeros_of(bytes);
  }
}

/// The alignments known in a function so far. Of a register that is not in `zeros` nothing has been
/// said yet.
struct Known {
  Alignment zeros;
  std::unordered_set<std::string_view> registers;
};

/// Zeros of an operand; nullopt for a register that nothing has been said of yet.
std::optional<int> zeros_of(const Operand& operand, const Known& known) {
  if (operand.kind == Operand::Kind::integer) return zeros_of(operand.bits);
  if (operand.kind != Operand::Kind::name) return 0;
  const auto found = known.zeros.find(operand.name);
  if (found != known.zeros.end()) {
    return std::min(found->second, zeros_of(static_cast<std::uint64_t>(operand.offset)));
  }
  if (known.registers.contains(operand.name)) return std::nullopt;
  return 0;  // %tid.x and the like
}

/// Zeros of what an instruction computes, from those of its sources; nullopt: not known yet.
std::optional<int> zeros_of_result(const Instruction& instruction, const Known& known) {
  const auto source = [&](std::size_t i) -> std::optional<int> {
    if (i >= instruction.operands.size()) return 0;
    return zeros_of(instruction.operands[i], known);
  };
  const auto lower = [](std::optional<int> a, std::optional<int> b) -> std::optional<int> {
    if (!a || !b) return a ? a : b;  // of a loop: what is not known yet may become anything
    return std::min(*a, *b);
  };
  const auto sum = [](std::optional<int> a, std::optional<int> b) -> std::optional<int> {
    if (!a || !b) return std::nullopt;
    return std::min(*a + *b, kMost);
  };
  const std::string_view opcode = instruction.opcode;
  if (opcode == "mov" || opcode == "cvta" || opcode == "cvt") return source(1);
  if (opcode == "add" || opcode == "sub" || opcode == "or" || opcode == "xor" || opcode == "selp" ||
      opcode == "min" || opcode == "max") {
    return lower(source(1), source(2));
  }
  if (opcode == "mul") return instruction.has("hi") ? 0 : sum(source(1), source(2));
  if (opcode == "mad") {
    return instruction.has("hi") ? 0 : lower(sum(source(1), source(2)), source(3));
  }
  if (opcode == "and") {
    const auto a = source(1), b = source(2);
    if (!a || !b) return std::nullopt;
    return std::max(*a, *b);
  }
  const bool by_number =
      instruction.operands.size() > 2 && instruction.operands[2].kind == Operand::Kind::integer;
  if (opcode == "shl" && by_number) {
    const auto bits = std::min<std::uint64_t>(instruction.operands[2].bits, kMost);
    return sum(source(1), static_cast<int>(bits));
  }
  if (opcode == "shl") return source(1);
  return 0;
}

}  // namespace

Alignment known_alignment(const ptx::Module& module, const ptx::Function& function) {
  Known known;
  add_variables(module.variables, known.zeros);
  add_variables(function.variables, known.zeros);
  for (const ptx::Register& declared : function.registers) known.registers.insert(declared.name);
  // Every register begins with as many zeros as there can be and loses them until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    const auto lower = [&](const Operand& result, int zeros) {
      if (!known.registers.contains(result.name)) return;
      const auto [place, is_new] = known.zeros.try_emplace(result.name, zeros);
      changed = changed || is_new || zeros < place->second;
      place->second = std::min(place->second, zeros);
    };
    for (const Instruction& instruction : function.body) {
      if (instruction.operands.empty()) continue;
      const Operand& result = instruction.operands.front();
      if (result.kind == Operand::Kind::name) {
        if (const auto zeros = zeros_of_result(instruction, known)) lower(result, *zeros);
      } else if (result.kind != Operand::Kind::address) {
        for (const Operand& element : result.elements) lower(element, 0);  // of a call, a vector
      }
    }
  }
  return known.zeros;
}

}  // namespace warpgauge::emulator::counting
