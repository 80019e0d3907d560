// Decodes branches, and divides code into basic blocks.
#include "metrics/machine_code/sass_flow.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

namespace warpgauge::metrics {
namespace {

constexpr unsigned kGatheringEnd = 0x141, kGatheringBegin = 0x145, kCall = 0x144, kBranch = 0x147,
                   kBranchIndexed = 0x149, kJump = 0x14a, kJumpIndexed = 0x14c, kExit = 0x14d,
                   kReturn = 0x150, kBranchUniform = 0x158, kJumpUniform = 0x159, kKill = 0x15b;

/// The places where control can go behind an instruction.
struct Step {
  bool falls_through = true;
  bool leaves = false;    // ends the kernel
  bool returns = false;   // returns from a function
  bool anywhere = false;  // the target is not known
  std::optional<std::size_t> target;

  bool ends_a_block() const { return !falls_through || leaves || returns || anywhere || target; }
};

/// The target of a branch as an index into the code; nullopt if it lies outside. Bits 34 to 81 are
/// its distance in units of 4 bytes; since sm_90 bits 16 to 23 are below them.
std::optional<std::size_t> target_of(const SassWord& word, std::size_t size, int sm) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 47;
  const std::uint64_t field = word.low >> 34 | (word.high & 0x3ffff) << 30;
  const auto high = static_cast<std::int64_t>((field ^ kSign) - kSign);
  const std::int64_t distance =
      sm < 90 ? high * 4 : (high * 256 + static_cast<std::int64_t>(word.low >> 16 & 0xff)) * 4;
  const std::int64_t pc = static_cast<std::int64_t>(word.pc + SassWord::kBytes) + distance;
  const std::int64_t index = pc / static_cast<std::int64_t>(SassWord::kBytes);
  if (pc < 0 || index >= static_cast<std::int64_t>(size)) return std::nullopt;
  return static_cast<std::size_t>(index);
}

/// True for a branch without any predicate that is not BRA.DIV.
bool is_unconditional_branch(const SassWord& word) {
  constexpr unsigned kPlainForm = 4, kTrue = 7;
  return word.guard() == SassWord::kAlways && word.form() == kPlainForm &&
         (word.low >> 32 & 3) == 0 && (word.high >> 23 & 0xf) == kTrue;
}

Step step_of(const SassWord& word, std::size_t size, int sm) {
  constexpr unsigned kRelativeForm = 4;
  const bool always = word.guard() == SassWord::kAlways;
  switch (word.opcode()) {
    case kExit:
    case kKill:
      return {.falls_through = !always, .leaves = true};
    case kReturn:
      return {.falls_through = !always, .returns = true};
    case kBranchIndexed:
    case kJump:
    case kJumpIndexed:
    case kBranchUniform:
    case kJumpUniform:
      return {.falls_through = !always, .anywhere = true};
    case kCall:  // the callee may lie outside of this code
      if (word.form() != kRelativeForm) return {.anywhere = true};
      return {.target = target_of(word, size, sm)};
    case kBranch: {
      const bool unconditional = is_unconditional_branch(word);
      const auto target = target_of(word, size, sm);
      const bool is_trap = unconditional && target == word.pc / SassWord::kBytes;
      return {.falls_through = !unconditional,
              .leaves = is_trap,  // the filling behind the end of the code
              .anywhere = !target,
              .target = target};
    }
    default:
      return {};
  }
}

std::vector<SassBlock> blocks_of(std::span<const SassWord> code, int sm,
                                 const BranchTargets& targets, Calls calls) {
  std::vector<Step> steps;
  std::set<std::size_t> begins = {0}, returns;
  for (const SassWord& word : code) {
    Step& step = steps.emplace_back(step_of(word, code.size(), sm));
    if (step.target) begins.insert(*step.target);
    if (step.ends_a_block()) begins.insert(steps.size());
    if (const auto known = targets.find(word.pc); known != targets.end()) {
      step.anywhere = false;
      for (const std::uint64_t pc : known->second) begins.insert(pc / SassWord::kBytes);
    }
    if (word.opcode() != kCall) continue;
    if (calls == Calls::followed) {
      returns.insert(steps.size());
    } else {
      step = {};
    }
  }
  begins.erase(begins.lower_bound(code.size()), begins.end());
  begins.insert(code.size());

  std::vector<SassBlock> blocks;
  for (auto begin = begins.begin(); std::next(begin) != begins.end(); ++begin) {
    blocks.push_back({.begin = *begin, .end = *std::next(begin)});
  }
  const auto block_at = [&](std::size_t index) {
    return static_cast<std::size_t>(std::ranges::lower_bound(blocks, index, {}, &SassBlock::begin) -
                                    blocks.begin());
  };
  for (SassBlock& block : blocks) {
    const Step& step = steps[block.end - 1];
    std::set<std::size_t> next;
    block.leaves = step.leaves || (step.returns && returns.empty());
    if (step.target) next.insert(block_at(*step.target));
    if (step.falls_through) next.insert(block_at(block.end));
    if (step.returns) {
      for (const std::size_t index : returns) next.insert(block_at(index));
    }
    if (const auto known = targets.find(code[block.end - 1].pc); known != targets.end()) {
      for (const std::uint64_t pc : known->second) next.insert(block_at(pc / SassWord::kBytes));
    }
    for (std::size_t i = 0; step.anywhere && i < blocks.size(); ++i) next.insert(i);
    if (next.erase(blocks.size()) > 0) block.leaves = true;  // runs off the end
    block.next.assign(next.begin(), next.end());
  }
  return blocks;
}

std::vector<std::vector<std::size_t>> edges_of(const std::vector<SassBlock>& blocks) {
  std::vector<std::vector<std::size_t>> edges;
  for (const SassBlock& block : blocks) {
    edges.push_back(block.next);
    if (block.leaves) edges.back().push_back(blocks.size());
  }
  return edges;
}

}  // namespace

