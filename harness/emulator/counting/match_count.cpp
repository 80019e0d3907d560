// Compares how often the machine code has the accesses that stand beside each other.
#include "harness/emulator/counting/match_count.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>

namespace warpgauge::emulator::counting {
namespace {

using metrics::MemoryInstruction;

/// How often an access was found, by innermost loop of the machine code.
using Copies = std::map<std::size_t, std::size_t>;

Copies copies_of(const Match& match, const MachineFlow& machine) {
  Copies copies;
  for (const MemoryInstruction& instruction : match.found) {
    const std::size_t block = machine.block_at(instruction.pc);
    const auto is_around = [&](const metrics::FlowGraph::Loop& loop) {
      const bool by_lane = instruction.op == metrics::MemoryOp::bulk &&
                           machine.is_by_lane(loop, match.access->text_line);
      return loop.contains[block] && !by_lane;
    };
    const auto innermost = std::ranges::find_if(machine.loops(), is_around);
    ++copies[static_cast<std::size_t>(innermost - machine.loops().begin())];
  }
  return copies;
}

/// How often ptxas has the code of a block, by accesses that it can neither repeat nor leave out,
/// or by most of the others; nullopt if these do not agree.
std::optional<Copies> copies_of_block(const std::vector<Match*>& block,
                                      const MachineFlow& machine) {
  std::map<Copies, std::size_t> stores, loads;
  for (const Match* match : block) {
    ++(match->access->is_load() ? loads : stores)[copies_of(*match, machine)];
  }
  const auto& votes = stores.empty() ? loads : stores;
  const auto most =
      std::ranges::max_element(votes, {}, [](const auto& entry) { return entry.second; });
  const auto equal =
      std::ranges::count_if(votes, [&](const auto& entry) { return entry.second == most->second; });
  if (equal > 1) return std::nullopt;
  return most->first;
}

}  // namespace

void compare_neighbours(const std::vector<Match*>& block, const MachineFlow& machine) {
  const auto usual = copies_of_block(block, machine);
  for (Match* match : block) {
    if (!match->standing.difference.empty()) continue;
    std::set<std::size_t> blocks;
    for (const MemoryInstruction& instruction : match->found)
      blocks.insert(machine.block_at(instruction.pc));
    const bool repeated = match->loop_header_last_line == 0 && blocks.size() < match->found.size();
    if (repeated || copies_of(*match, machine) != usual) {
      match->standing.difference =
          "ptxas has it more or less often than its neighbours: it loads again, or uses again what "
          "it has loaded";
    }
  }
}

bool is_once(const Match& access, const std::vector<Match>& matches, const MachineFlow& machine) {
  const auto shows = [&](const Match& other) {
    const bool as_written =
        std::ranges::all_of(other.found, [&](const MemoryInstruction& instruction) {
          return instruction.width == other.access->width;
        });
    // ptxas can neither repeat it, nor leave it out, nor has it made one of several.
    return other.loop_header_last_line == access.loop_header_last_line &&
           !other.access->is_load() && !other.is_in_cas_loop && !other.found.empty() &&
           as_written && copies_of(other, machine) == copies_of(access, machine);
  };
  return access.loop_header_last_line == 0 || std::ranges::any_of(matches, shows);
}

}  // namespace warpgauge::emulator::counting
