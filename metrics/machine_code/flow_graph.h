// A control-flow graph: where its ways meet again, what its branches decide, its loops.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

namespace warpgauge::metrics {

class FlowGraph {
 public:
  /// A natural loop: all nodes on ways from its header back to it.
  struct Loop {
    std::size_t header = 0;
    std::vector<bool> contains;  ///< by node
    std::size_t size = 0;        ///< nodes that it contains
  };

  /// The nodes behind each node; the number of nodes stands for the end.
  explicit FlowGraph(std::vector<std::vector<std::size_t>> behind);

  std::size_t size() const { return behind_.size(); }
  const std::vector<std::size_t>& behind(std::size_t node) const { return behind_[node]; }
  const std::vector<std::size_t>& before(std::size_t node) const { return before_[node]; }
  /// The nodes whose execution the branch at the end of `node` decides: all on the ways from it to
  /// where they meet again.
  std::vector<std::size_t> decided_by(std::size_t node) const;
  /// The nodes on the ways from `first`, which is behind `node`, to where all ways from `node`
  /// meet.
  std::set<std::size_t> way(std::size_t node, std::size_t first) const;
  /// The nearest node that all ways from `node` to the end lead through; size() is the end.
  std::size_t meeting_point(std::size_t node) const { return meeting_point_[node]; }
  /// Of each node the branches that decide it: those nodes that have several others behind them.
  std::vector<std::vector<std::size_t>> deciders() const;
  /// One for each header, the smallest first: a loop comes before those around it. Nodes that no
  /// way leads to from the first one may be other functions.
  std::vector<Loop> loops() const;

 private:
  void find_meeting_points();

  std::vector<std::vector<std::size_t>> behind_;
  std::vector<std::vector<std::size_t>> before_;  // of the end too
  std::vector<std::size_t> meeting_point_;
};

}  // namespace warpgauge::metrics
