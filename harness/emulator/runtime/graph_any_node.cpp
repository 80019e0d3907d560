// Memory and conditional nodes of graphs, and nodes of any kind.
#include <cuda_runtime_api.h>

#include <utility>

#include "harness/emulator/machine/core/graph_condition.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/graph_handles.h"
#include "harness/emulator/runtime/graph_memory.h"
#include "harness/emulator/runtime/graph_nodes.h"
#include "harness/emulator/runtime/memcpy.h"
#include "harness/emulator/runtime/streams.h"

namespace warpgauge::emulator::runtime {
namespace {

/// Writes the address to the parameters.
template <typename Parameters>
MemoryAllocation allocation_of(Parameters* p) {
  require(p != nullptr && p->bytesize > 0);
  require(p->poolProps.allocType == cudaMemAllocationTypePinned &&
          p->poolProps.handleTypes == cudaMemHandleTypeNone);
  auto memory = reserve_graph_memory(p->bytesize, p->poolProps);
  p->dptr = memory->begin;
  return {std::move(memory)};
}

MemoryRelease release_of(void* memory) {
  require(memory != nullptr);
  return {memory};
}

}  // namespace

WARPGAUGE_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                   const cudaGraphNode_t* dependencies,
                                                   std::size_t count, cudaMemAllocNodeParams* p) {
  return add_node(__func__, node, graph, dependencies, count,
                  [&](State&) { return allocation_of(p); });
}

WARPGAUGE_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                         cudaMemAllocNodeParams* p) {
  return call(__func__, [&](State& state) {
    require(p != nullptr);
    const GraphMemory& memory = *work_of<MemoryAllocation>(state, node).memory;
    *p = {};
    p->poolProps = memory.pool;
    p->bytesize = memory.bytes;
    p->dptr = memory.begin;
  });
}

WARPGAUGE_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  const cudaGraphNode_t* dependencies,
                                                  std::size_t count, void* memory) {
  return add_node(__func__, node, graph, dependencies, count,
                  [&](State&) { return release_of(memory); });
}

WARPGAUGE_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* memory) {
  return call(__func__, [&](State& state) {
    require(memory != nullptr);
    *static_cast<void**>(memory) = work_of<MemoryRelease>(state, node).memory;
  });
}

#if CUDART_VERSION >= 12040

// A handle is the address of the condition's value, which kernels set by cudaGraphSetConditional.
WARPGAUGE_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle,
                                                           cudaGraph_t graph, unsigned value,
                                                           unsigned flags) {
  return call(__func__, [&](State& state) {
    require(handle != nullptr && flags <= cudaGraphCondAssignDefault);
    graph_of(state, graph);
    std::byte* const made = state.memory().allocate(
        sizeof value, machine::memory::Memory::Kind::symbol, machine::kConditionName);
    require(made != nullptr, cudaErrorMemoryAllocation);
    *reinterpret_cast<unsigned*>(made) = value;
    *handle = reinterpret_cast<cudaGraphConditionalHandle>(made);
    if (flags == cudaGraphCondAssignDefault) state.device().graphs.conditions[*handle] = value;
  });
}

#endif

#if CUDART_VERSION >= 13000  // cudaGraphAddNode had other parameters before

namespace {

Condition condition_of(State& state, cudaConditionalNodeParams& p) {
  const auto memory = state.memory().find(reinterpret_cast<const void*>(p.handle));
  require(memory && memory->name == machine::kConditionName);
  const unsigned most = p.type == cudaGraphCondTypeIf      ? 2
                        : p.type == cudaGraphCondTypeWhile ? 1
                                                           : 1U << 16;
  require(p.size > 0 && p.size <= most);
  Condition out{.handle = p.handle, .type = p.type};
  for (unsigned i = 0; i < p.size; ++i) {
    out.bodies.push_back(std::make_shared<Graph>(state.device().graphs.handles));
    out.handles.push_back(handle_of(out.bodies.back().get()));
  }
  p.phGraph_out = out.handles.data();  // moves along with the node
  return out;
}

Child child_of(State& state, const cudaChildGraphNodeParams& p) {
  if (p.ownership == cudaGraphChildGraphOwnershipClone) {
    return {graph_of(state, p.graph).clone()};
  }
  auto& graphs = state.device().graphs.made;
  const auto found = graphs.find(p.graph);
  require(p.ownership == cudaGraphChildGraphOwnershipMove && found != graphs.end());
  return {std::move(graphs.extract(found).mapped())};
}

/// Writes to the parameters what they give back.
Work work_of(State& state, cudaGraphNodeParams* p) {
  require(p != nullptr);
  switch (p->type) {
    case cudaGraphNodeTypeKernel:
      return kernel_call(state, &p->kernel);
    case cudaGraphNodeTypeMemcpy:
      return copy_of(state, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return fill_of(&p->memset);
    case cudaGraphNodeTypeHost:
      return host_call(&p->host);
    case cudaGraphNodeTypeGraph:
      return child_of(state, p->graph);
    case cudaGraphNodeTypeEmpty:
      return Nothing{};
    case cudaGraphNodeTypeWaitEvent:
      event_of(state, p->eventWait.event);
      return EventWait{p->eventWait.event};
    case cudaGraphNodeTypeEventRecord:
      event_of(state, p->eventRecord.event);
      return EventRecord{p->eventRecord.event};
    case cudaGraphNodeTypeMemAlloc:
      return allocation_of(&p->alloc);
    case cudaGraphNodeTypeMemFree:
      return release_of(p->free.dptr);
    case cudaGraphNodeTypeConditional:
      return condition_of(state, p->conditional);
    default:
      throw Failure{cudaErrorNotSupported, "nodes of external semaphores are not emulated"};
  }
}

/// The same for parameters that change a node.
Work changed_work(State& state, cudaGraphNodeParams* p) {
  require(p != nullptr);
  const bool can_change = p->type != cudaGraphNodeTypeMemAlloc &&
                          p->type != cudaGraphNodeTypeMemFree &&
                          p->type != cudaGraphNodeTypeConditional;
  require(can_change);
  return work_of(state, p);
}

}  // namespace

WARPGAUGE_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies,
                                           const cudaGraphEdgeData*, std::size_t count,
                                           cudaGraphNodeParams* p) {
  return add_node(__func__, node, graph, dependencies, count,
                  [&](State& state) { return work_of(state, p); });
}

WARPGAUGE_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return set_node(__func__, node, [&](State& state) { return changed_work(state, p); });
}

WARPGAUGE_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     cudaGraphNodeParams* p) {
  return set_node(__func__, exec, node, [&](State& state) { return changed_work(state, p); });
}

#endif

}  // namespace warpgauge::emulator::runtime
