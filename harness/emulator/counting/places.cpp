#include "harness/emulator/counting/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "harness/emulator/counting/neighbours.h"

namespace warpgauge::emulator::counting {
namespace {

using metrics::FlowGraph;
using metrics::MemoryInstruction;
using metrics::MemoryOp;
using Kind = PtxAccess::Kind;

/// Only of memory that cannot be missing ptxas reads more than the program asks for.
bool may_be_early(MemoryOp op) { return op == MemoryOp::lds || op == MemoryOp::ldl; }

/// A function of the PTX beside the machine code of a kernel.
class Function {
 public:
  Function(const PtxFlow& flow, std::span<const PtxFlow> all, const MachineFlow& machine)
      : flow_(flow),
        all_(all),
        machine_(machine),
        deciders_(flow.graph().deciders()),
        loops_(flow.graph().loops()) {
    for (std::size_t block = 0; block < machine.graph().size(); ++block) {
      branches_.push_back(branch_at(block));
    }
    find_by_meeting_point();
    for (const FlowGraph::Loop& loop : machine.loops()) same_loop_.push_back(same_loop(loop));
  }

  /// `certain` are the blocks of the machine code with what ptxas makes only where the PTX does, of
  /// the same block of the PTX.
  Place place_of(const PtxAccess& access, std::span<const MemoryInstruction> found,
                 const std::set<std::size_t>& certain) const {
    Place place;
    const std::size_t own = *flow_.block_at(access.text_line);
    compare_loops(own, found, place);
    for (const MemoryInstruction& one : found) {
      if (place.difference.empty()) compare_branches(access, one, found, certain, place);
    }
    return place;
  }

 private:
  /// What a branch or a loop of the machine code is in this function.
  struct Counterpart {
    enum class Kind : std::uint8_t { none, of_another_function, found } kind = Kind::none;
    std::size_t number = 0;  // of the block that ends with the branch, or of the loop
  };

