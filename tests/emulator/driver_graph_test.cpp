// The emulated driver: graphs, and capture of streams.
#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "harness/emulator/emulator.h"
#include "tests/emulator/graph_kernels.h"

namespace warpgauge::emulator::driver::driver_graph_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DriverGraphTest : public runtime::GraphKernelsTest {
 protected:
  void SetUp() override {
    GraphKernelsTest::SetUp();
    ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cudaGetFuncBySymbol(&function_, add_), cudaSuccess);
  }
  CUdeviceptr memory() const { return reinterpret_cast<CUdeviceptr>(number_); }
  CUDA_KERNEL_NODE_PARAMS add_params(void** arguments) const {
    CUDA_KERNEL_NODE_PARAMS out{};
    out.func = function_;
    out.gridDimX = out.gridDimY = out.gridDimZ = 1;
    out.blockDimX = out.blockDimY = out.blockDimZ = 1;
    out.kernelParams = arguments;
    return out;
  }
  /// A node that adds `n`.
  CUgraphNode add(unsigned n, std::vector<CUgraphNode> behind = {}) {
    void* arguments[] = {&number_, &n};
    const CUDA_KERNEL_NODE_PARAMS params = add_params(arguments);
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddKernelNode(&node, graph_, behind.data(), behind.size(), &params),
              CUDA_SUCCESS);
    return node;
  }
  CUgraphExec instantiated() const {
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuGraphInstantiate(&exec, graph_, 0), CUDA_SUCCESS);
    return exec;
  }
  unsigned launched(CUgraphExec exec) const {
    EXPECT_EQ(cuGraphLaunch(exec, stream_), CUDA_SUCCESS);
    return number();
  }
  /// The variant of a function that CUDA `version` had.
  template <typename Function>
  static Function* variant(const char* name, int version) {
    void* out = nullptr;
    EXPECT_EQ(cuGetProcAddress(name, &out, version, CU_GET_PROC_ADDRESS_DEFAULT, nullptr),
              CUDA_SUCCESS);
    return reinterpret_cast<Function*>(out);
  }

  CUgraph graph_ = nullptr;
  CUfunction function_ = nullptr;
};

CUDA_MEMCPY3D to_host(void* destination, CUdeviceptr source, std::size_t bytes) {
  CUDA_MEMCPY3D out{};
  out.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  out.srcDevice = source;
  out.dstMemoryType = CU_MEMORYTYPE_HOST;
  out.dstHost = destination;
  out.WidthInBytes = bytes;
  out.Height = out.Depth = 1;
  return out;
}

