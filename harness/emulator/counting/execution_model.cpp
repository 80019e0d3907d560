// Computes what a launch executes from the ways that its warps took.
#include "harness/emulator/counting/execution_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/emulator/machine/core/outcome.h"

namespace warpgauge::emulator::counting {
namespace {

std::string other_lanes(int text_line) {
  return fmt::format("the machine code comes to line {} of the PTX with other lanes", text_line);
}

constexpr const char* kMayJoin =
    "lanes that part several times may wait for each other at one place";

}  // namespace

AccessTimes::AccessTimes(const machine::LaunchOutcome& launch) {
  times_.reserve(launch.totals.size());
  for (const machine::InstructionTotals& totals : launch.totals) {
    times_.push_back({totals.text_line, {totals.access.requests, totals.access.lane_groups}});
  }
  std::ranges::stable_sort(times_, {}, &Line::first);
}

Executions::Times AccessTimes::of(int text_line) const {
  const auto behind = std::ranges::upper_bound(times_, text_line, {}, &Line::first);
  const bool is_known = behind != times_.begin() && std::prev(behind)->first == text_line;
  return is_known ? std::prev(behind)->second : Executions::Times{};
}

void ExecutionModel::add_access(int text_line, const std::vector<std::size_t>& instructions,
                                bool by_lanes) {
  Access& access = accesses_.emplace_back(text_line, by_lanes);
  const auto shows = [&](const Ranges& loop) {
    return instructions.size() == 1 && contain(loop, instructions[0]);
  };
  std::erase_if(unshown_, shows);
  for (const std::size_t index : instructions) {
    if (const auto block = block_of(index)) access.blocks.push_back(*block);
  }
}

void ExecutionModel::settle() {
  for (Block& block : blocks_) {
    const auto contains = [&](const Ranges& loop) { return contain(loop, block.begin); };
    if (std::ranges::none_of(unshown_, contains)) continue;
    block.is_known = false;
    block.is_open = true;
  }
  for (Block& block : blocks_) {
    if (!block.gathering) continue;
    block.gathering->is_open = std::ranges::any_of(blocks_, [&](const Block& known) {
      return known.is_open && contain(block.gathering->between, known.begin);
    });
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (Block& block : blocks_) {
      if (!block.is_known || is_known_by_others(block)) continue;
      block.is_known = false;
      changes = true;
    }
  }
}

/// Whether the blocks are known that it needs the executions of.
bool ExecutionModel::is_known_by_others(const Block& block) const {
  const auto& gathering = block.gathering;
  if (gathering && !blocks_[gathering->begin].is_known) return false;
  if (gathering && gathering->is_open) return !gathering->threads_end;
  return std::ranges::all_of(block.before, [&](const Edge& edge) {
    return edge.way != Way::unknown && blocks_[edge.from].is_known;
  });
}

std::optional<std::size_t> ExecutionModel::follow(std::size_t instruction) {
  const auto block = block_of(instruction);
  const bool is_never = !block && lines_unknown().empty();
  if (!is_never && (!block || !blocks_[*block].is_known)) return std::nullopt;
  followed_.push_back(block);
  return followed_.size() - 1;
}

std::string ExecutionModel::lines_unknown() const {
  if (!unknown_.empty()) return unknown_;
  if (!partly_.empty() || unshown_.empty()) return partly_;
  return "nothing in a loop shows whether ptxas has unrolled it";
}

std::optional<std::size_t> ExecutionModel::block_of(std::size_t instruction) const {
  const auto found = std::ranges::find_if(blocks_, [&](const Block& block) {
    return block.begin <= instruction && instruction < block.end;
  });
  if (found == blocks_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - blocks_.begin());
}

std::set<int> ExecutionModel::branches() const {
  if (!unknown_.empty() || (!lines_unknown().empty() && followed_.empty())) return {};
  std::set<int> lines = removed_;
  for (const Block& block : blocks_) {
    if (block.branch != 0 && block.is_known) lines.insert(block.branch);
  }
  return lines;
}

Executions ExecutionModel::of(const machine::LaunchOutcome& launch) const {
  Executions out;
  out.unknown = lines_unknown();
  const bool is_partly = !out.unknown.empty();
  const auto unknown = [&](const std::string& why) {
    return Executions{.unknown = is_partly ? out.unknown : why, .followed_unknown = why};
  };
  if (!unknown_.empty() || (is_partly && followed_.empty())) return unknown(out.unknown);
  std::map<int, const machine::BranchTotals*> known;
  for (const machine::BranchTotals& branch : launch.branches) known[branch.text_line] = &branch;
  const machine::BranchTotals none;
  const auto at = [&](int line) -> const machine::BranchTotals& {
    const auto found = known.find(line);
    return found == known.end() ? none : *found->second;
  };
  for (const int line : removed_) {
    if (at(line).warps > 0) {
      return unknown(fmt::format(
          "the machine code lacks the branch in line {} of the PTX, which executes", line));
    }
  }
  bool any_divided = false;
  for (const Block& block : blocks_) {
    if (block.branch == 0 || at(block.branch).divided == 0) continue;
    any_divided = true;
    if (block.parts) {
      return unknown(
          fmt::format("lanes part at line {} of the PTX and do not meet again", block.branch));
    }
  }
  if (needs_whole_warps_ && (is_partly || any_divided || launch.has_partial_warps)) {
    return unknown("the machine code has other code for warps that lack lanes");
  }

  for (const metrics::SourceLine& source : sources_) out.lines.push_back({&source});
  std::vector<Executions::Times> times(blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    if (!block.is_known) continue;
    Executions::Times& own = times[i];
    if (block.begin == 0) own = {launch.warps, launch.lane_groups};
    std::size_t parted = 0;
    for (const Edge& edge : block.before) {
      const machine::BranchTotals& branch = at(edge_branch(edge));
      if (branch.divided > 0 && (edge.jumps || (edge.leaves_loop && block.gathers))) {
        parted += edge.leaves_loop ? 2 : 1;
      }
      switch (edge.way) {
        case Way::always:
          own += times[edge.from];
          break;
        case Way::taken:
          own += {branch.taken, branch.taken_groups};
          break;
        case Way::untaken:
          own += {branch.warps - branch.taken + branch.divided, branch.untaken_groups};
          break;
        case Way::unknown:
          break;
      }
    }
    const bool may_join = parted > 1;
    if (may_join && !block.gathers) return unknown(kMayJoin);
    if (block.gathering) {
      const bool divided = std::ranges::any_of(block.gathering->branches,
                                               [&](int line) { return at(line).divided > 0; });
      if (divided && block.gathering->yields) {
        return unknown("lanes of a warp that part in a loop may go on apart behind it");
      }
      if (divided && block.gathering->threads_end) {
        return unknown("threads end between where lanes part and meet");
      }
      if (divided || block.gathering->is_open) own = times[block.gathering->begin];
    }
    if (block.branch != 0) {
      const machine::BranchTotals& branch = at(block.branch);
      if (branch.warps != own.warps) {
        return unknown(fmt::format(
            "the machine code comes to the branch in line {} of the PTX {} times, the PTX {}",
            block.branch, own.warps, branch.warps));
      }
      if (branch.lane_groups != own.lane_groups) out.followed_unknown = other_lanes(block.branch);
      if (!block.ends) out.lines[block.sources.back()].divergent_branches += branch.divided;
    }
    for (const std::size_t source : block.sources) {
      out.lines[source].instructions += own.warps;
      if (may_join) out.lines[source].uncertain = kMayJoin;
    }
  }
  if (const std::string why = compare_accesses(launch, times, out); !why.empty()) {
    return unknown(why);
  }
  if (is_partly) out.lines.clear();
  for (const auto& block : followed_) {
    out.followed.push_back(block ? times[*block] : Executions::Times{});
  }
  return out;
}

/// Why the machine code is not the PTX, if it does not come to accesses as often.
std::string ExecutionModel::compare_accesses(const machine::LaunchOutcome& launch,
                                             const std::vector<Executions::Times>& times,
                                             Executions& out) const {
  const AccessTimes counted(launch);
  for (const Access& access : accesses_) {
    const auto is_known = [&](std::size_t block) { return blocks_[block].is_known; };
    if (!std::ranges::all_of(access.blocks, is_known)) continue;
    Executions::Times own;
    for (const std::size_t block : access.blocks) own += times[block];
    const Executions::Times expected = counted.of(access.text_line);
    if (own.warps != expected.warps) {
      return fmt::format(
          "the machine code comes to the access in line {} of the PTX {} times, the PTX {}",
          access.text_line, own.warps, expected.warps);
    }
    if (access.by_lanes && own.lane_groups != expected.lane_groups) {
      out.followed_unknown = other_lanes(access.text_line);
    }
  }
  return {};
}

void ExecutionModel::move_lines(int first_line) {
  const auto move = [&](std::set<int>& lines) {
    std::set<int> moved;
    for (const int line : lines) moved.insert(line + first_line);
    lines = std::move(moved);
  };
  move(removed_);
  for (Block& block : blocks_) {
    if (block.branch != 0) block.branch += first_line;
    if (block.gathering) move(block.gathering->branches);
  }
  for (Access& access : accesses_) access.text_line += first_line;
}

}  // namespace warpgauge::emulator::counting
