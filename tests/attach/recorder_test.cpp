// The recorder, with a driver and a CUPTI that the test plays.
#include "harness/attach/recorder.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "harness/attach/driver.h"
#include "metrics/cupti.h"

namespace {

/// The state that the fakes below answer from, and a record of the calls to them.
struct Played {
  std::set<CUstream> capturing;
  std::set<CUcontext> busy;
  bool fails = false, no_counters = false, unknown_nodes = false, several_contexts = false;
  std::set<CUcontext> counting;
  std::set<CUcontext> deaf;  ///< those where another thread has loaded code while counting was on
  bool cannot_stop = false;
  std::size_t instructions = 3;               ///< of the code that was launched
  std::uint64_t conditional_warps = 0;        ///< of "in_body", executed and not taken yet
  std::map<CUcontext, std::uint64_t> on_gpu;  ///< warp instructions, executed and not taken yet
  int starts = 0, stops = 0, leaves = 0, takes = 0;
};
Played played;
std::mutex playing;  ///< of played, where several threads play

CUcontext const kContext = reinterpret_cast<CUcontext>(0x10);
CUcontext const kOther = reinterpret_cast<CUcontext>(0x11);
CUfunction const kFunction = reinterpret_cast<CUfunction>(0x20);
CUfunction const kOtherFunction = reinterpret_cast<CUfunction>(0x21);
CUgraphNode const kOtherNode = reinterpret_cast<CUgraphNode>(0x46);
CUstream const kStream = reinterpret_cast<CUstream>(0x30);
CUgraphExec const kExec = reinterpret_cast<CUgraphExec>(0x40);
CUgraphNode const kNode = reinterpret_cast<CUgraphNode>(0x45);
CUgraph const kGraph = reinterpret_cast<CUgraph>(0x50);
CUgraph const kConditionalGraph = reinterpret_cast<CUgraph>(0x51);
constexpr int kDevice = 3;

}  // namespace

namespace warpgauge::attach::driver {

AttachedDevice describe(int) { return {{.name = "GPU", .compute_capability = "9.0"}, 2048}; }
bool wait_until_idle(CUcontext context, std::chrono::steady_clock::duration) {
  const std::scoped_lock lock(playing);
  if (played.fails) throw DriverError("cuCtxSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS");
  return !played.busy.contains(context);
}
Current::Current(CUcontext) {}
Current::~Current() = default;
RelaxedCapture::RelaxedCapture() = default;
RelaxedCapture::~RelaxedCapture() = default;
bool is_capturing(CUstream stream) {
  const std::scoped_lock lock(playing);
  return played.capturing.contains(stream);
}
std::optional<KernelResources> resources_of(CUfunction, const metrics::Launch& shape) {
  return KernelResources{.registers = 40,
                         .resident_warps = 2 * static_cast<double>(shape.warps_per_block())};
}
GraphKernels kernels_of(CUgraph graph, const ConditionalBodies& bodies) {
  const metrics::Launch shape{.grid = {1, 1, 1}, .block = {32, 1, 1}};
  if (graph == kConditionalGraph) {
    const metrics::Launch of_body{.grid = {2, 1, 1}, .block = {64, 1, 1}};
    const bool known = bodies.contains(kNode) && bodies.at(kNode) == std::vector{kGraph};
    Kernels kernels = {{kFunction, "in_graph", shape}};
    if (known) kernels.push_back({kOtherFunction, "in_body", of_body, kOtherNode, true, true});
    return {std::move(kernels), known, {kContext}};
  }
  return {{{kFunction, "in_graph", shape, kNode}, {kFunction, "in_graph", shape}},
          !played.unknown_nodes,
          played.several_contexts ? std::set{kContext, kOther} : std::set{kContext}};
}

}  // namespace warpgauge::attach::driver

namespace warpgauge::metrics {

CuptiContext open_context(CUcontext context, int device) {
  if (played.no_counters) throw Unmeasured("no permission", "");
  return {.context = context, .device = device, .chip = "GH100"};
}
const std::vector<SassId>& configured_metrics(const CuptiContext&) {
  static const std::vector<SassId> kNone;
  return kNone;
}
SassSession::SassSession(const CuptiContext& context)
    : context_(context.context), metrics_(configured_metrics(context)) {
  const std::scoped_lock lock(playing);
  ++played.starts;
  played.counting.insert(context.context);
  played.deaf.erase(context.context);
}
SassSession::~SassSession() = default;
SassRecords SassSession::take() {
  const std::scoped_lock lock(playing);
  ++played.takes;
  SassValues values;
  values[SassMetric::instructions] = std::exchange(played.on_gpu[context_], 0);
  SassValues of_body;
  of_body[SassMetric::instructions] = std::exchange(played.conditional_warps, 0);
  SassRecords records = {{{.cubin_crc = 7, .kernel = "kernel", .pc = 16}, values}};
  if (of_body[SassMetric::instructions] > 0) {
    records[{.cubin_crc = 7, .kernel = "in_body", .pc = 0}] = of_body;
  }
  return records;
}
std::size_t SassSession::size() const { return played.instructions; }
void SassSession::stop() {
  const std::scoped_lock lock(playing);
  ++played.stops;
  if (played.cannot_stop) throw Unmeasured("CUPTI_ERROR_UNKNOWN", "");
  counting_ = false;
  played.counting.erase(context_);
}
void SassSession::leave() {
  const std::scoped_lock lock(playing);
  ++played.leaves;
  counting_ = false;
  played.counting.erase(context_);
}

}  // namespace warpgauge::metrics

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using warpgauge::attach::AttachedKernel;
using warpgauge::attach::AttachedProcess;
using warpgauge::metrics::Launch;
using warpgauge::metrics::SassMetric;

