// Nodes of graphs: from their parameters to their work.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

#include "harness/emulator/runtime/failure.h"
#include "harness/emulator/runtime/graph.h"
#include "harness/emulator/runtime/graph_handles.h"
#include "harness/emulator/runtime/launch.h"

namespace warpgauge::emulator::runtime {

using MakeWork = std::function<Work(State&)>;

// The frames of functions that add a node, and that change one in a graph or in a graph that was
// instantiated. Work of another kind than a node's fails with cudaErrorInvalidValue.
cudaError_t add_node(const char* name, cudaGraphNode_t* node, cudaGraph_t graph,
                     const cudaGraphNode_t* dependencies, std::size_t count, const MakeWork& work);
cudaError_t set_node(const char* name, cudaGraphNode_t node, const MakeWork& work);
cudaError_t set_node(const char* name, cudaGraphExec_t exec, cudaGraphNode_t node,
                     const MakeWork& work);

/// The node of an instantiated graph that was made from `node`. Throws Failure with
/// cudaErrorInvalidValue.
Node& node_in(State& state, cudaGraphExec_t exec, cudaGraphNode_t node);

/// The work of a node, if it is of this kind. Throws Failure with cudaErrorInvalidValue.
template <typename Kind>
Kind& work_of(State& state, cudaGraphNode_t node) {
  Kind* const work = std::get_if<Kind>(&node_of(state, node).work);
  require(work != nullptr);
  return *work;
}

// Parameters have a second version with the same members.

template <typename Parameters>
KernelCall kernel_call(State& state, const Parameters* p) {
  require(p != nullptr && p->extra == nullptr);
  const auto& grid = p->gridDim;
  const auto& block = p->blockDim;
  KernelCall call{
      p->func, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, p->sharedMemBytes};
  pack_arguments(state, call, p->kernelParams);
  return call;
}

template <typename Parameters>
Fill fill_of(const Parameters* p) {
  require(p != nullptr);
  require(p->elementSize == 1 || p->elementSize == 2 || p->elementSize == 4);
  const std::size_t width = p->width * p->elementSize;
  require(p->height <= 1 || width <= p->pitch);
  return {{static_cast<std::byte*>(p->dst), p->pitch, 0},
          {width, p->height, 1},
          p->value,
          p->elementSize};
}

template <typename Parameters>
HostCall host_call(const Parameters* p) {
  require(p != nullptr && p->fn != nullptr);
  return {p->fn, p->userData};
}

}  // namespace warpgauge::emulator::runtime
