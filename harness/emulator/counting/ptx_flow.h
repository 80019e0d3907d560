// The control flow of a function of the PTX, by lines of the text.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/emulator/ptx/module.h"
#include "metrics/machine_code/flow_graph.h"

namespace warpgauge::emulator::counting {

/// Does not keep the function.
class PtxFlow {
 public:
  explicit PtxFlow(const ptx::Function& function);

  const std::string& name() const { return name_; }  ///< the function's
  const metrics::FlowGraph& graph() const { return graph_; }
  /// The block of the instruction in that line of the text; nullopt for lines of other functions.
  std::optional<std::size_t> block_at(int text_line) const;
  /// The line of the last instruction of a block.
  int last_line(std::size_t block) const { return last_lines_[block]; }
  /// Whether a block ends with "@%p bra": behind it is the next block, if no lane takes the branch.
  bool falls_through(std::size_t block) const { return falls_through_[block]; }
  /// Whether the instruction in that line is simple arithmetic: one instruction of machine code for
  /// each execution.
  bool is_simple(int text_line) const { return simple_.contains(text_line); }
  /// Whether ptxas makes no branch of the instruction in that line.
  bool is_straight(int text_line) const { return straight_.contains(text_line); }
  bool is_call(int text_line) const { return calls_.contains(text_line); }
  bool calls_through_register() const { return calls_through_register_; }
  /// Whether executions of it in a loop cannot be put together to one, as steps of a counter are.
  bool is_separate(int text_line) const { return separate_.contains(text_line); }

 private:
  std::string name_;
  std::map<int, std::size_t> blocks_;                   // by the line of the instruction
  std::vector<int> last_lines_;                         // by block
  std::vector<bool> falls_through_;                     // by block
  std::set<int> simple_, straight_, calls_, separate_;  // lines
  bool calls_through_register_ = false;
  metrics::FlowGraph graph_;
};

}  // namespace warpgauge::emulator::counting
