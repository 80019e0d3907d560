// When the registers of a function hold values that are still needed: registers whose lives do not
// overlap may lie in the same place, which keeps warps small enough for the host's caches (compiled
// PTX names a new register for every value).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/emulator/machine/decode/code_layout.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::decode {

using RegisterNumbers = std::unordered_map<std::string_view, std::size_t>;

/// The registers that an operand names, by their numbers.
template <typename Visit>
void each_register(const ptx::Operand& operand, const RegisterNumbers& numbers,
                   const Visit& visit) {
  if (const auto found = numbers.find(operand.name); found != numbers.end()) visit(found->second);
  for (const ptx::Operand& element : operand.elements) each_register(element, numbers, visit);
}

/// Whether its first operand is a result and nothing else.
bool has_result(const ptx::Instruction& instruction);

/// From the first place in the code to the last, both included.
struct RegisterLife {
  const ptx::Register* variable = nullptr;
  std::uint32_t first = 0, last = 0;
};

/// The lives of all registers that the body mentions, by their first places. `places` says where
/// in the code the instruction of each position of the body is; blocks are in one piece. The
/// destinations of an instruction live at the same time as its sources.
std::vector<RegisterLife> register_lives(const ptx::Function& function, const BlockGraph& graph,
                                         const std::vector<std::uint32_t>& places);

}  // namespace warpgauge::emulator::machine::decode