class Recorder : public testing::Test {
 protected:
  void SetUp() override {
    played = {};
    std::string name = testing::TempDir() + "recorder-XXXXXX";
    folder = mkdtemp(name.data());
    recorder = std::make_unique<warpgauge::attach::Recorder>(folder, warpgauge::programs::Choice());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// With nothing in the folder.
  void start_anew(const warpgauge::programs::Choice& choice) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    recorder = std::make_unique<warpgauge::attach::Recorder>(folder, choice);
  }
  auto begin(CUcontext context, const std::string& kernel, std::uint32_t blocks = 4) {
    return recorder->launch(
        context, {kFunction, kernel, {.grid = {blocks, 1, 1}, .block = {32, 1, 1}}}, kStream);
  }
  void launch_in(CUcontext context, const std::string& kernel, std::uint32_t blocks = 4) {
    auto launching = begin(context, kernel, blocks);
    if (!launching) return;
    {
      const std::scoped_lock lock(playing);
      const bool counts = played.counting.contains(context) && !played.deaf.contains(context);
      if (counts) ++played.on_gpu[context];
    }
    recorder->launched(std::move(*launching), true);
  }
  void launch(const std::string& kernel = "kernel", std::uint32_t blocks = 4) {
    launch_in(kContext, kernel, blocks);
  }
  void launch_graph() {
    recorder->launched(recorder->graph_launch(kContext, kExec, kStream).value(), true);
  }
  /// As another thread of the program does it.
  void load_code(CUcontext context) {
    std::thread([&] { recorder->code_loaded(context); }).join();
    if (played.counting.contains(context)) played.deaf.insert(context);
  }
  void capture(CUstream stream) {
    recorder->capture_begins(kContext, stream);
    played.capturing.insert(stream);
  }
  void end_capture(CUstream stream) {
    played.capturing.erase(stream);
    recorder->capture_ends(stream);
  }
  /// The file as it would be read if the process ended now.
  AttachedProcess saved() const {
    std::string text;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      std::ifstream file(entry.path());
      text.assign(std::istreambuf_iterator<char>(file), {});
    }
    return warpgauge::attach::parse_attached(text, "saved");
  }
  /// The launches on record if the process ended now.
  std::uint64_t launched() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".launches") continue;
      return warpgauge::attach::LaunchCount::of(entry.path()).value();
    }
    throw std::logic_error("no file of launches");
  }
  std::uint64_t counted(std::optional<int> on = std::nullopt) const {
    std::uint64_t sum = 0;
    for (const auto& [device, records] : saved().records) {
      if (on && *on != device) continue;
      for (const auto& [instruction, values] : records) sum += values[SassMetric::instructions];
    }
    return sum;
  }

  std::filesystem::path folder;
  std::unique_ptr<warpgauge::attach::Recorder> recorder;
};

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
  for (std::thread* one : {&first, &second, &third}) one->join();
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
  const warpgauge::metrics::Launch shape{.grid = {1, 1, 1}, .block = {64, 1, 1}};
  recorder->context_made(kContext, kDevice);
  recorder->make_graph(kContext, kGraph);
  recorder->graph_made(kExec, kGraph);
  const std::optional<warpgauge::attach::driver::LaunchedKernel> changed{
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
  const warpgauge::metrics::Launch shape{.grid = {1, 1, 1}, .block = {64, 1, 1}};
  recorder->context_made(kContext, kDevice);
  recorder->graph_made(kExec, kGraph);
  recorder->node_changed(
      kExec, warpgauge::attach::driver::LaunchedKernel{kFunction, "changed", shape, kOtherNode});
  EXPECT_THAT(saved().warnings, ElementsAre(HasSubstr("not known by name")));
}

TEST_F(Recorder, ALaunchThatIsRefusedIsNone) {
  recorder->context_made(kContext, kDevice);
  launch();
  recorder->launched(begin(kContext, "refused").value(), false);
  EXPECT_TRUE(recorder->finish(1s));
  ASSERT_EQ(saved().kernels.size(), 1u);
  EXPECT_EQ(launched(), 1u);
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
