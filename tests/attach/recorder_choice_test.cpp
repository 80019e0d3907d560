// The recorder: launches and kernels that are chosen.
#include "tests/attach/recorder_fixture.h"

namespace warpgauge::attach::played_cuda {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(Recorder, ASampleOfEachKernel) {
  start_anew({.sample = 2});
  recorder->context_made(kContext, kDevice);
  for (int i = 0; i < 5; ++i) launch("first");
  EXPECT_EQ(played.stops, 1);
  for (int i = 0; i < 5; ++i) launch("second");
  EXPECT_EQ(played.stops, 2) << "it went on for the kernel that is new";
  for (int i = 0; i < 3; ++i) launch("third");
  EXPECT_TRUE(recorder->finish(1s));
  const AttachedProcess process = saved();
  ASSERT_EQ(process.kernels.size(), 3u);
  EXPECT_EQ(process.kernels[0].launches, 5u);
  EXPECT_EQ(process.kernels[0].counted[0].count, 2u);
  EXPECT_EQ(process.kernels[1].launches, 5u);
  EXPECT_EQ(process.kernels[1].counted[0].count, 2u);
  EXPECT_EQ(process.kernels[2].counted[0].count, 2u);
  EXPECT_EQ(counted(), 6u);
}

TEST_F(Recorder, TheFirstLaunchesOfAllKernels) {
  start_anew({.limit = 3});
  recorder->context_made(kContext, kDevice);
  launch("first");
  launch("first");
  for (int i = 0; i < 4; ++i) launch("second");
  EXPECT_EQ(played.stops, 1);
  launch("third");
  EXPECT_EQ(played.starts, 1) << "a kernel that is new does not count any more";
  EXPECT_TRUE(recorder->finish(1s));
  const AttachedProcess process = saved();
  ASSERT_EQ(process.kernels.size(), 3u);
  EXPECT_EQ(process.kernels[0].counted[0].count, 2u);
  EXPECT_EQ(process.kernels[1].launches, 4u);
  EXPECT_EQ(process.kernels[1].counted[0].count, 1u);
  EXPECT_THAT(process.kernels[2].counted, IsEmpty());
  EXPECT_EQ(counted(), 3u);
}

TEST_F(Recorder, KernelsThatAreSkippedAreLaunchedWhileNothingIsCounted) {
  start_anew({.sample = 3, .skip = {"nccl*", "in_graph"}});
  recorder->context_made(kContext, kDevice);
  launch("_Z13ncclAllReducePf");
  EXPECT_EQ(played.starts, 0);
  launch("mine");
  launch("mine");
  launch("_Z13ncclAllReducePf");
  EXPECT_EQ(played.stops, 1);
  EXPECT_EQ(counted(), 2u) << "what was counted before was taken";
  recorder->make_graph(kContext, kGraph);
  recorder->graph_made(kExec, kGraph);
  launch_graph();
  EXPECT_EQ(played.starts, 1);
  launch("mine");
  EXPECT_EQ(played.starts, 2);
  EXPECT_EQ(played.stops, 2) << "all others have their sample";
  launch("mine");
  EXPECT_EQ(played.starts, 2);
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_EQ(counted(), 3u);
  EXPECT_EQ(launched(), 8u);
  EXPECT_THAT(saved().warnings, IsEmpty());
}

TEST_F(Recorder, AGraphWithAKernelToBeSkippedIsCountedWithoutIt) {
  start_anew({.skip = {"in_body"}});
  recorder->context_made(kContext, kDevice);
  recorder->condition_made(kNode, {kGraph});
  recorder->make_graph(kContext, kConditionalGraph);
  recorder->graph_made(kExec, kConditionalGraph);
  launch_graph();
  EXPECT_EQ(played.starts, 1);
  played.conditional_warps = 4;
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_EQ(launched(), 1u) << "of the other kernel";
  const AttachedProcess process = saved();
  for (const AttachedKernel& kernel : process.kernels) {
    EXPECT_THAT(kernel.counted, SizeIs(kernel.name == "in_graph" ? 1 : 0)) << kernel.name;
  }
  ASSERT_THAT(process.records, SizeIs(1));
  for (const auto& [instruction, values] : process.records.begin()->second) {
    EXPECT_NE(instruction.kernel, "in_body");
  }
}

TEST_F(Recorder, AKernelToBeSkippedWhileAStreamIsCaptured) {
  start_anew({.skip = {"skipped"}});
  recorder->context_made(kContext, kDevice);
  launch();
  capture(reinterpret_cast<CUstream>(0x31));
  launch("skipped");
  EXPECT_EQ(played.stops, 0);
  EXPECT_THAT(saved().warnings, ElementsAre(HasSubstr("--skip")));
}

}  // namespace
}  // namespace warpgauge::attach::played_cuda
