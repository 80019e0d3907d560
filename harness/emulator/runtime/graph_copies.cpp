// Memcpy nodes of graphs.
#include <cuda_runtime_api.h>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/graph_nodes.h"
#include "harness/emulator/runtime/memcpy.h"

namespace warpgauge::emulator::runtime {

WARPGAUGE_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* dependencies,
                                                 std::size_t count, const cudaMemcpy3DParms* p) {
  return add_node(__func__, node, graph, dependencies, count,
                  [&](State& state) { return copy_of(state, p); });
}

WARPGAUGE_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                       const cudaMemcpy3DParms* p) {
  return set_node(__func__, node, [&](State& state) { return copy_of(state, p); });
}

WARPGAUGE_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec,
                                                           cudaGraphNode_t node,
                                                           const cudaMemcpy3DParms* p) {
  return set_node(__func__, exec, node, [&](State& state) { return copy_of(state, p); });
}

WARPGAUGE_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* p) {
  return call(__func__, [&](State& state) {
    require(p != nullptr);
    *p = parameters_of(state, work_of<Copy>(state, node));
  });
}

WARPGAUGE_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                                   const cudaGraphNode_t* dependencies,
                                                   std::size_t count, void* destination,
                                                   const void* source, std::size_t bytes,
                                                   cudaMemcpyKind kind) {
  return add_node(__func__, node, graph, dependencies, count,
                  [&](State&) { return copy_of(destination, source, bytes, kind); });
}

WARPGAUGE_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* destination,
                                                         const void* source, std::size_t bytes,
                                                         cudaMemcpyKind kind) {
  return set_node(__func__, node,
                  [&](State&) { return copy_of(destination, source, bytes, kind); });
}

WARPGAUGE_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec,
                                                             cudaGraphNode_t node,
                                                             void* destination, const void* source,
                                                             std::size_t bytes,
                                                             cudaMemcpyKind kind) {
  return set_node(__func__, exec, node,
                  [&](State&) { return copy_of(destination, source, bytes, kind); });
}

WARPGAUGE_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                         const cudaGraphNode_t* dependencies,
                                                         std::size_t count, const void* symbol,
                                                         const void* source, std::size_t bytes,
                                                         std::size_t offset, cudaMemcpyKind kind) {
  return add_node(__func__, node, graph, dependencies, count, [&](State& state) {
    return copy_to_symbol(state, symbol, source, bytes, offset, kind);
  });
}

WARPGAUGE_API cudaError_t
cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* source,
                                     std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set_node(__func__, node, [&](State& state) {
    return copy_to_symbol(state, symbol, source, bytes, offset, kind);
  });
}

WARPGAUGE_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(
    cudaGraphExec_t exec, cudaGraphNode_t node, const void* symbol, const void* source,
    std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set_node(__func__, exec, node, [&](State& state) {
    return copy_to_symbol(state, symbol, source, bytes, offset, kind);
  });
}

WARPGAUGE_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                           const cudaGraphNode_t* dependencies,
                                                           std::size_t count, void* destination,
                                                           const void* symbol, std::size_t bytes,
                                                           std::size_t offset,
                                                           cudaMemcpyKind kind) {
  return add_node(__func__, node, graph, dependencies, count, [&](State& state) {
    return copy_from_symbol(state, destination, symbol, bytes, offset, kind);
  });
}

WARPGAUGE_API cudaError_t
cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* destination, const void* symbol,
                                       std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set_node(__func__, node, [&](State& state) {
    return copy_from_symbol(state, destination, symbol, bytes, offset, kind);
  });
}

WARPGAUGE_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(
    cudaGraphExec_t exec, cudaGraphNode_t node, void* destination, const void* symbol,
    std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set_node(__func__, exec, node, [&](State& state) {
    return copy_from_symbol(state, destination, symbol, bytes, offset, kind);
  });
}

}  // namespace warpgauge::emulator::runtime
