// Graphs that a program builds: every kind of node, launches, updates, queries.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "harness/emulator/emulator.h"
#include "metrics/counting/line_counts.h"
#include "tests/emulator/graph_kernels.h"

namespace warpgauge::emulator::runtime::runtime_graph_test {
namespace {

using testing::HasSubstr;

class RuntimeGraphTest : public GraphKernelsTest {
 protected:
  cudaGraph_t graph_ = nullptr;
  void SetUp() override {
    GraphKernelsTest::SetUp();
    graph_ = make_graph();
  }
  cudaKernelNodeParams add_params(void** arguments) const {
    return {const_cast<void*>(add_), 1, 1, 0, arguments, nullptr};
  }
};

TEST_F(RuntimeGraphTest, NodesRunBehindThoseTheyDependOn) {
  std::vector<int> order;
  cudaGraphNode_t nodes[3];
  struct Step {
    std::vector<int>* order;
    int number;
  } steps[] = {{&order, 0}, {&order, 1}, {&order, 2}};
  for (int i = 0; i < 3; ++i) {
    const cudaHostNodeParams params{[](void* data) {
                                      auto* const step = static_cast<Step*>(data);
                                      step->order->push_back(step->number);
                                    },
                                    &steps[i]};
    ASSERT_EQ(cudaGraphAddHostNode(&nodes[i], graph_, nullptr, 0, &params), cudaSuccess);
  }
  const cudaGraphNode_t from[] = {nodes[2], nodes[0]}, to[] = {nodes[0], nodes[1]};
  EXPECT_EQ(cudaGraphAddDependencies(graph_, from, to, nullptr, 2), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(instantiate(graph_), stream_), cudaSuccess);
  EXPECT_THAT(order, testing::ElementsAre(2, 0, 1));

  std::size_t roots = 0;
  EXPECT_EQ(cudaGraphGetRootNodes(graph_, nullptr, &roots), cudaSuccess);
  EXPECT_EQ(roots, 1U);
  std::size_t count = 1;
  cudaGraphNode_t dependent = nullptr;
  EXPECT_EQ(cudaGraphNodeGetDependentNodes(nodes[2], &dependent, nullptr, &count), cudaSuccess);
  EXPECT_EQ(dependent, nodes[0]);

  EXPECT_EQ(cudaGraphAddDependencies(graph_, &nodes[1], &nodes[2], nullptr, 1), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph_, 0), cudaErrorInvalidValue) << "a cycle";
  EXPECT_EQ(cudaGraphRemoveDependencies(graph_, &nodes[1], &nodes[2], nullptr, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph_, 0), cudaSuccess);
}

TEST_F(RuntimeGraphTest, RoomForMoreNodesThanThereAreIsFilledWithNull) {
  const cudaGraphNode_t node = add_node(graph_, 1);
  cudaGraphNode_t nodes[] = {nullptr, node, node};
  std::size_t count = 3;
  EXPECT_EQ(cudaGraphGetNodes(graph_, nodes, &count), cudaSuccess);
  EXPECT_EQ(count, 1U);
  EXPECT_THAT(nodes, testing::ElementsAre(node, nullptr, nullptr));
  const cudaGraphNode_t second = add_node(graph_, 1);
  nodes[1] = nullptr;
  EXPECT_EQ(cudaGraphGetNodes(graph_, nodes, &count), cudaSuccess) << "room for one";
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(nodes[1], nullptr);
  count = 2;
  EXPECT_EQ(cudaGraphGetNodes(graph_, nodes, &count), cudaSuccess);
  EXPECT_THAT(nodes, testing::ElementsAre(node, second, nullptr));
}

TEST_F(RuntimeGraphTest, ANodeIsNoGraph) {
  const cudaGraphNode_t node = add_node(graph_, 1);
  std::size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(reinterpret_cast<cudaGraph_t>(node), nullptr, &count),
            cudaErrorInvalidValue);
  cudaGraphNodeType type{};
  EXPECT_EQ(cudaGraphNodeGetType(reinterpret_cast<cudaGraphNode_t>(graph_), &type),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphNodeGetType(node, &type), cudaSuccess);
}