  Counterpart branch_at(std::size_t machine_block) const {
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

  /// Of "@%p bra A; bra.uni B;" the machine code has one branch, with any of these lines or one at
  /// B.
  std::size_t branch_before(std::size_t block) const {
    for (std::size_t one = block;;) {
      if (is_branch(one)) return one;
      const auto& before = flow_.graph().before(one);
      if (before.size() != 1 || before.front() == block) return block;
      one = before.front();
    }
  }

  /// A branch may have the line of where it leads. If that is where the ways of one branch of the
  /// PTX meet, which no other of the machine code was made of, it is that one.
  void find_by_meeting_point() {
    std::set<std::size_t> made;
    for (const Counterpart& one : branches_) {
      if (one.kind == Counterpart::Kind::found) made.insert(one.number);
    }
    for (Counterpart& one : branches_) {
      if (one.kind != Counterpart::Kind::found || is_branch(one.number)) continue;
      std::vector<std::size_t> candidates;
      for (std::size_t block = 0; block < flow_.graph().size(); ++block) {
        if (is_branch(block) && !made.contains(block) &&
            flow_.graph().meeting_point(block) == one.number) {
          candidates.push_back(block);
        }
      }
      if (candidates.size() == 1) one.number = candidates.front();
    }
  }

  bool is_branch(std::size_t block) const { return flow_.graph().behind(block).size() > 1; }

  /// Whether a block of the machine code ends with a branch of the PTX.
  bool is_known_branch(std::size_t block) const {
    return branches_[block].kind == Counterpart::Kind::found &&
           is_branch(branches_[block].number) && !machine_.is_branch_if_apart(block);
  }

  /// Whether the block decides how often a loop runs, which it is in.
  bool is_exit(std::size_t block, const FlowGraph::Loop& loop) const {
    const auto leaves = [&](std::size_t next) {
      return next == flow_.graph().size() || !loop.contains[next];
    };
    return loop.contains[block] && is_branch(block) &&
           std::ranges::any_of(flow_.graph().behind(block), leaves);
  }

  /// The innermost loop with all branches of one of the machine code, if it leaves it by one.
  Counterpart same_loop(const FlowGraph::Loop& loop) const {
    std::vector<std::size_t> blocks;
    bool elsewhere = false;
    for (std::size_t block = 0; block < loop.contains.size(); ++block) {
      if (!loop.contains[block]) continue;
      if (is_known_branch(block)) blocks.push_back(branches_[block].number);
      elsewhere |= branches_[block].kind == Counterpart::Kind::of_another_function;
    }
    if (blocks.empty()) {
      return {elsewhere ? Counterpart::Kind::of_another_function : Counterpart::Kind::none};
    }
    const auto contains_all = [&](const FlowGraph::Loop& one) {
      return std::ranges::all_of(blocks, [&](std::size_t block) { return one.contains[block]; });
    };
    const auto around = std::ranges::find_if(loops_, contains_all);
    if (around == loops_.end()) return {};
    const auto leaves = [&](std::size_t block) { return is_exit(block, *around); };
    if (std::ranges::none_of(blocks, leaves)) return {};
    return {Counterpart::Kind::found, static_cast<std::size_t>(around - loops_.begin())};
  }

  int line_of(const FlowGraph::Loop& loop) const {
    for (std::size_t block = 0; block < loop.contains.size(); ++block) {
      if (is_exit(block, loop)) return flow_.last_line(block);
    }
    return flow_.last_line(loop.header);
  }

  void add_exits(const FlowGraph::Loop& loop, Place& place) const {
    for (std::size_t block = 0; block < loop.contains.size(); ++block) {
      if (is_exit(block, loop)) place.undivided.insert(flow_.last_line(block));
    }
  }

  void compare_loops(std::size_t own, std::span<const MemoryInstruction> found,
                     Place& place) const {
    // Of each loop here, the loops of the machine code that are the same and have a copy.
    std::map<std::size_t, std::set<std::size_t>> with_copies;
    std::map<std::size_t, std::size_t> copies;
    for (const MemoryInstruction& one : found) {
      const std::size_t block = machine_.block_at(one.pc);
      std::set<std::size_t> in;
      for (std::size_t i = 0; i < machine_.loops().size(); ++i) {
        if (!machine_.loops()[i].contains[block]) continue;
        const Counterpart& same = same_loop_[i];
        if (same.kind == Counterpart::Kind::of_another_function) continue;
        if (same.kind == Counterpart::Kind::none) {
          place.difference = "ptxas made a loop around it that the PTX does not have";
          return;
        }
        if (!loops_[same.number].contains[own]) {
          place.difference = fmt::format(
              "the machine code has it in the loop that ends in line {} of the PTX, which has it "
              "outside",
              line_of(loops_[same.number]));
          return;
        }
        with_copies[same.number].insert(i);
        in.insert(same.number);
      }
      for (const std::size_t loop : in) ++copies[loop];
    }
    for (std::size_t loop = 0; loop < loops_.size(); ++loop) {
      if (!loops_[loop].contains[own]) continue;
      const auto is_same = [&](const Counterpart& one) {
        return one.kind == Counterpart::Kind::found && one.number == loop;
      };
      if (std::ranges::none_of(same_loop_, is_same)) continue;  // unrolled altogether
      if (copies[loop] == 0) {
        place.difference = fmt::format(
            "ptxas took it out of the loop that ends in line {} of the PTX", line_of(loops_[loop]));
        return;
      }
      if (copies[loop] < found.size() || with_copies[loop].size() > 1) {
        add_exits(loops_[loop], place);
      }
    }
  }

  /// Whether all ways from a branch of the machine code lead through one of `found`.
  bool covers(std::span<const MemoryInstruction> found, std::size_t branch) const {
    const FlowGraph& graph = machine_.graph();
    const std::size_t meeting_point = graph.meeting_point(branch);
    std::vector<std::size_t> past;
    for (const MemoryInstruction& one : found) past.push_back(machine_.block_at(one.pc));
    std::erase(past, meeting_point);
    const auto may_end = [&](std::size_t block) {
      const auto& behind = graph.behind(block);
      return std::ranges::find(behind, graph.size()) != behind.end();
    };
    bool covers = !may_end(branch);
    machine_.walk(graph.behind(branch), past, [&](std::size_t block) {
      covers = covers && block != meeting_point && !may_end(block);
      return covers;
    });
    return covers;
  }

  /// The blocks on the ways from `first`, behind a branch, to where all ways from the branch meet.
  static std::set<std::size_t> way(const FlowGraph& graph, std::size_t branch, std::size_t first) {
    std::set<std::size_t> found;
    std::vector<std::size_t> open = {first};
    while (!open.empty()) {
      const std::size_t block = open.back();
      open.pop_back();
      if (block == graph.size() || block == branch || block == graph.meeting_point(branch))
        continue;
      if (!found.insert(block).second) continue;
      open.insert(open.end(), graph.behind(block).begin(), graph.behind(block).end());
    }
    return found;
  }

  /// Of a branch of the PTX, which falls through to the next block.
  std::set<std::size_t> taken_way(std::size_t branch) const {
    std::set<std::size_t> found;
    for (const std::size_t next : flow_.graph().behind(branch)) {
      if (next != branch + 1) found.merge(way(flow_.graph(), branch, next));
    }
    return found;
  }

  /// Whether the machine code has `block` on that way from `branch`, and no other, which goes where
  /// the branch of the PTX is not taken. The branches on both show it.
  bool is_behind(std::size_t branch, std::size_t counterpart, std::size_t block) const {
    if (!flow_.falls_through(counterpart)) return false;
    const auto taken = taken_way(counterpart);
    const auto untaken = way(flow_.graph(), counterpart, counterpart + 1);
    bool shown = false;
    for (const std::size_t next : machine_.graph().behind(branch)) {
      const auto own = way(machine_.graph(), branch, next);
      for (const std::size_t one : own) {
        if (!is_known_branch(one)) continue;
        const bool is_untaken = untaken.contains(branches_[one].number);
        if (own.contains(block) != is_untaken || taken.contains(branches_[one].number))
          return false;
        shown = true;
      }
      if (own.contains(block) && !shown) return false;
    }
    return shown;
  }

  /// The loop around `own` that a branch of the machine code chooses a copy of: it has a line
  /// within the loop, and stands outside.
  const FlowGraph::Loop* unrolled_by(std::size_t branch, std::size_t counterpart,
                                     std::size_t own) const {
    for (std::size_t loop = 0; loop < loops_.size(); ++loop) {
      if (!loops_[loop].contains[own] || !loops_[loop].contains[counterpart]) continue;
      bool is_unrolled = false, is_inside = false;
      for (std::size_t i = 0; i < same_loop_.size(); ++i) {
        if (same_loop_[i].kind != Counterpart::Kind::found || same_loop_[i].number != loop)
          continue;
        is_unrolled = true;
        is_inside |= machine_.loops()[i].contains[branch];
      }
      if (is_unrolled && !is_inside) return &loops_[loop];
    }
    return nullptr;
  }

  void add_branch(std::size_t block, const FlowGraph::Loop* unrolled, Place& place) const {
    if (unrolled != nullptr) {
      add_exits(*unrolled, place);
    } else {
      place.undivided.insert(flow_.last_line(block));
    }
  }

  void compare_branches(const PtxAccess& access, const MemoryInstruction& one,
                        std::span<const MemoryInstruction> found,
                        const std::set<std::size_t>& certain_blocks, Place& place) const {
    const std::size_t own = *flow_.block_at(access.text_line);
    const std::set<std::size_t> expected(deciders_[own].begin(), deciders_[own].end());
    std::set<std::size_t> present, certain;  // without those that may choose a copy of a loop
    for (const std::size_t block : machine_.deciders(machine_.block_at(one.pc))) {
      if (machine_.last_line(block) == access.text_line) continue;  // one lane for all, a loop
      if (machine_.is_branch_if_apart(block) && covers(found, block)) continue;
      const Counterpart& branch = branches_[block];
      if (branch.kind == Counterpart::Kind::of_another_function) continue;
      const bool known = branch.kind == Counterpart::Kind::found && is_branch(branch.number);
      const auto* const unrolled = known ? unrolled_by(block, branch.number, own) : nullptr;
      if (known) present.insert(branch.number);
      if (known && unrolled == nullptr) certain.insert(branch.number);
      if (known && expected.contains(branch.number)) {
        // Lanes that part there come to it apart, for they meet again only behind it.
        if (machine_.arrivals(one.pc, block) > 1) add_branch(branch.number, unrolled, place);
        continue;
      }
      if (known && (covers(found, block) || unrolled != nullptr)) {
        add_branch(branch.number, unrolled, place);
        continue;
      }
      const std::string difference =
          known ? fmt::format(
                      "the machine code has it behind the branch in line {} of the PTX, "
                      "which does not decide it there",
                      flow_.last_line(branch.number))
                : "a branch decides it that the PTX does not have";
      if (known && is_behind(block, branch.number, machine_.block_at(one.pc))) {
        place.untaken.emplace(flow_.last_line(branch.number), difference);
        continue;
      }
      place.difference = difference;
      return;
    }
    std::vector<std::size_t> missing;
    bool any_missing = false;
    for (const std::size_t block : expected) {
      any_missing = any_missing || !certain.contains(block);
      if (present.contains(block)) continue;
      const auto decides_loop = [&](const FlowGraph::Loop& loop) {
        return loop.contains[own] && is_exit(block, loop);
      };
      if (std::ranges::none_of(loops_, decides_loop)) missing.push_back(block);
    }
    place.decided &= missing.empty();
    const bool is_early =
        may_be_early(one.op) && !one.guarded && !certain_blocks.contains(machine_.block_at(one.pc));
    if (!missing.empty() && is_early) {
      for (const std::size_t block : missing) {
        const int line = flow_.last_line(block);
        const std::string difference = fmt::format(
            "ptxas may make it also where the branch in line {} of the PTX leads past it", line);
        if (!flow_.falls_through(block) || taken_way(block).contains(own)) {
          place.difference = difference;
        } else {
          place.untaken.emplace(line, difference);
        }
      }
    } else if (one.guarded && !any_missing && !access.guarded && access.kind != Kind::atomic) {
      place.difference = "a condition decides it that the PTX does not have";
    }
  }

  const PtxFlow& flow_;
  std::span<const PtxFlow> all_;
  const MachineFlow& machine_;
  std::vector<std::vector<std::size_t>> deciders_;
  std::vector<FlowGraph::Loop> loops_;
  std::vector<Counterpart> branches_;   // by block of the machine code
  std::vector<Counterpart> same_loop_;  // by loop of the machine code
};

}  // namespace

void compare_places(std::vector<Match>& matches, std::span<const PtxFlow> flows,
                    const MachineFlow& machine) {
  for (const PtxFlow& flow : flows) {
    std::map<std::size_t, std::vector<Match*>> blocks;
    for (Match& match : matches) {
      const auto block = flow.block_at(match.access->text_line);
      const bool is_comparable = !match.has_loop && !match.access->is_of_fragment();
      if (block && !match.found.empty() && is_comparable) blocks[*block].push_back(&match);
    }
    if (blocks.empty()) continue;
    const Function function(flow, flows, machine);
    for (const auto& [number, block] : blocks) {
      std::set<std::size_t> certain;
      for (const Match* match : block) {
        for (const MemoryInstruction& one : match->found) {
          if (!may_be_early(one.op) && !one.guarded) certain.insert(machine.block_at(one.pc));
        }
      }
      for (Match* match : block) {
        match->place = function.place_of(*match->access, match->found, certain);
      }
      compare_neighbours(block, machine);
      for (Match* match : block) match->place.once = is_once(*match, matches, machine);
    }
  }
}

}  // namespace warpgauge::emulator::counting