TEST_F(DriverGraphTest, NodesOfEveryKindRunInOrder) {
  unsigned result = 0;
  CUgraphNode fill = nullptr, copy = nullptr, host = nullptr, empty = nullptr;
  const CUDA_MEMSET_NODE_PARAMS filling{memory(), 0, 5, 4, 1, 1};
  EXPECT_EQ(cuGraphAddMemsetNode(&fill, graph_, nullptr, 0, &filling, nullptr), CUDA_SUCCESS);
  const CUgraphNode kernel = add(2, {fill});
  EXPECT_EQ(cuGraphAddEmptyNode(&empty, graph_, &kernel, 1), CUDA_SUCCESS);
  const CUDA_MEMCPY3D copying = to_host(&result, memory(), 4);
  EXPECT_EQ(cuGraphAddMemcpyNode(&copy, graph_, &empty, 1, &copying, nullptr), CUDA_SUCCESS);
  const CUDA_HOST_NODE_PARAMS doubling{[](void* data) { *static_cast<unsigned*>(data) *= 2; },
                                       &result};
  EXPECT_EQ(cuGraphAddHostNode(&host, graph_, &copy, 1, &doubling), CUDA_SUCCESS);
  launched(instantiated());
  EXPECT_EQ(result, 14U) << "(5 + 2) * 2";

  CUgraphNodeType type{};
  EXPECT_EQ(cuGraphNodeGetType(host, &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_HOST);
  CUDA_MEMCPY3D copied{};
  EXPECT_EQ(cuGraphMemcpyNodeGetParams(copy, &copied), CUDA_SUCCESS);
  EXPECT_EQ(copied.srcMemoryType, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(copied.srcDevice, memory());
  EXPECT_EQ(copied.dstMemoryType, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(copied.dstHost, &result);
  EXPECT_EQ(copied.WidthInBytes, 4U);
  CUDA_MEMSET_NODE_PARAMS filled{};
  EXPECT_EQ(cuGraphMemsetNodeGetParams(fill, &filled), CUDA_SUCCESS);
  EXPECT_EQ(filled.dst, memory());
  EXPECT_EQ(filled.value, 5U);
  CUDA_HOST_NODE_PARAMS called{};
  EXPECT_EQ(cuGraphHostNodeGetParams(host, &called), CUDA_SUCCESS);
  EXPECT_EQ(called.userData, &result);
}

TEST_F(DriverGraphTest, AKernelNodeTakesArgumentsInABuffer) {
  struct {
    unsigned* p;
    unsigned n;
  } buffer{number_, 9};
  std::size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CUDA_KERNEL_NODE_PARAMS params = add_params(nullptr);
  params.extra = extra;
  CUgraphNode node = nullptr;
  EXPECT_EQ(cuGraphAddKernelNode(&node, graph_, nullptr, 0, &params), CUDA_SUCCESS);
  EXPECT_EQ(launched(instantiated()), 9U);
  bytes = 8;
  EXPECT_EQ(cuGraphKernelNodeSetParams(node, &params), CUDA_ERROR_INVALID_VALUE) << "too few bytes";
}

TEST_F(DriverGraphTest, ParametersOfAKernelNodeChangeInItsGraphAndInAnExec) {
  const CUgraphNode node = add(1);
  const CUgraphExec exec = instantiated();
  CUDA_KERNEL_NODE_PARAMS params{};
  EXPECT_EQ(cuGraphKernelNodeGetParams(node, &params), CUDA_SUCCESS);
  EXPECT_EQ(params.func, function_);
  EXPECT_EQ(params.blockDimX, 1U);
  EXPECT_EQ(*static_cast<unsigned*>(params.kernelParams[1]), 1U);
  unsigned n = 10;
  void* arguments[] = {&number_, &n};
  params = add_params(arguments);
  EXPECT_EQ(cuGraphKernelNodeSetParams(node, &params), CUDA_SUCCESS);
  EXPECT_EQ(launched(exec), 1U) << "made before";
  n = 100;
  EXPECT_EQ(cuGraphExecKernelNodeSetParams(exec, node, &params), CUDA_SUCCESS);
  EXPECT_EQ(launched(exec), 101U);
  EXPECT_EQ(launched(instantiated()), 111U);
  EXPECT_EQ(cuGraphNodeSetEnabled(exec, node, 0), CUDA_SUCCESS);
  unsigned enabled = 1;
  EXPECT_EQ(cuGraphNodeGetEnabled(exec, node, &enabled), CUDA_SUCCESS);
  EXPECT_EQ(enabled, 0U);
  EXPECT_EQ(launched(exec), 111U);
}

TEST_F(DriverGraphTest, AttributesAreCopiedFromTheSecondNodeToTheFirst) {
  const CUgraphNode to = add(1), from = add(1);
  CUkernelNodeAttrValue value{};
  value.priority = -1;
  EXPECT_EQ(cuGraphKernelNodeSetAttribute(from, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
            CUDA_SUCCESS);
  EXPECT_EQ(cuGraphKernelNodeCopyAttributes(to, from), CUDA_SUCCESS);
  value = {};
  EXPECT_EQ(cuGraphKernelNodeGetAttribute(to, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value), CUDA_SUCCESS);
  EXPECT_EQ(value.priority, -1);
}

TEST_F(DriverGraphTest, OlderVariantsDoTheSame) {
  unsigned n = 3;
  void* arguments[] = {&number_, &n};
  const CUDA_KERNEL_NODE_PARAMS_v1 params{function_, 1, 1, 1, 1, 1, 1, 0, arguments, nullptr};
  CUgraphNode first = nullptr, second = nullptr;
  const auto add_kernel =
      variant<CUresult(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,
                       const CUDA_KERNEL_NODE_PARAMS_v1*)>("cuGraphAddKernelNode", 11000);
  EXPECT_EQ(add_kernel(&first, graph_, nullptr, 0, &params), CUDA_SUCCESS);
  EXPECT_EQ(add_kernel(&second, graph_, nullptr, 0, &params), CUDA_SUCCESS);
  const auto add_edges =
      variant<CUresult(CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t)>(
          "cuGraphAddDependencies", 12000);
  EXPECT_EQ(add_edges(graph_, &first, &second, 1), CUDA_SUCCESS);
  const auto dependencies = variant<CUresult(CUgraphNode, CUgraphNode*, std::size_t*)>(
      "cuGraphNodeGetDependencies", 12000);
  CUgraphNode found = nullptr;
  std::size_t count = 1;
  EXPECT_EQ(dependencies(second, &found, &count), CUDA_SUCCESS);
  EXPECT_EQ(found, first);
  char log[4] = "abc";
  CUgraphExec exec = nullptr;
  const auto instantiate =
      variant<CUresult(CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t)>(
          "cuGraphInstantiate", 11000);
  EXPECT_EQ(instantiate(&exec, graph_, &found, log, sizeof log), CUDA_SUCCESS);
  EXPECT_STREQ(log, "");
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(launched(exec), 6U);
  const auto update =
      variant<CUresult(CUgraphExec, CUgraph, CUgraphNode*, CUgraphExecUpdateResult*)>(
          "cuGraphExecUpdate", 11000);
  CUgraphExecUpdateResult result{};
  EXPECT_EQ(update(exec, graph_, &found, &result), CUDA_SUCCESS);
  EXPECT_EQ(result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
}

TEST_F(DriverGraphTest, NodesOfAnyKindAreAddedByTheirType) {
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  params.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.alloc.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  params.alloc.bytesize = 4;
  std::array<CUgraphNode, 5> nodes{};
  EXPECT_EQ(cuGraphAddNode(&nodes[0], graph_, nullptr, nullptr, 0, &params), CUDA_SUCCESS);
  const CUdeviceptr made = params.alloc.dptr;
  ASSERT_NE(made, 0U);
  CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
  EXPECT_EQ(cuGraphMemAllocNodeGetParams(nodes[0], &allocation), CUDA_SUCCESS);
  EXPECT_EQ(allocation.dptr, made);

  params = {};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset = {made, 0, 7, 4, 1, 1, nullptr};
  EXPECT_EQ(cuGraphAddNode(&nodes[1], graph_, &nodes[0], nullptr, 1, &params), CUDA_SUCCESS);
  unsigned n = 5;
  void* arguments[] = {&params.alloc.dptr, &n};
  void* target = reinterpret_cast<void*>(made);
  arguments[0] = &target;
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_KERNEL;
  params.kernel.func = function_;
  params.kernel.gridDimX = params.kernel.gridDimY = params.kernel.gridDimZ = 1;
  params.kernel.blockDimX = params.kernel.blockDimY = params.kernel.blockDimZ = 1;
  params.kernel.kernelParams = arguments;
  EXPECT_EQ(cuGraphAddNode(&nodes[2], graph_, &nodes[1], nullptr, 1, &params), CUDA_SUCCESS);
  unsigned result = 0;
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  params.memcpy.copyParams = to_host(&result, made, 4);
  EXPECT_EQ(cuGraphAddNode(&nodes[3], graph_, &nodes[2], nullptr, 1, &params), CUDA_SUCCESS);
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  params.free.dptr = made;
  EXPECT_EQ(cuGraphAddNode(&nodes[4], graph_, &nodes[3], nullptr, 1, &params), CUDA_SUCCESS);
  CUdeviceptr freed = 0;
  EXPECT_EQ(cuGraphMemFreeNodeGetParams(nodes[4], &freed), CUDA_SUCCESS);
  EXPECT_EQ(freed, made);
  launched(instantiated());
  EXPECT_EQ(result, 12U);
  cuuint64_t used = 1;
  EXPECT_EQ(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used),
            CUDA_SUCCESS);
  EXPECT_EQ(used, 0U);
  EXPECT_EQ(cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGraphMemTrim(1), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(DriverGraphTest, AConditionalNodeGivesItsBodies) {
  CUgraphConditionalHandle handle = 0;
  EXPECT_EQ(
      cuGraphConditionalHandleCreate(&handle, graph_, nullptr, 1, CU_GRAPH_COND_ASSIGN_DEFAULT),
      CUDA_SUCCESS);
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = handle;
  params.conditional.type = CU_GRAPH_COND_TYPE_IF;
  params.conditional.size = 1;
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &params), CUDA_SUCCESS);
  const CUgraph whole = graph_;
  graph_ = params.conditional.phGraph_out[0];
  add(4);
  graph_ = whole;
  EXPECT_EQ(launched(instantiated()), 4U);
}

TEST_F(DriverGraphTest, ACapturedStreamBecomesAGraph) {
  unsigned n = 6;
  void* arguments[] = {&number_, &n};
  EXPECT_EQ(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchKernel(function_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr),
            CUDA_SUCCESS);
  CUstreamCaptureStatus status{};
  EXPECT_EQ(cuStreamIsCapturing(stream_, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  cuuint64_t id = 0;
  CUgraph into = nullptr;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  EXPECT_EQ(cuStreamGetCaptureInfo(stream_, &status, &id, &into, &nodes, &edges, &count),
            CUDA_SUCCESS);
  EXPECT_NE(id, 0U);
  EXPECT_EQ(count, 1U);
  const CUgraphNode kernel = nodes[0];
  EXPECT_EQ(cuStreamUpdateCaptureDependencies(stream_, nullptr, nullptr, 0,
                                              CU_STREAM_SET_CAPTURE_DEPENDENCIES),
            CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(
                stream_, [](void* data) { *static_cast<unsigned*>(data) = 60; }, &n),
            CUDA_SUCCESS);
  EXPECT_EQ(n, 6U) << "captured";
  CUgraph captured = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream_, &captured), CUDA_SUCCESS);
  EXPECT_EQ(captured, into);
  EXPECT_EQ(number(), 0U);
  std::size_t dependents = 1;
  EXPECT_EQ(cuGraphNodeGetDependentNodes(kernel, nullptr, nullptr, &dependents), CUDA_SUCCESS);
  EXPECT_EQ(dependents, 0U);
  graph_ = captured;
  EXPECT_EQ(launched(instantiated()), 6U);
  EXPECT_EQ(n, 60U);
  EXPECT_EQ(cuStreamIsCapturing(stream_, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(cuStreamEndCapture(stream_, &captured), CUDA_ERROR_ILLEGAL_STATE);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
}

TEST_F(DriverGraphTest, CallbacksAndAttributesOfStreamsAreTheRuntimes) {
  std::array<std::intptr_t, 2> seen{-1, -1};
  EXPECT_EQ(cuStreamAddCallback(
                stream_,
                [](CUstream stream, CUresult status, void* data) {
                  auto& out = *static_cast<std::array<std::intptr_t, 2>*>(data);
                  out = {reinterpret_cast<std::intptr_t>(stream), status};
                },
                &seen, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_THAT(seen, ElementsAre(reinterpret_cast<std::intptr_t>(stream_), 0));
  EXPECT_EQ(cuStreamAddCallback(stream_, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  CUstreamAttrValue value{};
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  EXPECT_EQ(cuStreamSetAttribute(stream_, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
            CUDA_SUCCESS);
  CUstream other = nullptr;
  EXPECT_EQ(cuStreamCreate(&other, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamCopyAttributes(other, stream_), CUDA_SUCCESS);
  value = {};
  EXPECT_EQ(cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
            CUDA_SUCCESS);
  EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_YIELD);
}

TEST_F(DriverGraphTest, EventsChildrenClonesAndUserObjectsAreTheRuntimes) {
  CUevent event = nullptr, found = nullptr;
  EXPECT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  CUgraphNode record = nullptr, wait = nullptr;
  EXPECT_EQ(cuGraphAddEventRecordNode(&record, graph_, nullptr, 0, event), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddEventWaitNode(&wait, graph_, &record, 1, event), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphEventRecordNodeGetEvent(record, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, event);
  EXPECT_EQ(cuGraphEventRecordNodeGetEvent(wait, &found), CUDA_ERROR_INVALID_VALUE);
  const CUgraphNode kernel = add(2, {wait});
  int destroyed = 0;
  CUuserObject object = nullptr;
  EXPECT_EQ(cuUserObjectCreate(
                &object, &destroyed, [](void* data) { ++*static_cast<int*>(data); }, 1,
                CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_SUCCESS);
  EXPECT_EQ(cuGraphRetainUserObject(graph_, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  CUgraph clone = nullptr, inside = nullptr;
  CUgraphNode same = nullptr, child = nullptr;
  EXPECT_EQ(cuGraphClone(&clone, graph_), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphNodeFindInClone(&same, kernel, clone), CUDA_SUCCESS);
  EXPECT_NE(same, kernel);
  EXPECT_EQ(cuGraphAddChildGraphNode(&child, graph_, &kernel, 1, clone), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphChildGraphNodeGetGraph(child, &inside), CUDA_SUCCESS);
  std::size_t count = 0;
  EXPECT_EQ(cuGraphGetNodes(inside, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 3U);
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  CUgraphExec exec = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithParams(&exec, graph_, &params), CUDA_SUCCESS);
  EXPECT_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  EXPECT_EQ(cuGraphUpload(exec, stream_), CUDA_SUCCESS);
  EXPECT_EQ(launched(exec), 4U);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(clone), CUDA_SUCCESS);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(cuGraphDestroy(graph_), CUDA_SUCCESS);
  EXPECT_EQ(destroyed, 1);
}

TEST_F(DriverGraphTest, AnUpdateNamesTheNodeThatDiffers) {
  const CUgraphNode kernel = add(2);
  const CUgraphExec exec = instantiated();
  CUgraphExecUpdateResultInfo info{};
  CUgraphNode empty = nullptr;
  EXPECT_EQ(cuGraphDestroyNode(kernel), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddEmptyNode(&empty, graph_, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecUpdate(exec, graph_, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  EXPECT_EQ(info.errorNode, empty);
}

TEST_F(DriverGraphTest, BadHandlesAndParametersAreInvalidValues) {
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_EQ(cuGraphAddKernelNode(&node, graph_, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddMemcpyNode(&node, graph_, nullptr, 0, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddMemsetNode(&node, graph_, nullptr, 0, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddEmptyNode(&node, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddMemAllocNode(&node, graph_, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphInstantiateWithParams(&exec, graph_, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphInstantiate(&exec, reinterpret_cast<CUgraph>(&node), 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphLaunch(nullptr, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphNodeGetType(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamIsCapturing(stream_, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  const CUDA_KERNEL_NODE_PARAMS none = [&] {
    CUDA_KERNEL_NODE_PARAMS out = add_params(nullptr);
    out.func = reinterpret_cast<CUfunction>(&node);
    return out;
  }();
  EXPECT_EQ(cuGraphAddKernelNode(&node, graph_, nullptr, 0, &none), CUDA_ERROR_INVALID_HANDLE);
  CUgraphNodeParams batch{};
  batch.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &batch), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("cuGraphAddNode: nodes of memory operations are not emulated"));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the driver's errors are not the runtime's";
  EXPECT_EQ(refused().size(), 1U);
}

}  // namespace
}  // namespace warpgauge::emulator::driver::driver_graph_test
