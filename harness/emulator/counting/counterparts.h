// The branches and loops of the PTX that those of the machine code were made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/emulator/counting/machine_flow.h"
#include "harness/emulator/counting/ptx_flow.h"

namespace warpgauge::emulator::counting {

/// The branch or loop of a function of the PTX that one of the machine code was made of.
struct Counterpart {
  enum class Kind : std::uint8_t { none, of_another_function, found } kind = Kind::none;
  std::size_t number = 0;  ///< the block's that ends with the branch, or the loop's
};

/// Finds the counterparts in one function by the lines of the branches.
class Counterparts {
 public:
  /// `flow` is one of `all`, the functions of the module. All must outlive it.
  Counterparts(const PtxFlow& flow, std::span<const PtxFlow> all, const MachineFlow& machine);

  const std::vector<metrics::FlowGraph::Loop>& loops() const {
    return loops_;
  }  ///< those in the PTX
  /// The counterpart of the branch at the end of a block of the machine code.
  const Counterpart& of_branch(std::size_t block) const { return branches_[block]; }
  /// The counterpart of a loop of the machine code: the innermost one with all its branches, if it
  /// leaves it by one.
  const Counterpart& of_loop(std::size_t loop) const { return same_loop_[loop]; }

  /// Whether arithmetic shows that a loop of the machine code has one round of that of the PTX.
  bool shows_rounds(std::size_t loop) const;
  /// The innermost loop of the PTX around a block; loops().size() if there is none.
  std::size_t innermost_loop(std::size_t block) const;

  bool is_branch(std::size_t block) const { return flow_.graph().behind(block).size() > 1; }
  /// Whether a block of the machine code ends with a branch of the PTX.
  bool is_known_branch(std::size_t block) const {
    return branches_[block].kind == Counterpart::Kind::found &&
           is_branch(branches_[block].number) && !machine_.is_branch_if_apart(block);
  }
  /// Whether the block decides how often a loop runs, which it is in.
  bool is_exit(std::size_t block, const metrics::FlowGraph::Loop& loop) const;

 private:
  Counterpart branch_at(std::size_t machine_block) const;
  std::size_t branch_before(std::size_t block) const;
  void find_by_meeting_point();
  Counterpart same_loop(const metrics::FlowGraph::Loop& loop) const;

  const PtxFlow& flow_;
  std::span<const PtxFlow> all_;
  const MachineFlow& machine_;
  std::vector<metrics::FlowGraph::Loop> loops_;
  std::vector<Counterpart> branches_;   // by block of the machine code
  std::vector<Counterpart> same_loop_;  // by loop of the machine code
};

}  // namespace warpgauge::emulator::counting