TEST_F(RuntimeGraphTest, CountsAreThoseOfTheKernelsThatANodeLaunches) {
  take_counts();
  add_node(graph_, 1);
  const cudaGraphExec_t exec = instantiate(graph_);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  std::uint64_t requests = 0;
  for (const auto& line : take_counts()) {
    EXPECT_EQ(line.kernel, "add");
    requests += line.counts.global_load_requests;
  }
  EXPECT_EQ(requests, 3U);
}

TEST_F(RuntimeGraphTest, AnInstantiatedGraphIsACopy) {
  const cudaGraphNode_t node = add_node(graph_, 1);
  const cudaGraphExec_t exec = instantiate(graph_);
  unsigned n = 50;
  void* arguments[] = {&number_, &n};
  const auto params = add_params(arguments);
  EXPECT_EQ(cudaGraphKernelNodeSetParams(node, &params), cudaSuccess);
  EXPECT_EQ(after_launch(exec), 1U);
  EXPECT_EQ(after_launch(instantiate(graph_)), 51U);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, node, &params), cudaSuccess);
  EXPECT_EQ(after_launch(exec), 101U);

  EXPECT_EQ(cudaGraphNodeSetEnabled(exec, node, 0), cudaSuccess);
  EXPECT_EQ(after_launch(exec), 101U);
  unsigned enabled = 1;
  EXPECT_EQ(cudaGraphNodeGetEnabled(exec, node, &enabled), cudaSuccess);
  EXPECT_EQ(enabled, 0U);

  EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphNodeSetEnabled(exec, node, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaErrorInvalidValue);
}

TEST_F(RuntimeGraphTest, ParametersAreGivenBack) {
  const cudaGraphNode_t kernel = add_node(graph_, 12);
  cudaKernelNodeParams params{};
  ASSERT_EQ(cudaGraphKernelNodeGetParams(kernel, &params), cudaSuccess);
  EXPECT_EQ(params.func, add_);
  EXPECT_EQ(*static_cast<unsigned**>(params.kernelParams[0]), number_);
  EXPECT_EQ(*static_cast<unsigned*>(params.kernelParams[1]), 12U);

  const cudaMemsetParams set{
      .dst = number_, .pitch = 0, .value = 0x1234, .elementSize = 2, .width = 2, .height = 1};
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddMemsetNode(&node, graph_, nullptr, 0, &set), cudaSuccess);
  cudaMemsetParams given{};
  EXPECT_EQ(cudaGraphMemsetNodeGetParams(node, &given), cudaSuccess);
  EXPECT_EQ(given.dst, number_);
  EXPECT_EQ(given.width, 2U);
  EXPECT_EQ(given.elementSize, 2U);
  EXPECT_EQ(cudaGraphKernelNodeGetParams(node, &params), cudaErrorInvalidValue);

  unsigned read = 0;
  cudaGraphNode_t copy = nullptr;
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy, graph_, &node, 1, &read, number_, sizeof read,
                                     cudaMemcpyDeviceToHost),
            cudaSuccess);
  cudaMemcpy3DParms copied{};
  EXPECT_EQ(cudaGraphMemcpyNodeGetParams(copy, &copied), cudaSuccess);
  EXPECT_EQ(copied.dstPtr.ptr, &read);
  EXPECT_EQ(copied.srcPtr.ptr, number_);
  EXPECT_EQ(copied.extent.width, 4U);
  EXPECT_EQ(copied.kind, cudaMemcpyDeviceToHost);
  EXPECT_EQ(cudaGraphDestroyNode(kernel), cudaSuccess);
  EXPECT_EQ(after_launch(instantiate(graph_)), 0x12341234U);
  EXPECT_EQ(read, 0x12341234U);
}

