// Compares the loops and branches around accesses in the machine code and in the PTX.
#include "harness/emulator/counting/match_position.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/emulator/counting/counterparts.h"
#include "harness/emulator/counting/match_count.h"

namespace warpgauge::emulator::counting {
namespace {

using metrics::FlowGraph;
using metrics::MemoryInstruction;
using metrics::MemoryOp;
using Kind = PtxAccess::Kind;

/// Whether ptxas may read there though the program does not: the memory cannot be missing.
bool may_be_early(MemoryOp op) { return op == MemoryOp::lds || op == MemoryOp::ldl; }

/// A function of the PTX beside the machine code of a kernel.
class Function {
 public:
  Function(const PtxFlow& flow, std::span<const PtxFlow> all, const MachineFlow& machine)
      : flow_(flow),
        machine_(machine),
        counterparts_(flow, all, machine),
        loops_(counterparts_.loops()),
        deciders_(flow.graph().deciders()) {
    find_lines_of_partings(all);
  }

  /// `certain` are the blocks of the machine code that must stand where the same block of the PTX
  /// does: ptxas makes their accesses nowhere else.
  Standing place_of(const PtxAccess& access, std::span<const MemoryInstruction> found,
                    const std::set<std::size_t>& certain) const {
    Standing standing;
    const std::size_t own = *flow_.block_at(access.text_line);
    compare_loops(access, own, found, standing);
    standing.in_own_loop = is_in_own_loop(own, found);
    for (const MemoryInstruction& instruction : found) {
      if (standing.difference.empty())
        compare_branches(access, instruction, found, certain, standing);
      if (standing.difference.empty()) look_for_partings(instruction, standing);
    }
    return standing;
  }

  /// Loads and stores of one address in a loop can be put together where ptxas unrolls it.
  void look_for_rounds(const std::vector<Match>& matches, Match& match) const {
    if (match.access->kind != Kind::load && match.access->kind != Kind::store) return;
    if (match.access->is_ordered) return;
    for (const MemoryInstruction& instruction : match.found) {
      const std::size_t loop = machine_.innermost_loop(machine_.block_at(instruction.pc));
      if (!match.standing.difference.empty() || loop == machine_.loops().size()) continue;
      if (machine_.address_changes(instruction.pc, loop)) continue;
      const auto shows = [&](const Match& other) {
        return shows_rounds(other, match.loop_header_last_line, loop);
      };
      if (std::ranges::any_of(matches, shows) || counterparts_.shows_rounds(loop)) continue;
      match.standing.difference =
          "it has one address in a loop, and nothing shows whether ptxas has made one access of "
          "those of several rounds";
    }
  }

 private:
  /// Whether an access shows that ptxas has not unrolled a loop: it is there once, and one of
  /// several rounds cannot stand for them all.
  bool shows_rounds(const Match& match, int header_last_line, std::size_t loop) const {
    if (match.loop_header_last_line != header_last_line) return false;
    std::vector<const MemoryInstruction*> inside;
    for (const MemoryInstruction& instruction : match.found) {
      if (machine_.innermost_loop(machine_.block_at(instruction.pc)) == loop)
        inside.push_back(&instruction);
    }
    return inside.size() == 1 && inside[0]->width == match.access->width &&
           (match.access->kind == Kind::atomic || match.access->is_ordered ||
            machine_.address_changes(inside[0]->pc, loop));
  }

  int line_of(const FlowGraph::Loop& loop) const {
    for (std::size_t block = 0; block < loop.contains.size(); ++block) {
      if (counterparts_.is_exit(block, loop)) return flow_.last_line(block);
    }
    return flow_.last_line(loop.header);
  }

  void add_exits(const FlowGraph::Loop& loop, std::set<int>& lines) const {
    for (std::size_t block = 0; block < loop.contains.size(); ++block) {
      if (counterparts_.is_exit(block, loop)) lines.insert(flow_.last_line(block));
    }
  }

  /// Whether a loop of the machine code is one of the PTX.
  bool is_same_loop(std::size_t machine_loop, std::size_t loop) const {
    const Counterpart& same = counterparts_.of_loop(machine_loop);
    return same.kind == Counterpart::Kind::found && same.number == loop;
  }

