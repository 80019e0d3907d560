// The control flow of a kernel's machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/machine_code/flow_graph.h"
#include "metrics/machine_code/sass_code.h"

namespace warpgauge::metrics {

/// Instructions that are executed one after the other: [begin, end) of the code.
struct SassBlock {
  std::size_t begin = 0, end = 0;
  std::vector<std::size_t> next;  ///< blocks; several where it ends with a branch
  bool leaves = false;            ///< some threads may end there
};

/// BRA.DIV: leads to code that does the same where the lanes of a warp are apart.
bool is_branch_if_apart(const SassWord& word);

/// CALL: goes to a function, which comes back.
bool is_call(const SassWord& word);

/// BREAK: lanes will not come to a BSYNC.
bool is_break(const SassWord& word);

/// BSSY and BSYNC: lanes of a warp that part between them meet at the second.
struct Gathering {
  std::size_t begin = 0, end = 0;  ///< indices of the two
};
std::vector<Gathering> gatherings(std::span<const SassWord> code);

/// Whether control may go elsewhere than to the next instruction. A branch ends a block.
bool is_branch(const SassWord& word);

/// What becomes of control at a call: it goes to the function and from there behind any call, or
/// past it, and the function is a part of the graph by itself.
enum class Calls : std::uint8_t { followed, stepped_over };

class SassFlow {
 public:
  /// `code` is all of a kernel's, for `sm`. A branch whose target is not known may go to any block.
  SassFlow(std::span<const SassWord> code, int sm, const BranchTargets& targets = {},
           Calls calls = Calls::followed);

  const std::vector<SassBlock>& blocks() const { return blocks_; }
  const FlowGraph& graph() const { return graph_; }  ///< its nodes are the blocks

 private:
  std::vector<SassBlock> blocks_;
  FlowGraph graph_;
};

}  // namespace warpgauge::metrics
