// Nodes of graphs.
#include "harness/emulator/runtime/graph_nodes.h"

#include <bit>
#include <vector>

#include "harness/emulator/driver/call.h"
#include "harness/emulator/driver/context.h"
#include "harness/emulator/driver/copies.h"
#include "harness/emulator/driver/packed_arguments.h"
#include "harness/emulator/runtime/functions.h"
#include "harness/emulator/runtime/memcpy.h"

// Earlier variants, which the toolkit's headers do not declare.
#undef cuGraphAddKernelNode
#undef cuGraphAddNode
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams

namespace warpgauge::emulator::driver {
namespace {

using runtime::Failure;
using runtime::KernelCall;
using runtime::MakeWork;
using runtime::require;
using runtime::State;

CUresult added_node(const char* name, CUgraphNode* node, CUgraph graph,
                    const CUgraphNode* dependencies, std::size_t count, const MakeWork& work) {
  return call(name,
              [&] { return runtime::add_node(name, node, graph, dependencies, count, work); });
}

CUresult changed_node(const char* name, CUgraphNode node, const MakeWork& work) {
  return call(name, [&] { return runtime::set_node(name, node, work); });
}

CUresult changed_node(const char* name, CUgraphExec exec, CUgraphNode node, const MakeWork& work) {
  return call(name, [&] { return runtime::set_node(name, exec, node, work); });
}

template <typename Parameters>
KernelCall kernel_work(State& state, const Parameters* p) {
  require(p != nullptr && (p->kernelParams == nullptr || p->extra == nullptr));
  const void* kernel = p->func;
  if constexpr (requires { p->kern; }) {
    if (kernel == nullptr) kernel = p->kern;
  }
  std::vector<void*> arguments;
  if (p->extra != nullptr) arguments = arguments_in(state, kernel, p->extra);
  const cudaKernelNodeParams same{const_cast<void*>(kernel),
                                  {p->gridDimX, p->gridDimY, p->gridDimZ},
                                  {p->blockDimX, p->blockDimY, p->blockDimZ},
                                  p->sharedMemBytes,
                                  p->extra != nullptr ? arguments.data() : p->kernelParams,
                                  nullptr};
  return runtime::kernel_call(state, &same);
}

runtime::Copy copy_work(State& state, const CUDA_MEMCPY3D* p) {
  require(p != nullptr);
  const cudaMemcpy3DParms same = copy_of(state, *p);
  return runtime::copy_of(state, &same);
}

template <typename Parameters>
runtime::Fill fill_work(const Parameters* p) {
  require(p != nullptr);
  const cudaMemsetParams same{pointer(p->dst), p->pitch, p->value,
                              p->elementSize,  p->width, p->height};
  return runtime::fill_of(&same);
}

template <typename Parameters>
CUresult kernel_parameters(CUgraphNode node, Parameters* out) {
  return call("cuGraphKernelNodeGetParams", [&] {
    cudaKernelNodeParams same{};
    auto error = cudaGraphKernelNodeGetParams(node, out == nullptr ? nullptr : &same);
    CUfunction function = nullptr;
    if (error == cudaSuccess) error = cudaGetFuncBySymbol(&function, same.func);
    if (error != cudaSuccess) return error;
    *out = {};
    out->func = function;
    out->gridDimX = same.gridDim.x;
    out->gridDimY = same.gridDim.y;
    out->gridDimZ = same.gridDim.z;
    out->blockDimX = same.blockDim.x;
    out->blockDimY = same.blockDim.y;
    out->blockDimZ = same.blockDim.z;
    out->sharedMemBytes = same.sharedMemBytes;
    out->kernelParams = same.kernelParams;
    if constexpr (requires { out->ctx; }) out->ctx = primary_context();
    return cudaSuccess;
  });
}

cudaMemPoolProps pool_of(const CUmemPoolProps& given) {  // both have the same members
  return std::bit_cast<cudaMemPoolProps>(given);
}

/// The parameters of a node of any kind for the runtime, and what they point to.
struct SameNode {
  cudaGraphNodeParams parameters{};
  std::vector<void*> arguments;

