#include "metrics/sass_flow.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace warpgauge::metrics {
namespace {

constexpr unsigned kCall = 0x144, kBranch = 0x147, kBranchIndexed = 0x149, kJump = 0x14a,
                   kJumpIndexed = 0x14c, kExit = 0x14d, kReturn = 0x150, kBranchUniform = 0x158,
                   kJumpUniform = 0x159, kKill = 0x15b;

/// Where control goes behind an instruction.
struct Step {
  bool falls_through = true;
  bool leaves = false;    // the kernel
  bool returns = false;   // from a function
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

/// Without a predicate of any kind, and no branch of a warp that has diverged (BRA.DIV).
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
    case kCall:  // it comes back, which a return does, too, but it may be to another function
      if (word.form() != kRelativeForm) return {.anywhere = true};
      return {.target = target_of(word, size, sm)};
    case kBranch: {
      const bool unconditional = is_unconditional_branch(word);
      const auto target = target_of(word, size, sm);
      const bool is_trap = unconditional && target == word.pc / SassWord::kBytes;
      return {.falls_through = !unconditional,
              .leaves = is_trap,  // behind the end of the code
              .anywhere = !target,
              .target = target};
    }
    default:
      return {};
  }
}

std::vector<SassBlock> blocks_of(std::span<const SassWord> code, int sm) {
  std::vector<Step> steps;
  std::set<std::size_t> begins = {0}, returns;
  for (const SassWord& word : code) {
    const Step& step = steps.emplace_back(step_of(word, code.size(), sm));
    if (step.target) begins.insert(*step.target);
    if (step.ends_a_block()) begins.insert(steps.size());
    if (word.opcode() == kCall) returns.insert(steps.size());
  }
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
    for (std::size_t i = 0; step.anywhere && i < blocks.size(); ++i) next.insert(i);
    if (next.erase(blocks.size()) > 0) block.leaves = true;  // runs off the end
    block.next.assign(next.begin(), next.end());
  }
  return blocks;
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

SassFlow::SassFlow(std::span<const SassWord> code, int sm) : blocks_(blocks_of(code, sm)) {
  find_meeting_points();
}

/// The immediate postdominators: K. D. Cooper, T. J. Harvey, K. Kennedy, "A Simple, Fast Dominance
/// Algorithm", on the edges turned round.
void SassFlow::find_meeting_points() {
  const std::size_t end = blocks_.size();
  std::vector<std::vector<std::size_t>> before(end + 1), behind(end + 1);
  for (std::size_t block = 0; block < end; ++block) {
    behind[block] = blocks_[block].next;
    if (blocks_[block].leaves) behind[block].push_back(end);
    for (const std::size_t next : behind[block]) before[next].push_back(block);
  }

  // Blocks by the time at which a depth-first walk from the end backwards is done with them.
  constexpr std::size_t kUnseen = static_cast<std::size_t>(-1), kSeen = kUnseen - 1;
  std::vector<std::size_t> number(end + 1, kUnseen), order;
  std::vector<std::pair<std::size_t, std::size_t>> path = {{end, 0}};
  number[end] = kSeen;
  while (!path.empty()) {
    auto& [block, edge] = path.back();
    if (edge == before[block].size()) {
      number[block] = order.size();
      order.push_back(block);
      path.pop_back();
      continue;
    }
    const std::size_t other = before[block][edge++];
    if (number[other] != kUnseen) continue;
    number[other] = kSeen;
    path.emplace_back(other, 0);
  }

  meeting_point_.assign(end + 1, kUnseen);
  meeting_point_[end] = end;
  const auto meet = [&](std::size_t a, std::size_t b) {
    while (a != b) {
      while (number[a] < number[b]) a = meeting_point_[a];
      while (number[b] < number[a]) b = meeting_point_[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = order.size() - 1; i-- > 0;) {  // without the end itself, which is last
      const std::size_t block = order[i];
      std::size_t found = kUnseen;
      for (const std::size_t next : behind[block]) {
        if (meeting_point_[next] == kUnseen) continue;
        found = found == kUnseen ? next : meet(found, next);
      }
      changed = changed || found != meeting_point_[block];
      meeting_point_[block] = found;
    }
  }
}

std::vector<std::size_t> SassFlow::decided_by(std::size_t block) const {
  std::vector<bool> seen(blocks_.size());
  std::vector<std::size_t> found, open = blocks_[block].next;
  while (!open.empty()) {
    const std::size_t one = open.back();
    open.pop_back();
    if (one == meeting_point_[block] || seen[one]) continue;
    seen[one] = true;
    found.push_back(one);
    open.insert(open.end(), blocks_[one].next.begin(), blocks_[one].next.end());
  }
  return found;
}

}  // namespace warpgauge::metrics
