// Follows the ways from each branch up to where lanes of a warp meet.
#include "metrics/machine_code/partings.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace warpgauge::metrics {
namespace {

class Partings {
 public:
  Partings(std::span<const SassWord> code, const SassFlow& flow, int sm)
      : code_(code),
        flow_(flow),
        may_part_(flow.blocks().size()),
        on_way_(code.size()),
        once_(code.size()),
        apart_(code.size()) {
    for (std::size_t block = 0; block < flow.blocks().size(); ++block) {
      const SassBlock& range = flow.blocks()[block];
      blocks_.insert(blocks_.end(), range.end - range.begin, block);
    }
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (const auto target = call_target(code[i], code.size(), sm)) calls_.push_back({i, *target});
    }
    find_functions();
    find_meetings();
  }

  std::vector<Parting> all() {
    std::vector<Parting> found;
    for (std::size_t block = 0; block < flow_.blocks().size(); ++block) {
      const std::size_t branch = flow_.blocks()[block].end - 1;
      if (flow_.blocks()[block].next.size() < 2 || is_branch_if_apart(code_[branch])) continue;
      if (!may_part_[block] || is_branch_of_warp(code_[branch])) continue;
      const Indices apart = apart_behind(block);
      if (apart.empty()) continue;
      Parting& parting = found.emplace_back(branch, std::vector<bool>(code_.size()));
      for (const std::size_t index : apart) parting.apart[index] = true;
    }
    return found;
  }

 private:
  struct Call {
    std::size_t index = 0, target = 0;
  };
  struct Function {
    std::set<std::size_t> blocks;
    bool calls_itself = false;
  };
  struct Meeting {
    std::size_t end = 0;        // index of the BSYNC
    std::vector<bool> between;  // by block
  };

  void find_functions() {
    for (const Call& call : calls_) {
      Function& function = functions_[call.target];
      if (function.blocks.empty()) function.blocks = blocks_from(blocks_[call.target]);
    }
    for (auto& [entry, function] : functions_) {
      std::set<std::size_t> open = {entry}, seen;
      while (!open.empty()) {
        const std::size_t next = open.extract(open.begin()).value();
        if (!seen.insert(next).second) continue;
        for (const Call& call : calls_) {
          if (functions_.at(next).blocks.contains(blocks_[call.index])) {
            function.calls_itself |= call.target == entry;
            open.insert(call.target);
          }
        }
      }
    }
  }

  std::set<std::size_t> blocks_from(std::size_t first) const {
    std::set<std::size_t> seen;
    std::vector<std::size_t> open = {first};
    while (!open.empty()) {
      const std::size_t block = open.back();
      open.pop_back();
      if (!seen.insert(block).second) continue;
      const auto& next = flow_.blocks()[block].next;
      open.insert(open.end(), next.begin(), next.end());
    }
    return seen;
  }

  /// The BSYNCs that gather lanes.
  void find_meetings() {
    for (const Gathering& gathering : gatherings(code_)) {
      const std::size_t begin = blocks_[gathering.begin], end = blocks_[gathering.end];
      Meeting meeting{gathering.end, std::vector<bool>(flow_.blocks().size())};
      bool yields = false;
      std::vector<std::size_t> open = {begin};
      while (!open.empty()) {
        const std::size_t block = open.back();
        open.pop_back();
        if (meeting.between[block] || block == end) continue;
        meeting.between[block] = may_part_[block] = true;
        const SassBlock& range = flow_.blocks()[block];
        for (std::size_t i = block == begin ? gathering.begin : range.begin; i < range.end; ++i)
          yields |= is_yield(code_[i]);
        open.insert(open.end(), range.next.begin(), range.next.end());
      }
      const bool is_of_several_calls = std::ranges::any_of(functions_, [&](const auto& entry) {
        return entry.second.calls_itself && entry.second.blocks.contains(begin);
      });
      if (!yields && !is_of_several_calls) meetings_.push_back(std::move(meeting));
    }
  }

