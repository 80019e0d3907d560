// Capture of streams: what becomes a node, how streams join, and every way to fail.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/emulator/graph_kernels.h"

namespace warpgauge::emulator::runtime::runtime_capture_test {
namespace {

class RuntimeCaptureTest : public GraphKernelsTest {
 protected:
  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    ASSERT_EQ(cudaStreamBeginCapture(stream_, mode), cudaSuccess);
  }
  cudaGraph_t end() {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
    return graph;
  }
  /// Expects that the capture was made invalid, and that its end reports this.
  void expect_invalid() {
    cudaStreamCaptureStatus status{};
    EXPECT_EQ(cudaStreamIsCapturing(stream_, &status), cudaSuccess);
    EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
    EXPECT_EQ(launch_add(1, stream_), cudaErrorStreamCaptureInvalidated);
    cudaGraph_t graph = make_graph();
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(launch_add(1, stream_), cudaSuccess) << "the stream can be used again";
  }
  static std::vector<cudaGraphNode_t> nodes(cudaGraph_t graph) {
    std::size_t count = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
    std::vector<cudaGraphNode_t> out(count);
    EXPECT_EQ(cudaGraphGetNodes(graph, out.data(), &count), cudaSuccess);
    return out;
  }
  static cudaGraphNodeType type(cudaGraphNode_t node) {
    cudaGraphNodeType out{};
    EXPECT_EQ(cudaGraphNodeGetType(node, &out), cudaSuccess);
    return out;
  }
  static cudaEvent_t make_event() {
    cudaEvent_t event = nullptr;
    EXPECT_EQ(cudaEventCreate(&event), cudaSuccess);
    return event;
  }
  static cudaStream_t make_stream(unsigned flags = cudaStreamDefault) {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
    return stream;
  }
};

TEST_F(RuntimeCaptureTest, WorkIsDoneByTheLaunchAndNotByTheCapture) {
  static int calls = 0;
  unsigned read = 7;
  begin();
  EXPECT_EQ(cudaMemsetAsync(number_, 0, sizeof *number_, stream_), cudaSuccess);
  EXPECT_EQ(launch_add(5, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(&read, number_, sizeof read, cudaMemcpyDeviceToHost, stream_),
            cudaSuccess);
  EXPECT_EQ(cudaLaunchHostFunc(stream_, [](void*) { ++calls; }, nullptr), cudaSuccess);
  const cudaGraph_t graph = end();
  EXPECT_EQ(number(), 0U);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(read, 7U);

  const auto made = nodes(graph);
  ASSERT_EQ(made.size(), 4U);
  EXPECT_EQ(type(made[0]), cudaGraphNodeTypeMemset);
  EXPECT_EQ(type(made[1]), cudaGraphNodeTypeKernel);
  EXPECT_EQ(type(made[2]), cudaGraphNodeTypeMemcpy);
  EXPECT_EQ(type(made[3]), cudaGraphNodeTypeHost);

  const cudaGraphExec_t exec = instantiate(graph);
  for (int launch = 1; launch <= 2; ++launch) {
    EXPECT_EQ(after_launch(exec), 5U);
    EXPECT_EQ(read, 5U);
    EXPECT_EQ(calls, launch);
  }
}

TEST_F(RuntimeCaptureTest, EventsTakeOtherStreamsIntoACaptureAndBack) {
  const cudaStream_t other = make_stream();
  const cudaEvent_t fork = make_event(), join = make_event();
  begin();
  EXPECT_EQ(launch_add(1, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(fork, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other, fork, 0), cudaSuccess);
  EXPECT_EQ(launch_add(10, other), cudaSuccess);
  EXPECT_EQ(launch_add(100, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(join, other), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream_, join, 0), cudaSuccess);
  EXPECT_EQ(launch_add(1000, stream_), cudaSuccess);
  const cudaGraph_t graph = end();

  const auto made = nodes(graph);
  ASSERT_EQ(made.size(), 4U);
  std::size_t count = 0;
  EXPECT_EQ(cudaGraphNodeGetDependencies(made[3], nullptr, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 4U);
  EXPECT_EQ(after_launch(instantiate(graph)), 1111U);
  EXPECT_EQ(launch_add(1, other), cudaSuccess) << "it is captured no more";
  EXPECT_EQ(number(), 1112U);
}

TEST_F(RuntimeCaptureTest, AStreamThatDoesNotComeBackIsAnError) {
  const cudaStream_t other = make_stream();
  const cudaEvent_t fork = make_event();
  begin();
  EXPECT_EQ(cudaEventRecord(fork, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other, fork, 0), cudaSuccess);
  EXPECT_EQ(launch_add(10, other), cudaSuccess);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(launch_add(10, other), cudaSuccess);
  EXPECT_EQ(number(), 10U);
}

TEST_F(RuntimeCaptureTest, AStreamMayEndBeforeTheCaptureIfItsWorkCameBack) {
  const cudaEvent_t fork = make_event(), join = make_event();
  for (const bool joins : {true, false}) {
    const cudaStream_t other = make_stream();
    begin();
    EXPECT_EQ(cudaEventRecord(fork, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(other, fork, 0), cudaSuccess);
    EXPECT_EQ(launch_add(1, other), cudaSuccess);
    if (joins) {
      EXPECT_EQ(cudaEventRecord(join, other), cudaSuccess);
      EXPECT_EQ(cudaStreamWaitEvent(stream_, join, 0), cudaSuccess);
    }
    EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph),
              joins ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
  }
}

TEST_F(RuntimeCaptureTest, WaitingForACapturedStreamMakesTheCaptureInvalid) {
  begin();
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorStreamCaptureUnsupported);
  expect_invalid();
  begin();
  EXPECT_EQ(cudaStreamQuery(stream_), cudaErrorStreamCaptureUnsupported);
  expect_invalid();
  begin();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  expect_invalid();
  const cudaEvent_t event = make_event();
  begin();
  EXPECT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaErrorCapturedEvent);
  expect_invalid();
}

TEST_F(RuntimeCaptureTest, TheLegacyStreamCannotBeUsedWhileABlockingStreamIsCaptured) {
  begin();
  unsigned read = 0;
  EXPECT_EQ(cudaMemcpy(&read, number_, sizeof read, cudaMemcpyDefault),
            cudaErrorStreamCaptureImplicit);
  expect_invalid();
  begin();
  EXPECT_EQ(launch_add(1, nullptr), cudaErrorStreamCaptureImplicit);
  expect_invalid();
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
            cudaErrorStreamCaptureUnsupported);

  stream_ = make_stream(cudaStreamNonBlocking);
  const unsigned before = number();
  begin();
  EXPECT_EQ(launch_add(1, nullptr), cudaSuccess);
  end();
  EXPECT_EQ(number(), before + 1);
}

TEST_F(RuntimeCaptureTest, EventsFromOutsideAndFromOtherCapturesDoNotJoin) {
  const cudaEvent_t outside = make_event();
  EXPECT_EQ(cudaEventRecord(outside, stream_), cudaSuccess);
  begin();
  EXPECT_EQ(cudaStreamWaitEvent(stream_, outside, 0), cudaErrorStreamCaptureIsolation);
  expect_invalid();

  const cudaStream_t other = make_stream();
  const cudaEvent_t inside = make_event();
  begin();
  EXPECT_EQ(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(inside, other), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream_, inside, 0), cudaErrorStreamCaptureMerge);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureInvalidated);
  expect_invalid();
}