TEST_F(RuntimeGraphTest, CopiesOfArraysAreGivenBackAsSuch) {
  const auto channels = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindUnsigned);
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &channels, 8, 4, 0), cudaSuccess);
  unsigned source[2] = {3, 4}, read[2] = {};
  cudaMemcpy3DParms to{};
  to.srcPtr = {source, sizeof source, 2, 1};
  to.dstArray = array;
  to.dstPos = {5, 2, 0};
  to.extent = {2, 1, 1};
  to.kind = cudaMemcpyHostToDevice;
  cudaGraphNode_t first = nullptr, second = nullptr;
  ASSERT_EQ(cudaGraphAddMemcpyNode(&first, graph_, nullptr, 0, &to), cudaSuccess);
  cudaMemcpy3DParms given{};
  EXPECT_EQ(cudaGraphMemcpyNodeGetParams(first, &given), cudaSuccess);
  EXPECT_EQ(given.dstArray, array);
  EXPECT_EQ(given.dstPos.x, 5U);
  EXPECT_EQ(given.dstPos.y, 2U);
  EXPECT_EQ(given.extent.width, 2U);

  cudaMemcpy3DParms from = to;
  from.srcPtr = {};
  from.srcArray = array;
  from.srcPos = to.dstPos;
  from.dstArray = nullptr;
  from.dstPos = {};
  from.dstPtr = {read, sizeof read, 2, 1};
  from.kind = cudaMemcpyDeviceToHost;
  ASSERT_EQ(cudaGraphAddMemcpyNode(&second, graph_, &first, 1, &from), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(instantiate(graph_), stream_), cudaSuccess);
  EXPECT_EQ(read[0], 3U);
  EXPECT_EQ(read[1], 4U);
}

TEST_F(RuntimeGraphTest, AChildGraphThatIsMovedIsNoLongerTheProgramsOwn) {
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeGraph;
  params.graph.graph = make_graph();
  params.graph.ownership = cudaGraphChildGraphOwnershipMove;
  add_node(params.graph.graph, 2);
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &params), cudaSuccess);
  EXPECT_EQ(after_launch(instantiate(graph_)), 2U);
  EXPECT_EQ(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &params), cudaErrorInvalidValue);
}

TEST_F(RuntimeGraphTest, ChildGraphsAndClonesAreCopies) {
  const cudaGraph_t child = make_graph();
  const cudaGraphNode_t inside = add_node(child, 2);
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddChildGraphNode(&node, graph_, nullptr, 0, child), cudaSuccess);
  add_node(graph_, 20, {node});

  cudaGraph_t embedded = nullptr;
  EXPECT_EQ(cudaGraphChildGraphNodeGetGraph(node, &embedded), cudaSuccess);
  add_node(embedded, 200);
  EXPECT_EQ(after_launch(instantiate(graph_)), 222U);

  cudaGraph_t clone = nullptr;
  ASSERT_EQ(cudaGraphClone(&clone, graph_), cudaSuccess);
  cudaGraphNode_t found = nullptr;
  EXPECT_EQ(cudaGraphNodeFindInClone(&found, node, clone), cudaSuccess);
  EXPECT_NE(found, node);
  EXPECT_EQ(cudaGraphNodeFindInClone(&found, inside, clone), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(child), cudaSuccess);
  EXPECT_EQ(after_launch(instantiate(clone)), 444U);
}

