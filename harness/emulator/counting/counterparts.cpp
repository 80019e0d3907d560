// Finds the branches and loops of the PTX that those of the machine code were made of.
#include "harness/emulator/counting/counterparts.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace warpgauge::emulator::counting {

using metrics::FlowGraph;

Counterparts::Counterparts(const PtxFlow& flow, std::span<const PtxFlow> all,
                           const MachineFlow& machine)
    : flow_(flow), all_(all), machine_(machine), loops_(flow.graph().loops()) {
  for (std::size_t block = 0; block < machine.graph().size(); ++block) {
    branches_.push_back(branch_at(block));
  }
  find_by_meeting_point();
  for (const FlowGraph::Loop& loop : machine.loops()) same_loop_.push_back(same_loop(loop));
}

Counterpart Counterparts::branch_at(std::size_t machine_block) const {
  if (machine_.graph().behind(machine_block).size() < 2) return {};
  const auto line = machine_.last_line(machine_block);
  if (!line) return {};
  const auto block = flow_.block_at(*line);
  if (!block) {
    const bool elsewhere = std::ranges::any_of(
        all_, [&](const PtxFlow& flow) { return flow.block_at(*line).has_value(); });
    return {elsewhere ? Counterpart::Kind::of_another_function : Counterpart::Kind::none};
  }
  return {Counterpart::Kind::found, branch_before(*block)};
}

/// The machine code has one branch for "@%p bra A; bra.uni B;", with any of these lines or one at
/// B.
std::size_t Counterparts::branch_before(std::size_t block) const {
  for (std::size_t at = block;;) {
    if (is_branch(at)) return at;
    const auto& before = flow_.graph().before(at);
    if (before.size() != 1 || before.front() == block) return block;
    at = before.front();
  }
}

/// A branch may have the line of where it leads. If that is where the ways of one branch of the
/// PTX meet, which no other of the machine code was made of, it is that one.
void Counterparts::find_by_meeting_point() {
  std::set<std::size_t> made;
  for (const Counterpart& counterpart : branches_) {
    if (counterpart.kind == Counterpart::Kind::found) made.insert(counterpart.number);
  }
  for (Counterpart& counterpart : branches_) {
    if (counterpart.kind != Counterpart::Kind::found || is_branch(counterpart.number)) continue;
    std::vector<std::size_t> candidates;
    for (std::size_t block = 0; block < flow_.graph().size(); ++block) {
      if (is_branch(block) && !made.contains(block) &&
          flow_.graph().meeting_point(block) == counterpart.number) {
        candidates.push_back(block);
      }
    }
    if (candidates.size() == 1) counterpart.number = candidates.front();
  }
}

bool Counterparts::is_exit(std::size_t block, const FlowGraph::Loop& loop) const {
  const auto leaves = [&](std::size_t next) {
    return next == flow_.graph().size() || !loop.contains[next];
  };
  return loop.contains[block] && is_branch(block) &&
         std::ranges::any_of(flow_.graph().behind(block), leaves);
}

std::size_t Counterparts::innermost_loop(std::size_t block) const {
  const auto contains = [&](const FlowGraph::Loop& loop) { return loop.contains[block]; };
  return static_cast<std::size_t>(std::ranges::find_if(loops_, contains) - loops_.begin());
}

bool Counterparts::shows_rounds(std::size_t loop) const {
  std::map<std::pair<int, unsigned>, std::size_t> separate;  // by line and opcode
  for (std::size_t i = 0; i < machine_.words().size(); ++i) {
    if (machine_.innermost_loop(machine_.block_of(i)) != loop || machine_.is_beside(i)) continue;
    const auto line = machine_.line_at(i);
    const auto home = line ? flow_.block_at(*line) : std::nullopt;
    if (home && innermost_loop(*home) == same_loop_[loop].number && flow_.is_separate(*line))
      ++separate[{*line, machine_.words()[i].opcode()}];
  }
  return std::ranges::any_of(separate, [](const auto& entry) { return entry.second == 1; });
}

Counterpart Counterparts::same_loop(const FlowGraph::Loop& loop) const {
  std::vector<std::size_t> blocks;
  bool elsewhere = false;
  for (std::size_t block = 0; const Counterpart& branch : branches_) {
    if (loop.contains[block]) {
      if (is_known_branch(block)) blocks.push_back(branch.number);
      elsewhere |= branch.kind == Counterpart::Kind::of_another_function;
    }
    ++block;
  }
  if (blocks.empty()) {
    return {elsewhere ? Counterpart::Kind::of_another_function : Counterpart::Kind::none};
  }
  const auto contains_all = [&](const FlowGraph::Loop& loop) {
    return std::ranges::all_of(blocks, [&](std::size_t block) { return loop.contains[block]; });
  };
  const auto around = std::ranges::find_if(loops_, contains_all);
  if (around == loops_.end()) return {};
  const auto leaves = [&](std::size_t block) { return is_exit(block, *around); };
  if (std::ranges::none_of(blocks, leaves)) return {};
  return {Counterpart::Kind::found, static_cast<std::size_t>(around - loops_.begin())};
}

}  // namespace warpgauge::emulator::counting
