// Sorts the accesses of a fragment of wmma in the machine code into copies of it.
#include "harness/emulator/counting/wmma_copies.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace warpgauge::emulator::counting {
namespace {

using metrics::MemoryInstruction;
using metrics::MemoryOp;

bool is_part(const MemoryInstruction& instruction, const PtxAccess& access) {
  const bool by_rows = instruction.op == MemoryOp::ldsm;
  return instruction.width == access.width && by_rows == access.by_rows;
}

/// The first access of each copy; empty if a block of the machine code has not whole copies. Of a
/// fragment with parts that are not used two copies can have as many accesses as a whole one.
std::vector<MemoryInstruction> first_of_each_copy(const Match& match, const MachineFlow& machine) {
  const PtxAccess& access = *match.access;
  const auto parts = static_cast<std::size_t>(access.parts);
  std::vector<MemoryInstruction> firsts;
  std::map<std::size_t, std::size_t> counts;  // by block
  for (const MemoryInstruction& instruction : match.found) {
    if (parts == 0 || !is_part(instruction, access)) return {};
    if (counts[machine.block_at(instruction.pc)]++ % parts == 0) firsts.push_back(instruction);
  }
  const bool are_whole = std::ranges::all_of(counts, [&](const auto& block) {
    return block.second == parts || (block.second % parts == 0 && access.is_used);
  });
  return are_whole ? firsts : std::vector<MemoryInstruction>{};
}

}  // namespace

void keep_one_of_each_copy(Match& match, const MachineFlow& machine) {
  const bool is_guarded = std::ranges::any_of(match.found, &MemoryInstruction::guarded);
  match.found = first_of_each_copy(match, machine);
  if (match.found.empty()) {
    match.standing.difference =
        "the machine code has other accesses for it than the emulator counts";
  } else if (is_guarded) {
    match.standing.difference = "a condition decides its accesses in the machine code";
    match.found.clear();
  }
}

}  // namespace warpgauge::emulator::counting