TEST_F(RuntimeCaptureTest, TheModeSaysWhatTheThreadMayCall) {
  void* memory = nullptr;
  begin(cudaStreamCaptureModeThreadLocal);
  EXPECT_EQ(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported);
  expect_invalid();

  begin(cudaStreamCaptureModeThreadLocal);
  std::thread([] {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 4), cudaSuccess) << "another thread may";
  }).join();
  auto mode = cudaStreamCaptureModeRelaxed;
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(cudaMalloc(&memory, 4), cudaSuccess) << "the thread says that it knows";
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  end();

  begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaMalloc(&memory, 4), cudaSuccess);
  end();

  begin();
  std::thread([this] {
    void* memory = nullptr;
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureWrongThread);
    EXPECT_EQ(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported);
  }).join();
  expect_invalid();
}

TEST_F(RuntimeCaptureTest, MemoryInStreamOrderBecomesNodes) {
  unsigned* memory = nullptr;
  unsigned read = 0;
  begin();
  EXPECT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&memory), 4, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(memory, 1, 4, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(&read, memory, 4, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, stream_), cudaSuccess);
  const auto exec = instantiate(end());
  EXPECT_EQ(cudaMemset(memory, 0, 4), cudaErrorInvalidValue) << "not there before a launch";
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(read, 0x01010101U);
  EXPECT_EQ(cudaMemset(memory, 0, 4), cudaErrorInvalidValue) << "nor after its release";
}