TEST_F(RuntimeGraphTest, UpdatesTakeGraphsOfTheSameShape) {
  add_node(graph_, 1, {add_node(graph_, 1)});
  const cudaGraphExec_t exec = instantiate(graph_);
  const cudaGraph_t changed = make_graph();
  const cudaGraphNode_t first = add_node(changed, 10);
  const cudaGraphNode_t second = add_node(changed, 30, {first});
  cudaGraphExecUpdateResultInfo info{};
  EXPECT_EQ(cudaGraphExecUpdate(exec, changed, &info), cudaSuccess);
  EXPECT_EQ(info.result, cudaGraphExecUpdateSuccess);
  EXPECT_EQ(after_launch(exec), 40U);

  EXPECT_EQ(cudaGraphRemoveDependencies(changed, &first, &second, nullptr, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(exec, changed, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(info.errorNode, second);

  EXPECT_EQ(cudaGraphDestroyNode(second), cudaSuccess);
  cudaGraphNode_t empty = nullptr;
  EXPECT_EQ(cudaGraphAddEmptyNode(&empty, changed, &first, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(exec, changed, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
  EXPECT_EQ(info.errorNode, empty);
  EXPECT_EQ(after_launch(exec), 80U) << "as before";
}

TEST_F(RuntimeGraphTest, MemoryLivesFromItsNodeToItsRelease) {
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = {.type = cudaMemLocationTypeDevice, .id = 0};
  params.bytesize = 64;
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddMemAllocNode(&node, graph_, nullptr, 0, &params), cudaSuccess);
  ASSERT_NE(params.dptr, nullptr);
  const cudaGraphExec_t exec = instantiate(graph_);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemset(params.dptr, 0, 64), cudaSuccess);
  EXPECT_EQ(cudaMemset(params.dptr, 0, 65), cudaErrorInvalidValue);
  std::uint64_t used = 0;
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 64U);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaErrorInvalidValue) << "it is allocated already";
  EXPECT_EQ(cudaFree(params.dptr), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  const auto freeing = instantiate(graph_, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  EXPECT_EQ(cudaGraphLaunch(freeing, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(freeing, stream_), cudaSuccess);

  const cudaGraph_t release = make_graph();
  EXPECT_EQ(cudaGraphAddMemFreeNode(&node, release, nullptr, 0, params.dptr), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(instantiate(release), stream_), cudaSuccess);
  EXPECT_EQ(cudaMemset(params.dptr, 0, 64), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 0U);
  cudaGraph_t clone = nullptr;
  EXPECT_EQ(cudaGraphClone(&clone, graph_), cudaErrorNotSupported);
}

class RuntimeConditionTest : public RuntimeGraphTest {
 protected:
  cudaGraphConditionalHandle make_handle(unsigned value) {
    cudaGraphConditionalHandle handle = 0;
    EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, graph_, value, cudaGraphCondAssignDefault),
              cudaSuccess);
    return handle;
  }
  /// The bodies of a new conditional node.
  std::vector<cudaGraph_t> add_condition(cudaGraphConditionalHandle handle,
                                         cudaGraphConditionalNodeType type, unsigned size) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &params), cudaSuccess);
    cudaGraph_t* const bodies = params.conditional.phGraph_out;
    return {bodies, bodies + size};
  }
};

