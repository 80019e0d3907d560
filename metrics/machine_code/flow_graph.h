// A control-flow graph: its postdominators, control dependences and loops.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

namespace warpgauge::metrics {

class FlowGraph {
 public:
  /// A natural loop: all nodes on paths from its header back to it.
  struct Loop {
    std::size_t header = 0;
    std::vector<bool> contains;  ///< by node
    std::size_t size = 0;        ///< the number of nodes
  };

  /// `behind` has the successors of each node. The number of nodes stands for the end.
  explicit FlowGraph(std::vector<std::vector<std::size_t>> behind);

  std::size_t size() const { return behind_.size(); }
  const std::vector<std::size_t>& behind(std::size_t node) const { return behind_[node]; }
  const std::vector<std::size_t>& before(std::size_t node) const { return before_[node]; }
  /// The nodes whose execution the branch at the end of `node` decides: all on the paths from it to
  /// their meeting point.
  std::vector<std::size_t> decided_by(std::size_t node) const;
  /// The nodes on the paths from `first`, a successor of `node`, to the meeting point of `node`.
  std::set<std::size_t> way(std::size_t node, std::size_t first) const;
  /// The immediate postdominator: the nearest node on all paths from `node` to the end. size() is
  /// the end.
  std::size_t meeting_point(std::size_t node) const { return meeting_point_[node]; }
  /// By node: the nodes with several successors that decide its execution.
  std::vector<std::vector<std::size_t>> deciders() const;
  /// The loops, one a header, the smallest first, so that a loop comes before those around it.
  /// Nodes that no path reaches from the first one may belong to other functions.
  std::vector<Loop> loops() const;

 private:
  void find_meeting_points();

  std::vector<std::vector<std::size_t>> behind_;
  std::vector<std::vector<std::size_t>> before_;  // the predecessors of each node and of the end
  std::vector<std::size_t> meeting_point_;
};

}  // namespace warpgauge::metrics
