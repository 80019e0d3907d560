// The recorder: its counts, and its reasons for missing ones.
#include "tests/attach/recorder_fixture.h"

namespace warpgauge::attach::played_cuda {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(Recorder, CountsFromTheFirstLaunchOn) {
  recorder->context_made(kContext, kDevice);
  EXPECT_EQ(played.starts, 0);
  launch();
  EXPECT_EQ(played.starts, 1);
  launch();
  launch("kernel", 8);
  recorder->waited(kContext);
  EXPECT_EQ(counted(), 3u);
  const AttachedProcess process = saved();
  ASSERT_EQ(process.kernels.size(), 1u);
  const AttachedKernel& kernel = process.kernels[0];
  EXPECT_EQ(kernel.launches, 3u);
  ASSERT_EQ(kernel.counted.size(), 2u);
  EXPECT_EQ(kernel.counted[0].count, 2u);
  EXPECT_EQ(kernel.counted[1].grid[0], 8u);
  EXPECT_EQ(kernel.resources.size(), 1u);
  EXPECT_EQ(process.devices.at(kDevice).device.chip, "GH100");
  EXPECT_EQ(process.pid, getpid());
}

TEST_F(Recorder, AFunctionIsOfTheOnlyKernelThatWasLaunched) {
  recorder->context_made(kContext, kDevice);
  const auto owners = [&] {
    std::map<std::string, std::uint64_t> owners;  // with what was counted
    const AttachedProcess process = saved();
    for (const auto& [instruction, values] : process.records.at(kDevice)) {
      owners[instruction.owner] += values[SassMetric::instructions];
    }
    return owners;
  };
  launch("caller");  // what is counted is called "kernel", which is not launched
  recorder->before_unloading(kContext);
  EXPECT_THAT(owners(), ElementsAre(std::pair("caller", 1u)));
  launch("caller");
  launch("another");
  recorder->before_unloading(kContext);
  EXPECT_THAT(owners(), ElementsAre(std::pair("", 2u), std::pair("caller", 1u)));
  launch("another");
  launch("another");
  recorder->before_unloading(kContext);
  EXPECT_THAT(owners(),
              ElementsAre(std::pair("", 2u), std::pair("another", 2u), std::pair("caller", 1u)));
}

TEST_F(Recorder, KernelsThatShareFunctionsAreCountedApart) {
  // Two of the kernels call the same two functions, and one another.
  std::ifstream file(WARPGAUGE_TEST_DATA "/cubin/linked.sm_90.cubin", std::ios::binary);
  const std::string image(std::istreambuf_iterator<char>(file), {});
  recorder->code_seen(std::as_bytes(std::span(image)));
  recorder->code_seen(std::as_bytes(std::span("no cubin")));
  const std::string chain = "_ZN6sample5chainEPi", by_pointer = "_ZN6sample10by_pointerEPiPFiiE",
                    recursion = "_ZN6sample9recursionEPi";
  recorder->context_made(kContext, kDevice);
  launch(chain);
  launch(recursion);
  launch(chain);
  EXPECT_EQ(played.stops, 0);
  launch(by_pointer);  // CUPTI would fault
  EXPECT_EQ(played.stops, 1);
  EXPECT_EQ(played.starts, 2);
  recorder->waited(kContext);
  launch(by_pointer);
  EXPECT_EQ(played.stops, 1);
  launch(chain);  // also if the counts of the other were taken
  EXPECT_EQ(played.stops, 2);
  recorder->finish(1s);
  EXPECT_EQ(counted(), 6u);
  EXPECT_THAT(saved().warnings, IsEmpty());
}

TEST_F(Recorder, TakesNothingWhereTheProgramWouldHaveToWaitForIt) {
  recorder->context_made(kContext, kDevice);
  launch();
  played.busy = {kContext};
  recorder->waited(kContext);
  EXPECT_EQ(played.takes, 0);
  played.busy = {};
  std::this_thread::sleep_for(10ms);  // more than 19 times what the question took
  recorder->waited(kContext);
  EXPECT_EQ(counted(), 1u);
  std::this_thread::sleep_for(10ms);
  recorder->waited(kContext);
  EXPECT_EQ(played.takes, 1) << "there is nothing new";
  EXPECT_THAT(saved().warnings, IsEmpty());
}

TEST_F(Recorder, WarnsOfAKernelThatDoesNotEnd) {
  recorder->context_made(kContext, kDevice);
  launch();
  played.busy = {kContext};
  load_code(kContext);
  launch();
  EXPECT_EQ(played.stops, 0);
  EXPECT_THAT(saved().warnings, ElementsAre(HasSubstr("still ran after 60 s")));
  played.busy = {};
  launch();
  EXPECT_EQ(played.stops, 0) << "it is not tried again before more code is loaded";
  load_code(kContext);
  launch();
  EXPECT_EQ(played.stops, 1);
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_EQ(counted(), 2u) << "CUPTI does not count the two launches between";
}

TEST_F(Recorder, KeepsTheCountsOfWhatIsUnloadedOrGoes) {
  recorder->context_made(kContext, kDevice);
  launch();
  recorder->before_unloading(kOther);
  EXPECT_EQ(counted(), 0u);
  recorder->before_unloading(kContext);
  EXPECT_EQ(counted(), 1u);
  EXPECT_EQ(played.stops, 0) << "and goes on counting";
  launch();
  recorder->before_unloading(std::nullopt);
  EXPECT_EQ(counted(), 2u);
  launch();
  recorder->may_end(kOther);
  recorder->device_may_end(kDevice + 1);
  EXPECT_EQ(counted(), 2u);
  recorder->device_may_end(kDevice);
  EXPECT_EQ(counted(), 3u);
  launch();
  recorder->may_end(kContext);
  EXPECT_EQ(counted(), 4u);
  recorder->ends(kContext);
  EXPECT_EQ(played.stops, 0) << "CUPTI is left counting in a context that ends";
  EXPECT_EQ(played.leaves, 1);
  recorder->context_made(kContext, kDevice);  // the same handle again, as after cudaDeviceReset()
  launch();
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_TRUE(recorder->finish(1s)) << "a second time, as at exit after a signal";
  EXPECT_EQ(counted(), 5u);
  EXPECT_THAT(saved().warnings, IsEmpty());
}

TEST_F(Recorder, ACaptureIsLeftAlone) {
  recorder->context_made(kContext, kDevice);
  launch();
  CUstream const other = reinterpret_cast<CUstream>(0x31);
  capture(other);
  recorder->waited(kContext);
  recorder->may_end(kContext);
  EXPECT_EQ(played.takes, 0) << "to ask whether the GPU is idle ends captures";
  EXPECT_THAT(saved().warnings, ElementsAre(HasSubstr("a context was released while")));
  recorder->capture_ends(other);  // refused: it goes on
  recorder->waited(kContext);
  EXPECT_EQ(played.takes, 0);
  end_capture(other);
  recorder->waited(kContext);
  EXPECT_EQ(counted(), 1u);
}

TEST_F(Recorder, AContextThatEndsWhileItIsUsed) {
  recorder->context_made(kContext, kDevice);
  auto launching = begin(kContext, "kernel");
  std::thread([&] { recorder->ends(kContext); }).join();  // waits for a while
  recorder->launched(std::move(launching.value()), true);
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_EQ(played.takes, 0);
  EXPECT_EQ(played.stops, 0);
  launching.reset();
  EXPECT_EQ(played.leaves, 1);
}

TEST_F(Recorder, ThreadsThatLaunchAndWaitAtOnce) {
  recorder->context_made(kContext, kDevice);
  recorder->context_made(kOther, kDevice + 1);
  constexpr int kLaunches = 200;
  const auto work = [&](CUcontext context) {
    for (int i = 0; i < kLaunches; ++i) {
      launch_in(context, "kernel" + std::to_string(i % 3));
      recorder->waited(context);
    }
  };
  std::thread first(work, kContext), second(work, kOther), third(work, kOther);
  for (std::thread* thread : {&first, &second, &third}) thread->join();
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_EQ(counted(kDevice), kLaunches);
  EXPECT_EQ(counted(kDevice + 1), 2 * kLaunches);
  EXPECT_EQ(launched(), 3 * kLaunches);
  EXPECT_EQ(saved().kernels.size(), 6u);
}

TEST_F(Recorder, WarnsOfLaunchesThatWereNotTaken) {
  EXPECT_EQ(launched(), 0u);
  recorder->context_made(kContext, kDevice);
  launch();
  recorder->waited(kContext);
  EXPECT_EQ(saved().waiting, 0u);
  launch();
  launch();
  EXPECT_EQ(launched(), 3u);
  EXPECT_EQ(saved().kernels.at(0).launches, 1u) << "the file was not written since";
  recorder->warn("something else");
  EXPECT_EQ(saved().kernels.at(0).launches, 3u);
  EXPECT_EQ(saved().waiting, 2u);
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_EQ(saved().waiting, 0u);
  EXPECT_EQ(launched(), 3u);
}

TEST_F(Recorder, BeginsAnewBeforeCodeThatAnotherThreadHasLoadedMeanwhile) {
  recorder->context_made(kContext, kDevice);
  load_code(kContext);
  launch();
  launch();
  EXPECT_EQ(played.starts, 1);
  recorder->code_loaded(kContext);  // by the thread that counts
  load_code(kOther);
  launch();
  EXPECT_EQ(played.starts, 1);
  load_code(kContext);
  launch();
  EXPECT_EQ(played.starts, 2);
  EXPECT_EQ(counted(), 3u) << "what was counted so far was taken";
  capture(reinterpret_cast<CUstream>(0x31));
  launch();
  EXPECT_THAT(saved().warnings, IsEmpty());
  load_code(kContext);
  launch();
  EXPECT_EQ(played.starts, 2);
  EXPECT_THAT(saved().warnings, ElementsAre(HasSubstr("while a stream was captured")));
}

TEST_F(Recorder, CodeThatCuptiCountsOnceIsTakenAtTheEnd) {
  recorder->context_made(kContext, kDevice);
  played.instructions = 10'515'234;
  launch();
  recorder->waited(kContext);
  recorder->before_unloading(std::nullopt);
  launch();
  load_code(kContext);
  launch();
  EXPECT_EQ(played.takes, 0);
  EXPECT_EQ(played.stops, 0);
  played.cannot_stop = true;
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_EQ(counted(), 2u) << "of three, which the warps of the first instruction show";
  EXPECT_THAT(saved().warnings, IsEmpty());
}

TEST_F(Recorder, GoesOnWhereCountingCannotEnd) {
  recorder->context_made(kContext, kDevice);
  launch();
  load_code(kContext);
  played.cannot_stop = true;
  launch();
  load_code(kContext);
  launch();
  EXPECT_EQ(played.starts, 1);
  EXPECT_EQ(played.stops, 1) << "it is tried once";
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_EQ(counted(), 1u) << "of three, which the warps of the first instruction show";
  EXPECT_THAT(saved().warnings, IsEmpty());
}

TEST_F(Recorder, NothingIsTakenWhileAnotherThreadLaunches) {
  recorder->context_made(kContext, kDevice);
  launch();
  auto launching = begin(kContext, "kernel");
  std::thread([&] {
    recorder->waited(kContext);
    EXPECT_FALSE(recorder->finish(0s));
  }).join();
  EXPECT_EQ(played.takes, 0);
  recorder->launched(std::move(launching.value()), true);
  std::thread([&] { recorder->waited(kContext); }).join();
  EXPECT_EQ(played.takes, 1);
}

TEST_F(Recorder, OtherContextsGoOnWhileOneLaunches) {
  recorder->context_made(kContext, kDevice);
  recorder->context_made(kOther, kDevice + 1);
  auto launching = begin(kContext, "kernel");
  std::thread([&] {
    recorder->launched(begin(kOther, "elsewhere").value(), true);
    recorder->waited(kOther);
    EXPECT_FALSE(recorder->finish(0s)) << "what is launched now is not counted to its end";
  }).join();
  EXPECT_EQ(played.takes, 2) << "when it was waited for, and at the end";
  recorder->launched(std::move(launching.value()), true);
  EXPECT_TRUE(recorder->finish(0s));
  EXPECT_THAT(saved().kernels, SizeIs(2));
  EXPECT_THAT(saved().devices, SizeIs(2));
}

TEST_F(Recorder, ALaunchThatIsRefusedIsNone) {
  recorder->context_made(kContext, kDevice);
  launch();
  recorder->launched(begin(kContext, "refused").value(), false);
  EXPECT_TRUE(recorder->finish(1s));
  ASSERT_EQ(saved().kernels.size(), 1u);
  EXPECT_EQ(launched(), 1u);
}

TEST_F(Recorder, WarnsOfCountsNotTakenInTime) {
  recorder->context_made(kContext, kDevice);
  launch();
  capture(kStream);
  recorder->before_unloading(kContext);
  EXPECT_THAT(saved().warnings, ElementsAre(HasSubstr("code was unloaded")));
  EXPECT_EQ(saved().waiting, 1u);
  recorder->ends(kContext);
  EXPECT_THAT(saved().warnings, SizeIs(2));
  EXPECT_EQ(saved().waiting, 0u) << "they are reported once";
}

TEST_F(Recorder, AProcessThatEndsWhileItLaunches) {
  recorder->context_made(kContext, kDevice);
  const auto launching = begin(kContext, "kernel");
  EXPECT_EQ(launched(), 1u);
  EXPECT_THAT(saved().kernels, IsEmpty());
}

TEST_F(Recorder, AsksForResourcesInEachShapeOfBlocks) {
  recorder->context_made(kContext, kDevice);
  for (const std::uint32_t threads : {32u, 64u, 32u}) {
    auto launching = recorder->launch(
        kContext, {kFunction, "kernel", {.grid = {1, 1, 1}, .block = {threads, 1, 1}}}, kStream);
    recorder->launched(std::move(launching.value()), true);
  }
  EXPECT_TRUE(recorder->finish(1s));
  ASSERT_THAT(saved().kernels, SizeIs(1));
  const auto resources = saved().kernels[0].resources;
  ASSERT_THAT(resources, SizeIs(2));
  EXPECT_EQ(resources[0].resident_warps, 2u);
  EXPECT_EQ(resources[1].resident_warps, 4u);
}

TEST_F(Recorder, SaysThatSomethingWasLaunchedTooLate) {
  recorder->context_made(kContext, kDevice);
  launch();
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_EQ(played.stops, 1);
  EXPECT_THAT(saved().warnings, IsEmpty());
  launch();
  EXPECT_EQ(played.starts, 1);
  EXPECT_THAT(saved().warnings, ElementsAre(HasSubstr("after the end of main()")));
  EXPECT_EQ(saved().kernels.at(0).launches, 2u);
  EXPECT_EQ(saved().kernels.at(0).counted.at(0).count, 1u);
}

TEST_F(Recorder, SaysWhatItCannotCount) {
  played.no_counters = true;
  recorder->context_made(kContext, kDevice);
  launch();
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_EQ(played.starts, 0);
  EXPECT_THAT(saved().warnings, ElementsAre("no permission"));
  EXPECT_EQ(saved().kernels.at(0).launches, 1u);
  EXPECT_TRUE(saved().kernels.at(0).counted.empty());
}

TEST_F(Recorder, AContextThatFailsKeepsWhatWasTakenBefore) {
  recorder->context_made(kContext, kDevice);
  launch();
  recorder->waited(kContext);
  launch();
  played.fails = true;
  EXPECT_TRUE(recorder->finish(1s));
  recorder->ends(kContext);
  EXPECT_EQ(counted(), 1u);
  EXPECT_THAT(saved().warnings, ElementsAre(HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"),
                                            HasSubstr("before its counts could be taken")));
}

TEST_F(Recorder, WarnsOfAnUnknownContext) {
  launch();
  launch_graph();
  EXPECT_TRUE(recorder->finish(1s));
  EXPECT_EQ(saved().warnings.size(), 2u);
}

}  // namespace
}  // namespace warpgauge::attach::played_cuda