  SameNode(State& state, const CUgraphNodeParams& given);
};

SameNode::SameNode(State& state, const CUgraphNodeParams& given) {
  parameters.type = static_cast<cudaGraphNodeType>(given.type);  // both have the same numbers
  switch (given.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const auto& kernel = given.kernel;
      require(kernel.kernelParams == nullptr || kernel.extra == nullptr);
      auto& same = parameters.kernel;
      same.func = kernel.func != nullptr ? static_cast<void*>(kernel.func) : kernel.kern;
      same.gridDim = {kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ};
      same.blockDim = {kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ};
      same.sharedMemBytes = kernel.sharedMemBytes;
      if (kernel.extra != nullptr) arguments = arguments_in(state, same.func, kernel.extra);
      same.kernelParams = kernel.extra != nullptr ? arguments.data() : kernel.kernelParams;
      break;
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      parameters.memcpy.copyParams = copy_of(state, given.memcpy.copyParams);
      break;
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const auto& fill = given.memset;
      parameters.memset = {pointer(fill.dst), fill.pitch, fill.value,
                           fill.elementSize,  fill.width, fill.height};
      break;
    }
    case CU_GRAPH_NODE_TYPE_HOST:
      parameters.host = {given.host.fn, given.host.userData};
      break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
      parameters.graph = {given.graph.graph,
                          static_cast<cudaGraphChildGraphNodeOwnership>(given.graph.ownership)};
      break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      parameters.eventWait = {given.eventWait.event};
      break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      parameters.eventRecord = {given.eventRecord.event};
      break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      parameters.alloc.poolProps = pool_of(given.alloc.poolProps);
      parameters.alloc.bytesize = given.alloc.bytesize;
      break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      parameters.free = {pointer(given.free.dptr)};
      break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      parameters.conditional = {given.conditional.handle,
                                static_cast<cudaGraphConditionalNodeType>(given.conditional.type),
                                given.conditional.size, nullptr};
      break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      throw Failure{cudaErrorNotSupported, "nodes of memory operations are not emulated"};
    default:  // has no parameters, or the runtime refuses it
      break;
  }
}

/// Calls `forward` with the runtime's parameters of a node, and gives back what it writes there.
template <typename Forward>
CUresult any_node(const char* name, CUgraphNodeParams* given, Forward forward) {
  return call(name, [&] {
    std::vector<SameNode> same;
    auto error = runtime::call(name, [&](State& state) {
      require(given != nullptr);
      same.emplace_back(state, *given);
    });
    if (error != cudaSuccess) return error;
    cudaGraphNodeParams& parameters = same.front().parameters;
    error = forward(&parameters);
    if (error != cudaSuccess) return error;
    if (given->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
      given->alloc.dptr = reinterpret_cast<CUdeviceptr>(parameters.alloc.dptr);
    } else if (given->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      given->conditional.phGraph_out = parameters.conditional.phGraph_out;
    }
    return error;
  });
}

}  // namespace

WARPGAUGE_API CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph,
                                               const CUgraphNode* dependencies, std::size_t count,
                                               const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  return added_node("cuGraphAddKernelNode", node, graph, dependencies, count,
                    [&](State& state) { return kernel_work(state, p); });
}

WARPGAUGE_API CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph,
                                            const CUgraphNode* dependencies, std::size_t count,
                                            const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return added_node("cuGraphAddKernelNode", node, graph, dependencies, count,
                    [&](State& state) { return kernel_work(state, p); });
}

WARPGAUGE_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node,
                                                     CUDA_KERNEL_NODE_PARAMS_v2* p) {
  return kernel_parameters(node, p);
}

WARPGAUGE_API CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return kernel_parameters(node, p);
}

WARPGAUGE_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                                     const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  return changed_node("cuGraphKernelNodeSetParams", node,
                      [&](State& state) { return kernel_work(state, p); });
}

WARPGAUGE_API CUresult cuGraphKernelNodeSetParams(CUgraphNode node,
                                                  const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return changed_node("cuGraphKernelNodeSetParams", node,
                      [&](State& state) { return kernel_work(state, p); });
}

WARPGAUGE_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                         const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  return changed_node("cuGraphExecKernelNodeSetParams", exec, node,
                      [&](State& state) { return kernel_work(state, p); });
}

WARPGAUGE_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                      const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return changed_node("cuGraphExecKernelNodeSetParams", exec, node,
                      [&](State& state) { return kernel_work(state, p); });
}

WARPGAUGE_API CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                                     const CUkernelNodeAttrValue* value) {
  return call("cuGraphKernelNodeSetAttribute", [&] {  // both have the same numbers
    const auto same_id = static_cast<cudaLaunchAttributeID>(id);
    if (value == nullptr) return cudaGraphKernelNodeSetAttribute(node, same_id, nullptr);
    const auto same = std::bit_cast<cudaLaunchAttributeValue>(*value);
    return cudaGraphKernelNodeSetAttribute(node, same_id, &same);
  });
}

WARPGAUGE_API CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                                     CUkernelNodeAttrValue* value) {
  return call("cuGraphKernelNodeGetAttribute", [&] {
    cudaLaunchAttributeValue same{};
    const auto error = cudaGraphKernelNodeGetAttribute(node, static_cast<cudaLaunchAttributeID>(id),
                                                       value == nullptr ? nullptr : &same);
    if (error == cudaSuccess) *value = std::bit_cast<CUkernelNodeAttrValue>(same);
    return error;
  });
}