  /// Whether all of `found` stands in the innermost loop around `own`, and that loop and those
  /// around it end only behind their rounds.
  bool is_in_own_loop(std::size_t own, std::span<const MemoryInstruction> found) const {
    std::optional<std::size_t> innermost;
    for (std::size_t loop = 0; loop < loops_.size(); ++loop) {
      if (!loops_[loop].contains[own]) continue;
      if (!innermost) innermost = loop;
      if (!ends_behind_rounds(loops_[loop])) return false;
    }
    return innermost && std::ranges::all_of(found, [&](const MemoryInstruction& instruction) {
             const std::size_t loop = machine_.innermost_loop(machine_.block_at(instruction.pc));
             return loop < machine_.loops().size() && is_same_loop(loop, *innermost);
           });
  }

  bool ends_behind_rounds(const FlowGraph::Loop& loop) const {
    for (std::size_t block = 0; block < loop.contains.size(); ++block) {
      const auto& behind = flow_.graph().behind(block);
      const bool leads_back = std::ranges::find(behind, loop.header) != behind.end();
      if (counterparts_.is_exit(block, loop) && !leads_back) return false;
    }
    return true;
  }

  /// The lines of the branches of the PTX, of any function, at which lanes part.
  void find_lines_of_partings(std::span<const PtxFlow> all) {
    std::map<const PtxFlow*, Counterparts> others;
    for (const metrics::Parting& parting : machine_.partings()) {
      const std::size_t block = machine_.block_of(parting.branch);
      std::set<int>& lines = lines_of_partings_.emplace_back();
      const Counterpart& branch = counterparts_.of_branch(block);
      if (branch.kind == Counterpart::Kind::of_another_function) {
        const auto other = std::ranges::find_if(all, [&](const PtxFlow& flow) {
          return flow.block_at(*machine_.last_line(block)).has_value();
        });
        const auto& there = others.try_emplace(&*other, *other, all, machine_).first->second;
        if (there.is_known_branch(block))
          lines.insert(other->last_line(there.of_branch(block).number));
      } else if (counterparts_.is_known_branch(block)) {
        add_lines(branch.number, unrolled_by(block, branch.number, branch.number), lines);
      }
    }
  }

  void look_for_partings(const MemoryInstruction& instruction, Standing& standing) const {
    const std::size_t index = instruction.pc / metrics::SassWord::kBytes;
    for (std::size_t i = 0; i < machine_.partings().size(); ++i) {
      if (!machine_.partings()[i].apart[index]) continue;
      const std::set<int>& lines = lines_of_partings_[i];
      if (lines.empty()) {
        standing.difference =
            "lanes that part at a branch that the PTX does not have may come to it apart";
        return;
      }
      standing.branches_undivided.insert(lines.begin(), lines.end());
    }
  }

  /// ptxas has one access and no loop.
  void expect_one_round(std::size_t loop, Standing& standing) const {
    const std::size_t header = loops_[loop].header;
    const std::string difference = fmt::format(
        "the machine code has it once, and not the loop that ends in line {} of the PTX",
        line_of(loops_[loop]));
    for (const std::size_t block : flow_.graph().before(header)) {
      if (!loops_[loop].contains[block]) continue;
      if (flow_.falls_through(block) && taken_way(block).contains(header)) {
        standing.branches_untaken.emplace(flow_.last_line(block), difference);
      } else {
        standing.difference = difference;
      }
    }
  }

  bool is_unrolled_altogether(std::size_t loop) const {
    for (std::size_t i = 0; i < machine_.loops().size(); ++i) {
      if (is_same_loop(i, loop)) return false;
    }
    return true;
  }

