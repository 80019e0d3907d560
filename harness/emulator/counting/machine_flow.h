// The machine code of a kernel as a graph whose branches have lines of the PTX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "metrics/machine_code/partings.h"
#include "metrics/machine_code/sass_flow.h"

namespace warpgauge::emulator::counting {

struct CodeWithLines;

class MachineFlow {
 public:
  MachineFlow(const CodeWithLines& code, std::string_view kernel);

  const metrics::FlowGraph& graph() const { return flow_.graph(); }
  const std::vector<metrics::SassWord>& words() const { return words_; }
  const std::vector<metrics::SassBlock>& blocks() const { return flow_.blocks(); }
  const std::vector<metrics::FlowGraph::Loop>& loops() const { return loops_; }
  /// The blocks whose branches decide a block.
  const std::vector<std::size_t>& deciders(std::size_t block) const { return deciders_[block]; }
  /// Whether an instruction accesses local memory at one place in all lanes, [R1 + a number].
  bool is_spill(std::size_t index) const;
  /// Whether it is beside what the PTX computes there: a spill, a move of a constant or a register,
  /// an address on the stack, the begin or the end of a gathering.
  bool is_beside(std::size_t index) const;
  /// The line of the PTX that an instruction was made of.
  std::optional<int> line_at(std::size_t index) const { return lines_[index]; }
  /// The line of the branch at the end of a block.
  std::optional<int> last_line(std::size_t block) const { return lines_[blocks()[block].end - 1]; }
  /// Whether it ends with BRA.DIV.
  bool is_branch_if_apart(std::size_t block) const;
  std::size_t block_at(std::uint64_t pc) const;
  std::size_t block_of(std::size_t index) const;  ///< likewise by place in words()
  /// The innermost loop that contains the block; loops().size() if there is none.
  std::size_t innermost_loop(std::size_t block) const;

  /// Whether a loop is of one instruction of that line of the PTX, which it issues for one lane
  /// after the other: BRA.U.ANY behind a bulk copy.
  bool is_by_lane(const metrics::FlowGraph::Loop& loop, int text_line) const;

  /// Whether an access in a loop has an address there that may be another in another round.
  bool address_changes(std::uint64_t pc, std::size_t loop) const;

  /// BSSY and BSYNC, and the blocks on ways from the first that have not come to the second.
  struct Gathering {
    std::size_t begin = 0, end = 0;  ///< places of the two in words()
    std::vector<bool> between;
    bool yields = false;  ///< there is a YIELD between
  };
  /// The gatherings of several blocks.
  const std::vector<Gathering>& gatherings() const { return gatherings_; }
  /// The branches at which lanes part that do not meet again; places are those in words().
  const std::vector<metrics::Parting>& partings() const { return partings_; }

  /// Whether two blocks are one, or of one function of which every call comes to each once.
  bool execute_together(std::size_t a, std::size_t b) const;

  /// Calls visit(block) once for each of `open` and for those behind blocks of which it returned
  /// true, but for those of `past`.
  template <typename Visit>
  void walk(std::vector<std::size_t> open, const std::vector<std::size_t>& past,
            const Visit& visit) const {
    std::vector<bool> seen(graph().size() + 1);
    seen[graph().size()] = true;
    for (const std::size_t block : past) {
      if (block < seen.size()) seen[block] = true;  // ways that never end do not meet
    }
    while (!open.empty()) {
      const std::size_t block = open.back();
      open.pop_back();
      if (seen[block]) continue;
      seen[block] = true;
      if (!visit(block)) continue;
      open.insert(open.end(), graph().behind(block).begin(), graph().behind(block).end());
    }
  }

 private:
  std::vector<Gathering> find_gatherings() const;
  bool is_always_executed(std::size_t block) const {
    return deciders_[block].empty() && innermost_loop(block) == loops_.size();
  }
  /// Whether a way from the blocks `open` comes to one before it comes to those of `past`.
  bool reaches(std::vector<std::size_t> open, const std::vector<std::size_t>& past,
               std::size_t to) const;
  int sm_ = 0;
  std::vector<metrics::SassWord> words_;
  metrics::SassFlow flow_;
  std::vector<std::vector<std::size_t>> deciders_;
  std::vector<metrics::FlowGraph::Loop> loops_;
  std::vector<Gathering> gatherings_;
  std::vector<metrics::Parting> partings_;
  std::vector<std::optional<int>> lines_;
};

}  // namespace warpgauge::emulator::counting
