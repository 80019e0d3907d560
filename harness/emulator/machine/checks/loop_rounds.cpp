// Finds loops by the branches that go back.
#include "harness/emulator/machine/checks/loop_rounds.h"

#include <algorithm>
#include <string>

#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::checks {
namespace {

/// Whether a branch behind `last` goes to a label that is not behind `first`.
bool are_in_one_loop(const ptx::Function& function, std::uint32_t first, std::uint32_t last) {
  for (std::size_t at = last; at < function.body.size(); ++at) {
    const ptx::Instruction& branch = function.body[at];
    if (branch.opcode != "bra" || branch.operands.empty()) continue;
    const auto label =
        std::ranges::find(function.labels, branch.operands[0].name, &ptx::Label::name);
    if (label != function.labels.end() && label->position <= first) return true;
  }
  return false;
}

bool is_barrier(const ptx::Instruction& instruction) {
  return (instruction.opcode == "bar" || instruction.opcode == "barrier") &&
         !instruction.has("arrive") && !instruction.has("warp");
}

}  // namespace

bool are_of_different_rounds(const Code& code, std::uint32_t first, std::uint32_t second) {
  const ptx::Function& function = *code.function;
  if (first > second) std::swap(first, second);
  return std::any_of(function.body.begin() + first, function.body.begin() + second, is_barrier) &&
         are_in_one_loop(function, first, second);
}

}  // namespace warpgauge::emulator::machine::checks