  void compare_loops(const PtxAccess& access, std::size_t own,
                     std::span<const MemoryInstruction> found, Standing& standing) const {
    // For each loop here, the loops of the machine code that are the same and have a copy.
    std::map<std::size_t, std::set<std::size_t>> with_copies;
    std::map<std::size_t, std::size_t> copies;
    for (const MemoryInstruction& instruction : found) {
      const std::size_t block = machine_.block_at(instruction.pc);
      std::set<std::size_t> in;
      for (std::size_t i = 0; i < machine_.loops().size(); ++i) {
        if (!machine_.loops()[i].contains[block]) continue;
        const Counterpart& same = counterparts_.of_loop(i);
        if (same.kind == Counterpart::Kind::of_another_function) continue;
        const bool is_bulk = access.kind == Kind::bulk;
        if (is_bulk && machine_.is_by_lane(machine_.loops()[i], access.text_line)) {
          standing.by_lane = true;
          continue;
        }
        if (same.kind == Counterpart::Kind::none) {
          standing.difference = "ptxas made a loop around it that the PTX does not have";
          return;
        }
        if (!loops_[same.number].contains[own]) {
          standing.difference = fmt::format(
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
      if (is_unrolled_altogether(loop)) {
        if (found.size() == 1) expect_one_round(loop, standing);
        continue;
      }
      if (copies[loop] == 0) {
        standing.difference = fmt::format(
            "ptxas took it out of the loop that ends in line {} of the PTX", line_of(loops_[loop]));
        return;
      }
      if (copies[loop] < found.size() || with_copies[loop].size() > 1) {
        add_exits(loops_[loop], standing.branches_undivided);
      }
    }
  }

  /// Whether all ways from a branch of the machine code lead through one of `found`.
  bool covers(std::span<const MemoryInstruction> found, std::size_t branch) const {
    const FlowGraph& graph = machine_.graph();
    const std::size_t meeting_point = graph.meeting_point(branch);
    std::vector<std::size_t> past;
    for (const MemoryInstruction& instruction : found)
      past.push_back(machine_.block_at(instruction.pc));
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

  /// For a branch of the PTX, which falls through to the next block.
  std::set<std::size_t> taken_way(std::size_t branch) const {
    std::set<std::size_t> found;
    for (const std::size_t next : flow_.graph().behind(branch)) {
      if (next != branch + 1) found.merge(flow_.graph().way(branch, next));
    }
    return found;
  }

  /// Whether the machine code has `block` on that way from `branch`, and no other, which goes where
  /// the branch of the PTX is not taken. The branches on both show it.
  bool is_behind(std::size_t branch, std::size_t counterpart, std::size_t block) const {
    if (!flow_.falls_through(counterpart)) return false;
    const auto taken = taken_way(counterpart);
    const auto untaken = flow_.graph().way(counterpart, counterpart + 1);
    bool shown = false;
    for (const std::size_t next : machine_.graph().behind(branch)) {
      const auto own = machine_.graph().way(branch, next);
      for (const std::size_t on_way : own) {
        if (!counterparts_.is_known_branch(on_way)) continue;
        const bool is_untaken = untaken.contains(counterparts_.of_branch(on_way).number);
        if (own.contains(block) != is_untaken ||
            taken.contains(counterparts_.of_branch(on_way).number))
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
      for (std::size_t i = 0; i < machine_.loops().size(); ++i) {
        if (!is_same_loop(i, loop)) continue;
        is_unrolled = true;
        is_inside |= machine_.loops()[i].contains[branch];
      }
      if (is_unrolled && !is_inside) return &loops_[loop];
    }
    return nullptr;
  }

  void add_lines(std::size_t block, const FlowGraph::Loop* unrolled, std::set<int>& lines) const {
    if (unrolled != nullptr) {
      add_exits(*unrolled, lines);
    } else {
      lines.insert(flow_.last_line(block));
    }
  }

  void compare_branches(const PtxAccess& access, const MemoryInstruction& instruction,
                        std::span<const MemoryInstruction> found,
                        const std::set<std::size_t>& certain_blocks, Standing& standing) const {
    const std::size_t own = *flow_.block_at(access.text_line);
    const std::set<std::size_t> expected(deciders_[own].begin(), deciders_[own].end());
    std::set<std::size_t> present, certain;  // without those that may choose a copy of a loop
    for (const std::size_t block : machine_.deciders(machine_.block_at(instruction.pc))) {
      if (machine_.last_line(block) == access.text_line) continue;  // one lane for all, a loop
      if (machine_.is_branch_if_apart(block) && covers(found, block)) continue;
      const Counterpart& branch = counterparts_.of_branch(block);
      if (branch.kind == Counterpart::Kind::of_another_function) continue;
      const bool known =
          branch.kind == Counterpart::Kind::found && counterparts_.is_branch(branch.number);
      const auto* const unrolled = known ? unrolled_by(block, branch.number, own) : nullptr;
      if (known) present.insert(branch.number);
      if (known && unrolled == nullptr) certain.insert(branch.number);
      if (known && expected.contains(branch.number)) continue;
      if (known && (covers(found, block) || unrolled != nullptr)) {
        add_lines(branch.number, unrolled, standing.branches_undivided);
        continue;
      }
      const std::string difference =
          known ? fmt::format(
                      "the machine code has it behind the branch in line {} of the PTX, "
                      "which does not decide it there",
                      flow_.last_line(branch.number))
                : "a branch decides it that the PTX does not have";
      if (known && is_behind(block, branch.number, machine_.block_at(instruction.pc))) {
        standing.branches_untaken.emplace(flow_.last_line(branch.number), difference);
        continue;
      }
      standing.difference = difference;
      return;
    }
    std::vector<std::size_t> missing;
    bool any_missing = false;
    for (const std::size_t block : expected) {
      any_missing = any_missing || !certain.contains(block);
      if (present.contains(block)) continue;
      const auto decides_loop = [&](const FlowGraph::Loop& loop) {
        return loop.contains[own] && counterparts_.is_exit(block, loop);
      };
      if (std::ranges::none_of(loops_, decides_loop)) missing.push_back(block);
    }
    standing.decided &= missing.empty();
    const bool is_early = may_be_early(instruction.op) && !instruction.guarded &&
                          !certain_blocks.contains(machine_.block_at(instruction.pc));
    if (!missing.empty() && is_early) {
      for (const std::size_t block : missing) {
        const int line = flow_.last_line(block);
        const std::string difference = fmt::format(
            "ptxas may make it also where the branch in line {} of the PTX leads past it", line);
        if (!flow_.falls_through(block) || taken_way(block).contains(own)) {
          standing.difference = difference;
        } else {
          standing.branches_untaken.emplace(line, difference);
        }
      }
    } else if (instruction.guarded && !any_missing && !access.guarded &&
               access.kind != Kind::atomic) {
      standing.difference = "a condition decides it that the PTX does not have";
    }
  }

  const PtxFlow& flow_;
  const MachineFlow& machine_;
  const Counterparts counterparts_;
  const std::vector<FlowGraph::Loop>& loops_;  // of counterparts_
  std::vector<std::vector<std::size_t>> deciders_;
  std::vector<std::set<int>> lines_of_partings_;  // as machine_.partings()
};

}  // namespace

void compare_places(std::vector<Match>& matches, std::span<const PtxFlow> flows,
                    const MachineFlow& machine) {
  for (const PtxFlow& flow : flows) {
    std::map<std::size_t, std::vector<Match*>> blocks;
    for (Match& match : matches) {
      const auto block = flow.block_at(match.access->text_line);
      if (block && !match.found.empty() && !match.is_in_cas_loop) blocks[*block].push_back(&match);
    }
    if (blocks.empty()) continue;
    const Function function(flow, flows, machine);
    for (const auto& [number, block] : blocks) {
      std::set<std::size_t> certain;
      for (const Match* match : block) {
        for (const MemoryInstruction& instruction : match->found) {
          if (!may_be_early(instruction.op) && !instruction.guarded)
            certain.insert(machine.block_at(instruction.pc));
        }
      }
      for (Match* match : block) {
        match->standing = function.place_of(*match->access, match->found, certain);
      }
      compare_neighbours(block, machine);
      for (Match* match : block) function.look_for_rounds(matches, *match);
      for (Match* match : block) match->standing.once = is_once(*match, matches, machine);
    }
  }
}

}  // namespace warpgauge::emulator::counting