WARPGAUGE_API CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  static constexpr char kName[] = "cuGraphKernelNodeCopyAttributes";
  return call(kName, [&] {
    return runtime::call(kName, [&](State& state) {
      const auto attributes = runtime::work_of<KernelCall>(state, from).attributes;
      runtime::work_of<KernelCall>(state, to).attributes = attributes;
    });
  });
}

WARPGAUGE_API CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph,
                                            const CUgraphNode* dependencies, std::size_t count,
                                            const CUDA_MEMCPY3D* p, CUcontext) {
  return added_node("cuGraphAddMemcpyNode", node, graph, dependencies, count,
                    [&](State& state) { return copy_work(state, p); });
}

WARPGAUGE_API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* p) {
  static constexpr char kName[] = "cuGraphMemcpyNodeGetParams";
  return call(kName, [&] {
    return runtime::call(kName, [&](State& state) {
      require(p != nullptr);
      const auto& copy = runtime::work_of<runtime::Copy>(state, node);
      *p = copy_of(state, runtime::parameters_of(state, copy));
    });
  });
}

WARPGAUGE_API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* p) {
  return changed_node("cuGraphMemcpyNodeSetParams", node,
                      [&](State& state) { return copy_work(state, p); });
}

WARPGAUGE_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                      const CUDA_MEMCPY3D* p, CUcontext) {
  return changed_node("cuGraphExecMemcpyNodeSetParams", exec, node,
                      [&](State& state) { return copy_work(state, p); });
}

WARPGAUGE_API CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph,
                                            const CUgraphNode* dependencies, std::size_t count,
                                            const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  return added_node("cuGraphAddMemsetNode", node, graph, dependencies, count,
                    [&](State&) { return fill_work(p); });
}

WARPGAUGE_API CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* p) {
  return call("cuGraphMemsetNodeGetParams", [&] {
    cudaMemsetParams same{};
    const auto error = cudaGraphMemsetNodeGetParams(node, p == nullptr ? nullptr : &same);
    if (error != cudaSuccess) return error;
    *p = {reinterpret_cast<CUdeviceptr>(same.dst),
          same.pitch,
          same.value,
          same.elementSize,
          same.width,
          same.height};
    return error;
  });
}

WARPGAUGE_API CUresult cuGraphMemsetNodeSetParams(CUgraphNode node,
                                                  const CUDA_MEMSET_NODE_PARAMS* p) {
  return changed_node("cuGraphMemsetNodeSetParams", node, [&](State&) { return fill_work(p); });
}

WARPGAUGE_API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                      const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  return changed_node("cuGraphExecMemsetNodeSetParams", exec, node,
                      [&](State&) { return fill_work(p); });
}

WARPGAUGE_API CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph,
                                          const CUgraphNode* dependencies, std::size_t count,
                                          const CUDA_HOST_NODE_PARAMS* p) {
  return added_node("cuGraphAddHostNode", node, graph, dependencies, count,
                    [&](State&) { return runtime::host_call(p); });
}

WARPGAUGE_API CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* p) {
  return call("cuGraphHostNodeGetParams", [&] {
    cudaHostNodeParams same{};
    const auto error = cudaGraphHostNodeGetParams(node, p == nullptr ? nullptr : &same);
    if (error == cudaSuccess) *p = {same.fn, same.userData};
    return error;
  });
}

WARPGAUGE_API CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p) {
  return changed_node("cuGraphHostNodeSetParams", node,
                      [&](State&) { return runtime::host_call(p); });
}

WARPGAUGE_API CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                    const CUDA_HOST_NODE_PARAMS* p) {
  return changed_node("cuGraphExecHostNodeSetParams", exec, node,
                      [&](State&) { return runtime::host_call(p); });
}

WARPGAUGE_API CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph,
                                                const CUgraphNode* dependencies, std::size_t count,
                                                CUgraph child) {
  return call("cuGraphAddChildGraphNode",
              [&] { return cudaGraphAddChildGraphNode(node, graph, dependencies, count, child); });
}

WARPGAUGE_API CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  return call("cuGraphChildGraphNodeGetGraph",
              [&] { return cudaGraphChildGraphNodeGetGraph(node, graph); });
}

WARPGAUGE_API CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                          CUgraph child) {
  return call("cuGraphExecChildGraphNodeSetParams",
              [&] { return cudaGraphExecChildGraphNodeSetParams(exec, node, child); });
}

WARPGAUGE_API CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph,
                                           const CUgraphNode* dependencies, std::size_t count) {
  return call("cuGraphAddEmptyNode",
              [&] { return cudaGraphAddEmptyNode(node, graph, dependencies, count); });
}

