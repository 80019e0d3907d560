// Loops and branches of graphs that are written here.
#include "metrics/machine_code/flow_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace warpgauge::metrics::flow_graph_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::size_t> nodes_of(const FlowGraph::Loop& loop) {
  std::vector<std::size_t> nodes;
  for (std::size_t node = 0; node < loop.contains.size(); ++node) {
    if (loop.contains[node]) nodes.push_back(node);
  }
  return nodes;
}

TEST(FlowGraph, WithoutAWayBackThereIsNoLoop) {
  EXPECT_THAT(FlowGraph({{1, 2}, {3}, {3}, {4}}).loops(), IsEmpty());
}

TEST(FlowGraph, ALoopInALoop) {
  // 0 -> 1 -> 2 -> 2 or 3; 3 -> 1 or 4; 4 is behind both.
  const FlowGraph graph({{1}, {2}, {2, 3}, {1, 4}, {5}});
  const auto loops = graph.loops();
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[0].header, 2u);
  EXPECT_THAT(nodes_of(loops[0]), ElementsAre(2));
  EXPECT_EQ(loops[1].header, 1u);
  EXPECT_THAT(nodes_of(loops[1]), ElementsAre(1, 2, 3));
  EXPECT_EQ(loops[1].size, 3u);
  EXPECT_THAT(graph.deciders()[2], ElementsAre(2, 3));
  EXPECT_THAT(graph.deciders()[4], IsEmpty());
}

TEST(FlowGraph, TwoWaysBackAreOneLoop) {
  const auto loops = FlowGraph({{1}, {0, 2}, {0, 3}, {4}}).loops();
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_THAT(nodes_of(loops[0]), ElementsAre(0, 1, 2));
}

TEST(FlowGraph, AFunctionThatNoWayLeadsToHasLoopsToo) {
  const auto loops = FlowGraph({{3}, {1, 2}, {3}}).loops();
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_THAT(nodes_of(loops[0]), ElementsAre(1));
}

TEST(FlowGraph, WaysMeetBehindTheBranch) {
  const FlowGraph graph({{1, 2}, {3}, {3}, {4}});
  EXPECT_EQ(graph.meeting_point(0), 3u);
  EXPECT_EQ(graph.meeting_point(3), 4u) << "the end";
  EXPECT_THAT(graph.deciders()[1], ElementsAre(0));
  EXPECT_THAT(graph.before(3), ElementsAre(1, 2));
}

}  // namespace
}  // namespace warpgauge::metrics::flow_graph_test