TEST_F(RuntimeCaptureTest, AGraphLaunchBecomesAChildGraph) {
  const cudaGraph_t child = make_graph();
  add_node(child, 3);
  const cudaGraphExec_t exec = instantiate(child);
  begin();
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  const cudaGraph_t graph = end();
  EXPECT_EQ(number(), 0U);
  ASSERT_EQ(nodes(graph).size(), 2U);
  EXPECT_EQ(type(nodes(graph)[0]), cudaGraphNodeTypeGraph);
  EXPECT_EQ(after_launch(instantiate(graph)), 6U);
}

TEST_F(RuntimeCaptureTest, CapturesGoOnInAGraphThatIsThere) {
  const cudaGraph_t graph = make_graph();
  const cudaGraphNode_t first = add_node(graph, 1);
  ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream_, graph, &first, nullptr, 1,
                                          cudaStreamCaptureModeGlobal),
            cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  EXPECT_EQ(launch_add(10, stream_), cudaSuccess);

  cudaStreamCaptureStatus status{};
  cudaGraph_t into = nullptr;
  const cudaGraphNode_t* last = nullptr;
  std::size_t count = 0;
  EXPECT_EQ(cudaStreamGetCaptureInfo(stream_, &status, nullptr, &into, &last, nullptr, &count),
            cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_EQ(into, graph);
  ASSERT_EQ(count, 1U);

  cudaGraphNode_t own = add_node(graph, 100, {last[0]});
  EXPECT_EQ(cudaStreamUpdateCaptureDependencies(stream_, &own, nullptr, 1,
                                                cudaStreamSetCaptureDependencies),
            cudaSuccess);
  EXPECT_EQ(launch_add(1000, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &into), cudaSuccess);
  EXPECT_EQ(into, graph);
  EXPECT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(after_launch(instantiate(graph)), 1111U);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &into), cudaErrorIllegalState);
}

TEST_F(RuntimeCaptureTest, ExternalEventsAreNodes) {
  const cudaEvent_t event = make_event();
  EXPECT_EQ(cudaEventRecordWithFlags(event, stream_, cudaEventRecordExternal),
            cudaErrorInvalidValue)
      << "outside of a capture";
  begin();
  EXPECT_EQ(cudaEventRecordWithFlags(event, stream_, cudaEventRecordExternal), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream_, event, cudaEventWaitExternal), cudaSuccess);
  const cudaGraph_t graph = end();
  ASSERT_EQ(nodes(graph).size(), 2U);
  EXPECT_EQ(type(nodes(graph)[0]), cudaGraphNodeTypeEventRecord);
  EXPECT_EQ(type(nodes(graph)[1]), cudaGraphNodeTypeWaitEvent);
  EXPECT_EQ(cudaGraphLaunch(instantiate(graph), stream_), cudaSuccess);
}

}  // namespace
}  // namespace warpgauge::emulator::runtime::runtime_capture_test