WARPGAUGE_API CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph,
                                                 const CUgraphNode* dependencies, std::size_t count,
                                                 CUevent event) {
  return call("cuGraphAddEventRecordNode",
              [&] { return cudaGraphAddEventRecordNode(node, graph, dependencies, count, event); });
}

WARPGAUGE_API CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return call("cuGraphEventRecordNodeGetEvent",
              [&] { return cudaGraphEventRecordNodeGetEvent(node, event); });
}

WARPGAUGE_API CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return call("cuGraphEventRecordNodeSetEvent",
              [&] { return cudaGraphEventRecordNodeSetEvent(node, event); });
}

WARPGAUGE_API CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                                          CUevent event) {
  return call("cuGraphExecEventRecordNodeSetEvent",
              [&] { return cudaGraphExecEventRecordNodeSetEvent(exec, node, event); });
}

WARPGAUGE_API CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph,
                                               const CUgraphNode* dependencies, std::size_t count,
                                               CUevent event) {
  return call("cuGraphAddEventWaitNode",
              [&] { return cudaGraphAddEventWaitNode(node, graph, dependencies, count, event); });
}

WARPGAUGE_API CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return call("cuGraphEventWaitNodeGetEvent",
              [&] { return cudaGraphEventWaitNodeGetEvent(node, event); });
}

WARPGAUGE_API CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return call("cuGraphEventWaitNodeSetEvent",
              [&] { return cudaGraphEventWaitNodeSetEvent(node, event); });
}

WARPGAUGE_API CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                                        CUevent event) {
  return call("cuGraphExecEventWaitNodeSetEvent",
              [&] { return cudaGraphExecEventWaitNodeSetEvent(exec, node, event); });
}

WARPGAUGE_API CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph,
                                              const CUgraphNode* dependencies, std::size_t count,
                                              CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  return call("cuGraphAddMemAllocNode", [&] {
    if (p == nullptr) return cudaGraphAddMemAllocNode(node, graph, dependencies, count, nullptr);
    cudaMemAllocNodeParams same{};
    same.poolProps = pool_of(p->poolProps);
    same.bytesize = p->bytesize;
    const auto error = cudaGraphAddMemAllocNode(node, graph, dependencies, count, &same);
    if (error == cudaSuccess) p->dptr = reinterpret_cast<CUdeviceptr>(same.dptr);
    return error;
  });
}

WARPGAUGE_API CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node,
                                                    CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  return call("cuGraphMemAllocNodeGetParams", [&] {
    cudaMemAllocNodeParams same{};
    const auto error = cudaGraphMemAllocNodeGetParams(node, p == nullptr ? nullptr : &same);
    if (error != cudaSuccess) return error;
    *p = {std::bit_cast<CUmemPoolProps>(same.poolProps), nullptr, 0, same.bytesize,
          reinterpret_cast<CUdeviceptr>(same.dptr)};
    return error;
  });
}

WARPGAUGE_API CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph,
                                             const CUgraphNode* dependencies, std::size_t count,
                                             CUdeviceptr memory) {
  return call("cuGraphAddMemFreeNode", [&] {
    return cudaGraphAddMemFreeNode(node, graph, dependencies, count, pointer(memory));
  });
}

WARPGAUGE_API CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* memory) {
  return call("cuGraphMemFreeNodeGetParams",
              [&] { return cudaGraphMemFreeNodeGetParams(node, memory); });
}

WARPGAUGE_API CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph,
                                         const CUgraphNode* dependencies,
                                         const CUgraphEdgeData* edges, std::size_t count,
                                         CUgraphNodeParams* p) {
  return any_node("cuGraphAddNode", p, [&](cudaGraphNodeParams* same) {
    return cudaGraphAddNode(node, graph, dependencies,
                            reinterpret_cast<const cudaGraphEdgeData*>(edges), count, same);
  });
}

WARPGAUGE_API CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph,
                                      const CUgraphNode* dependencies, std::size_t count,
                                      CUgraphNodeParams* p) {
  return cuGraphAddNode_v2(node, graph, dependencies, nullptr, count, p);
}

WARPGAUGE_API CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  return any_node("cuGraphNodeSetParams", p,
                  [&](cudaGraphNodeParams* same) { return cudaGraphNodeSetParams(node, same); });
}

WARPGAUGE_API CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                CUgraphNodeParams* p) {
  return any_node("cuGraphExecNodeSetParams", p, [&](cudaGraphNodeParams* same) {
    return cudaGraphExecNodeSetParams(exec, node, same);
  });
}

}  // namespace warpgauge::emulator::driver
