// The graphs and nodes that a program's handles mean.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "harness/emulator/runtime/graph.h"

namespace warpgauge::emulator::runtime {

class State;

// These throw Failure with cudaErrorInvalidValue for what is none.
std::shared_ptr<GraphExec> exec_of(State& state, cudaGraphExec_t exec);
Graph& graph_of(State& state, cudaGraph_t graph);
Node& node_of(State& state, cudaGraphNode_t node);
std::vector<Node*> nodes_of(State& state, const cudaGraphNode_t* nodes, std::size_t count);

}  // namespace warpgauge::emulator::runtime
