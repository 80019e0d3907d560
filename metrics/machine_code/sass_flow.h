// The control flow of a kernel's machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "metrics/machine_code/flow_graph.h"
#include "metrics/machine_code/sass_code.h"

namespace warpgauge::metrics {

/// A basic block: the instructions [begin, end) of the code, executed one after the other.
struct SassBlock {
  std::size_t begin = 0, end = 0;
  std::vector<std::size_t> next;  ///< successors; several behind a branch
  bool leaves = false;            ///< threads may end there
};

/// True for BRA.DIV, which leads to code that does the same for a diverged warp.
bool is_branch_if_apart(const SassWord& word);

/// True for BRA.U, at which all lanes go one way.
bool is_branch_of_warp(const SassWord& word);

/// True for CALL, which returns.
bool is_call(const SassWord& word);

/// The target of a CALL, as an index into code of `size` instructions for `sm`; nullopt if it is
/// none, or leads elsewhere.
std::optional<std::size_t> call_target(const SassWord& word, std::size_t size, int sm);

/// True for RET, which ends a function.
bool is_return(const SassWord& word);

/// True for BREAK, by which lanes leave out a BSYNC.
bool is_break(const SassWord& word);

/// True for YIELD, at which a warp turns to lanes that wait: those at a BSYNC wait no longer for
/// the others.
bool is_yield(const SassWord& word);

/// True for WARPSYNC, at which lanes of a warp meet; not for WARPSYNC.COLLECTIVE, behind which they
/// are apart as before.
bool is_meeting_of_warp(const SassWord& word);

/// True for BSSY and BSYNC.
bool is_of_gathering(const SassWord& word);

/// A pair of BSSY and BSYNC. Lanes of a warp that diverge between them meet again at the second.
struct Gathering {
  std::size_t begin = 0, end = 0;  ///< indices of the two
};
std::vector<Gathering> gatherings(std::span<const SassWord> code);

/// True if control may go elsewhere than to the next instruction. A branch ends a block.
bool is_branch(const SassWord& word);

/// The edges of a call. `followed`: to the function, and from its end behind every call.
/// `stepped_over`: to the next instruction; the function is a part of the graph by itself.
enum class Calls : std::uint8_t { followed, stepped_over };

class SassFlow {
 public:
  /// `code` is all code of a kernel for `sm`. A branch with an unknown target may go to any block.
  SassFlow(std::span<const SassWord> code, int sm, const BranchTargets& targets = {},
           Calls calls = Calls::followed);

  const std::vector<SassBlock>& blocks() const { return blocks_; }
  const FlowGraph& graph() const { return graph_; }  ///< its nodes are the blocks

 private:
  std::vector<SassBlock> blocks_;
  FlowGraph graph_;
};

}  // namespace warpgauge::metrics