bool is_branch(const SassWord& word) {
  switch (word.opcode()) {
    case kExit:
    case kKill:
    case kReturn:
    case kBranchIndexed:
    case kJump:
    case kJumpIndexed:
    case kBranchUniform:
    case kJumpUniform:
    case kCall:
    case kBranch:
      return true;
    default:
      return false;
  }
}

bool is_branch_if_apart(const SassWord& word) {
  return word.opcode() == kBranch && (word.low >> 32 & 3) == 2;
}

bool is_branch_of_warp(const SassWord& word) {
  return word.opcode() == kBranch && (word.low >> 32 & 3) == 1;
}

bool is_call(const SassWord& word) { return word.opcode() == kCall; }

std::optional<std::size_t> call_target(const SassWord& word, std::size_t size, int sm) {
  return is_call(word) ? step_of(word, size, sm).target : std::nullopt;
}

bool is_return(const SassWord& word) { return word.opcode() == kReturn; }

bool is_break(const SassWord& word) {
  constexpr unsigned kBreak = 0x142;
  return word.opcode() == kBreak;
}

bool is_yield(const SassWord& word) {
  constexpr unsigned kYield = 0x146;
  return word.opcode() == kYield;
}

bool is_meeting_of_warp(const SassWord& word) {
  constexpr unsigned kBarrierOfWarp = 0x148, kCollective = 2;
  return word.opcode() == kBarrierOfWarp && (word.high >> 21 & 3) != kCollective;
}

bool is_of_gathering(const SassWord& word) {
  return word.opcode() == kGatheringBegin || word.opcode() == kGatheringEnd;
}

std::vector<Gathering> gatherings(std::span<const SassWord> code) {
  const auto barrier = [](const SassWord& word) { return word.low >> 16 & 0xf; };
  std::vector<Gathering> found;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].opcode() != kGatheringBegin) continue;
    // BSSY has the distance from its end to the BSYNC, in units of 4 bytes.
    const std::uint64_t end = i + (code[i].low >> 34) / 4;
    if (end < code.size() && code[end].opcode() == kGatheringEnd &&
        barrier(code[end]) == barrier(code[i])) {
      found.push_back({i, end});
    }
  }
  return found;
}

SassFlow::SassFlow(std::span<const SassWord> code, int sm, const BranchTargets& targets,
                   Calls calls)
    : blocks_(blocks_of(code, sm, targets, calls)), graph_(edges_of(blocks_)) {}

}  // namespace warpgauge::metrics
