// The recorder: captured launches, and graphs of them.
#include "tests/attach/recorder_fixture.h"

namespace warpgauge::attach::played_cuda {
namespace {

using namespace std::chrono_literals;
using metrics::Launch;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(Recorder, LaunchesThatAreCapturedAreNone) {
  recorder->context_made(kContext, kDevice);
  capture(kStream);
  launch();
  recorder->waited(kContext);
  EXPECT_EQ(played.takes, 0) << "that would end the capture";
  end_capture(kStream);
  recorder->graph_made(kExec, kGraph);
  launch_graph();
  launch_graph();
  EXPECT_TRUE(recorder->finish(1s));
  const AttachedProcess process = saved();
  ASSERT_EQ(process.kernels.size(), 1u);
  EXPECT_EQ(process.kernels[0].name, "in_graph");
  EXPECT_EQ(process.kernels[0].launches, 4u);
}

TEST_F(Recorder, NodesOfAGraphThatIsReadyMayChange) {
  const metrics::Launch shape{.grid = {1, 1, 1}, .block = {64, 1, 1}};
  recorder->context_made(kContext, kDevice);
  recorder->make_graph(kContext, kGraph);
  recorder->graph_made(kExec, kGraph);
  const std::optional<attach::driver::LaunchedKernel> changed{
      {kOtherFunction, "changed", shape, kNode}};
  recorder->change_node(kContext, changed);
  recorder->node_changed(kExec, changed);
  launch_graph();
  recorder->node_enabled(kExec, kNode, false);
  launch_graph();
  recorder->node_changed(kExec, changed);
  launch_graph();
  recorder->node_enabled(kExec, kNode, true);
  launch_graph();
  EXPECT_TRUE(recorder->finish(1s));
  const AttachedProcess process = saved();
  ASSERT_EQ(process.kernels.size(), 2u);
  EXPECT_EQ(process.kernels[0].name, "changed");
  EXPECT_EQ(process.kernels[0].launches, 2u);
  EXPECT_EQ(process.kernels[1].launches, 4u);
  EXPECT_THAT(process.warnings, IsEmpty());
}

TEST_F(Recorder, ConditionalKernelsAreLaunchedAsOftenAsTheirWarpsShow) {
  recorder->context_made(kContext, kDevice);
  recorder->condition_made(kNode, {kGraph});
  recorder->make_graph(kContext, kConditionalGraph);
  recorder->graph_made(kExec, kConditionalGraph);
  const auto in_body = [&] {
    const auto process = saved();
    const auto found = std::ranges::find(process.kernels, "in_body", &AttachedKernel::name);
    return found == process.kernels.end() ? AttachedKernel{} : *found;
  };
  launch_graph();
  recorder->before_unloading(kContext);
  EXPECT_EQ(in_body().launches, 0u) << "the condition did not hold";
  EXPECT_EQ(launched(), 1u) << "of the other kernel";
  launch_graph();
  played.conditional_warps = 3 * 4;  // 2 blocks of 2 warps each
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_EQ(in_body().launches, 3u);
  ASSERT_THAT(in_body().counted, SizeIs(1));
  EXPECT_EQ(in_body().counted[0].count, 3u);
  EXPECT_EQ(launched(), 2u + 3);
  EXPECT_THAT(saved().warnings, IsEmpty());
}

TEST_F(Recorder, WarnsOfConditionalKernelsWhoseLaunchesTheirWarpsDoNotShow) {
  recorder->context_made(kContext, kDevice);
  recorder->condition_made(kNode, {kGraph});
  recorder->graph_made(kExec, kConditionalGraph);
  launch_graph();
  played.conditional_warps = 3;  // no number of launches has so many
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_THAT(saved().warnings, ElementsAre(HasSubstr("not known how often")));
}

TEST_F(Recorder, WarnsOfConditionsThatWereMadeBefore) {
  recorder->context_made(kContext, kDevice);
  recorder->graph_made(kExec, kConditionalGraph);
  EXPECT_THAT(saved().warnings, ElementsAre(HasSubstr("not known before they are launched")));
}

TEST_F(Recorder, WarnsOfNodesThatChangeToWhatIsNotKnown) {
  const metrics::Launch shape{.grid = {1, 1, 1}, .block = {64, 1, 1}};
  recorder->context_made(kContext, kDevice);
  recorder->graph_made(kExec, kGraph);
  recorder->node_changed(kExec,
                         attach::driver::LaunchedKernel{kFunction, "changed", shape, kOtherNode});
  EXPECT_THAT(saved().warnings, ElementsAre(HasSubstr("not known by name")));
}

TEST_F(Recorder, WarnsOfUnknownGraphs) {
  recorder->context_made(kContext, kDevice);
  played.unknown_nodes = true;
  recorder->graph_made(kExec, kGraph);
  EXPECT_THAT(saved().warnings, ElementsAre(HasSubstr("not known before they are launched")));
  played.several_contexts = true;
  recorder->graph_made(kExec, kGraph);
  EXPECT_THAT(saved().warnings, SizeIs(2));
}

}  // namespace
}  // namespace warpgauge::attach::played_cuda
