// The control flow of a kernel's machine code.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "metrics/sass_code.h"

namespace warpgauge::metrics {

/// Instructions that are executed one after the other: [begin, end) of the code.
struct SassBlock {
  std::size_t begin = 0, end = 0;
  std::vector<std::size_t> next;  ///< blocks; several where it ends with a branch
  bool leaves = false;            ///< some threads may end there
};

/// Whether control may go elsewhere than to the next instruction. A branch ends a block.
bool is_branch(const SassWord& word);

class SassFlow {
 public:
  /// `code` is all of a kernel's, for `sm`. A branch whose target is not
  /// known may go to any block, and a return behind any call.
  SassFlow(std::span<const SassWord> code, int sm);

  const std::vector<SassBlock>& blocks() const { return blocks_; }
  /// The blocks whose execution the branch at the end of `block` decides: all on the ways from it
  /// to where they meet again.
  std::vector<std::size_t> decided_by(std::size_t block) const;

 private:
  void find_meeting_points();

  std::vector<SassBlock> blocks_;
  /// Of each block the nearest one that all ways from it to the end lead through; blocks_.size() is
  /// the end itself.
  std::vector<std::size_t> meeting_point_;
};

}  // namespace warpgauge::metrics
