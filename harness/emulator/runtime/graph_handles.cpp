// Finds the graphs and nodes that a program's handles mean.
#include "harness/emulator/runtime/graph_handles.h"

#include "harness/emulator/runtime/failure.h"
#include "harness/emulator/runtime/state.h"

namespace warpgauge::emulator::runtime {

std::shared_ptr<GraphExec> exec_of(State& state, cudaGraphExec_t exec) {
  const auto& known = state.device().graphs.instantiated;
  const auto found = known.find(exec);
  require(found != known.end());
  return found->second;
}

Graph& graph_of(State& state, cudaGraph_t graph) {
  auto* const meant = reinterpret_cast<Graph*>(graph);
  require(state.device().graphs.handles->graphs.contains(meant));
  return *meant;
}

Node& node_of(State& state, cudaGraphNode_t node) {
  auto* const meant = reinterpret_cast<Node*>(node);
  require(state.device().graphs.handles->nodes.contains(meant));
  return *meant;
}

std::vector<Node*> nodes_of(State& state, const cudaGraphNode_t* nodes, std::size_t count) {
  require(nodes != nullptr || count == 0);
  std::vector<Node*> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(&node_of(state, nodes[i]));
  return out;
}

}  // namespace warpgauge::emulator::runtime