  using Indices = std::vector<std::size_t>;

  /// Adds to `reached` what lanes come to that go on at `from` and have parted in block `parted`,
  /// and to `gathered` the BSYNCs where they wait for the others.
  void follow(std::size_t from, std::size_t parted, std::vector<bool>& seen, Indices& reached,
              Indices& gathered) const {
    Indices gathers, open = {from};
    for (const Meeting& meeting : meetings_) {
      if (meeting.between[parted]) gathers.push_back(meeting.end);
    }
    const auto is_end = [&](std::size_t index) {
      const bool gathers_here = std::ranges::find(gathers, index) != gathers.end();
      if (gathers_here) gathered.push_back(index);
      return gathers_here || is_meeting_of_warp(code_[index]);
    };
    while (!open.empty()) {
      std::size_t at = open.back();
      open.pop_back();
      const std::size_t block = blocks_[at], end = flow_.blocks()[block].end;
      for (; at < end && !seen[at] && !is_end(at); ++at) {
        seen[at] = true;
        reached.push_back(at);
      }
      if (at < end) continue;
      for (const std::size_t next : flow_.blocks()[block].next) {
        if (is_branch_if_apart(code_[end - 1]) && next == block + 1) continue;
        open.push_back(flow_.blocks()[next].begin);
      }
    }
  }

  /// What lanes may come to apart that part at the end of a block.
  Indices apart_behind(std::size_t branch) {
    Indices once, apart, gathered;
    const auto come_to = [&](const Indices& reached) {
      for (const std::size_t index : reached) {
        on_way_[index] = false;
        if (!once_[index]) {
          once_[index] = true;
          once.push_back(index);
        } else if (!apart_[index]) {
          apart_[index] = true;
          apart.push_back(index);
        }
      }
    };
    for (const std::size_t way : flow_.blocks()[branch].next) {
      Indices reached;
      follow(flow_.blocks()[way].begin, branch, on_way_, reached, gathered);
      come_to(reached);
    }
    // Those that a BSYNC has gathered come to what lanes have gone on to that left it out by BREAK.
    const Indices ends = std::move(gathered);
    Indices reached;
    set_block(branch, true);
    for (const std::size_t end : ends) follow(end + 1, branch, on_way_, reached, gathered);
    set_block(branch, false);
    come_to(reached);
    for (const std::size_t index : once) once_[index] = false;
    for (bool changes = !apart.empty(); changes;) {
      changes = false;
      for (const Call& call : calls_) {
        const std::size_t behind = call.index + 1, before = apart.size();
        if (behind >= code_.size() || apart_[behind] || !returns_apart(call.target)) continue;
        follow(behind, blocks_[call.index], apart_, apart, gathered);
        changes |= apart.size() > before;
      }
    }
    for (const std::size_t index : apart) apart_[index] = false;
    return apart;
  }

  /// Whether ways are to end at a block.
  void set_block(std::size_t block, bool seen) {
    const SassBlock& range = flow_.blocks()[block];
    for (std::size_t i = range.begin; i < range.end; ++i) on_way_[i] = seen;
  }

  bool returns_apart(std::size_t entry) const {
    return std::ranges::any_of(functions_.at(entry).blocks, [&](std::size_t block) {
      const std::size_t last = flow_.blocks()[block].end - 1;
      return apart_[last] && is_return(code_[last]);
    });
  }

  std::span<const SassWord> code_;
  const SassFlow& flow_;
  std::vector<std::size_t> blocks_;  // by instruction
  std::vector<Call> calls_;
  std::map<std::size_t, Function> functions_;  // by entry
  std::vector<Meeting> meetings_;
  std::vector<bool> may_part_;  // by block
  // By instruction, false between two branches.
  std::vector<bool> on_way_, once_, apart_;
};

}  // namespace

std::vector<Parting> partings(std::span<const SassWord> code, const SassFlow& flow, int sm) {
  return Partings(code, flow, sm).all();
}

}  // namespace warpgauge::metrics