TEST_F(RuntimeConditionTest, KernelsEndAWhile) {
  auto handle = make_handle(1);
  const cudaGraph_t body = add_condition(handle, cudaGraphCondTypeWhile, 1)[0];
  void* arguments[] = {&handle, &number_};
  const cudaKernelNodeParams params{const_cast<void*>(countdown_), 1, 1, 0, arguments, nullptr};
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddKernelNode(&node, body, nullptr, 0, &params), cudaSuccess);
  const cudaGraphExec_t exec = instantiate(graph_);
  take_counts();
  for (const unsigned times : {4U, 7U}) {
    EXPECT_EQ(cudaMemcpy(number_, &times, sizeof times, cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(after_launch(exec), 0U);
    std::uint64_t requests = 0;
    for (const auto& line : take_counts()) {
      requests += line.counts.global_load_requests;
    }
    EXPECT_EQ(requests, times);
  }
}

TEST_F(RuntimeConditionTest, IfAndSwitchTakeTheBodyOfTheValue) {
  for (const unsigned value : {0U, 1U}) {
    const auto bodies = add_condition(make_handle(value), cudaGraphCondTypeIf, 2);
    add_node(bodies[0], 1);
    add_node(bodies[1], 10);
  }
  for (const unsigned value : {0U, 1U, 2U}) {
    const auto bodies = add_condition(make_handle(value), cudaGraphCondTypeSwitch, 2);
    add_node(bodies[0], 100);
    add_node(bodies[1], 1000);
  }
  EXPECT_EQ(after_launch(instantiate(graph_)), 1111U);
}

TEST_F(RuntimeConditionTest, AHandleThatIsNoneIsAFault) {
  unsigned* not_a_handle = number_;
  void* arguments[] = {&not_a_handle, &number_};
  EXPECT_EQ(cudaLaunchKernel(countdown_, 1, 1, arguments, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_THAT(fault_text(), HasSubstr("cudaGraphSetConditional"));
}

TEST_F(RuntimeGraphTest, AFaultEndsTheLaunchAndIsReportedLater) {
  const cudaKernelNodeParams params{const_cast<void*>(fault_), 1, 1, 0, nullptr, nullptr};
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &params), cudaSuccess);
  static int calls = 0;
  const cudaHostNodeParams host{[](void*) { ++calls; }, nullptr};
  cudaGraphNode_t behind = nullptr;
  ASSERT_EQ(cudaGraphAddHostNode(&behind, graph_, &node, 1, &host), cudaSuccess);
  const cudaGraphExec_t exec = instantiate(graph_);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorIllegalAddress);
}

TEST_F(RuntimeGraphTest, ALaunchThatCannotBeginIsAFailureOfTheGraphs) {
  unsigned n = 1;
  void* arguments[] = {&number_, &n};
  auto params = add_params(arguments);
  params.blockDim.x = 2048;
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &params), cudaSuccess);
  take_failed_launches();
  EXPECT_EQ(cudaGraphLaunch(instantiate(graph_), stream_), cudaErrorInvalidConfiguration);
  const auto failed = take_failed_launches();
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].kernel, "add");
}

TEST_F(RuntimeGraphTest, ObjectsOfTheProgramLiveAsLongAsGraphsThatUseThem) {
  int ends = 0;
  cudaUserObject_t object = nullptr;
  ASSERT_EQ(cudaUserObjectCreate(
                &object, &ends, [](void* data) { ++*static_cast<int*>(data); }, 2,
                cudaUserObjectNoDestructorSync),
            cudaSuccess);
  EXPECT_EQ(cudaGraphRetainUserObject(graph_, object, 1, cudaGraphUserObjectMove), cudaSuccess);
  EXPECT_EQ(cudaUserObjectRelease(object, 2), cudaErrorInvalidValue) << "one was moved";
  EXPECT_EQ(cudaUserObjectRelease(object, 1), cudaSuccess);
  const cudaGraphExec_t exec = instantiate(graph_);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  EXPECT_EQ(ends, 0);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(ends, 1);
}

TEST_F(RuntimeGraphTest, DotTextNamesNodesAndEdges) {
  add_node(graph_, 1, {add_node(graph_, 1)});
  const std::string path = testing::TempDir() + "graph.dot";
  ASSERT_EQ(cudaGraphDebugDotPrint(graph_, path.c_str(), 0), cudaSuccess);
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(text, HasSubstr("KERNEL\\nadd\\n1x1x1 blocks"));
  EXPECT_THAT(text, HasSubstr("node_1 -> node_2;"));
  std::remove(path.c_str());
}

TEST_F(RuntimeGraphTest, GraphsThatKernelsLaunchAreRefused) {
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph_, cudaGraphInstantiateFlagDeviceLaunch),
            cudaErrorNotSupported);
}

}  // namespace
}  // namespace warpgauge::emulator::runtime::runtime_graph_test
