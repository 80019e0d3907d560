// Functions that make, copy and ask graphs, whatever their nodes do.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <ranges>
#include <utility>
#include <vector>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/graph.h"
#include "harness/emulator/runtime/graph_handles.h"

namespace warpgauge::emulator::runtime {
namespace {

/// Whether a graph or one inside of it has a node that `is` holds for.
bool has_node(const Graph& graph, const std::function<bool(const Node&)>& is) {
  return std::ranges::any_of(graph.nodes(), [&](const auto& node) {
    return is(*node) || std::ranges::any_of(graphs_in(node->work), [&](const auto& inside) {
             return has_node(*inside, is);
           });
  });
}

using Edge = std::pair<const Node*, const Node*>;  // from, to

std::vector<Edge> edges_of(const Graph& graph) {
  std::vector<Edge> out;
  for (const auto& node : graph.nodes()) {
    for (const Node* from : node->dependencies) out.emplace_back(from, node.get());
  }
  return out;
}

std::vector<const Node*> dependents_of(const Node& node) {
  std::vector<const Node*> out;
  for (const auto& [from, to] : edges_of(*node.graph)) {
    if (from == &node) out.push_back(to);
  }
  return out;
}

/// Fills an array of the caller, which has room for `*count`: the rest is null. Without an array,
/// only counts.
template <typename Nodes>
void give(const Nodes& nodes, cudaGraphNode_t* out, std::size_t* count) {
  require(count != nullptr);
  if (out != nullptr) {
    const std::size_t room = std::exchange(*count, std::min(*count, nodes.size()));
    const auto rest =
        std::ranges::transform(nodes | std::views::take(*count), out, [](const auto& node) {
          return handle_of(&*node);
        }).out;
    std::fill(rest, out + room, nullptr);
  } else {
    *count = nodes.size();
  }
}

[[maybe_unused]] void give_edges(const std::vector<Edge>& edges, cudaGraphNode_t* from,
                                 cudaGraphNode_t* to, std::size_t* count) {
  require(count != nullptr && (from == nullptr) == (to == nullptr));
  std::vector<const Node*> begins, ends;
  for (const auto& [begin, end] : edges) {
    begins.push_back(begin);
    ends.push_back(end);
  }
  std::size_t room = *count;
  give(begins, from, &room);
  give(ends, to, count);
}

}  // namespace

WARPGAUGE_API cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call(__func__, [&](State& state) {
    require(graph != nullptr && flags == 0);
    Graphs& graphs = state.device().graphs;
    auto made = std::make_shared<Graph>(graphs.handles);
    *graph = handle_of(made.get());
    graphs.made[made.get()] = std::move(made);
  });
}

WARPGAUGE_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call(__func__,
              [&](State& state) { require(state.device().graphs.made.erase(graph) == 1); });
}

WARPGAUGE_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return call(__func__, [&](State& state) {
    Node& gone = node_of(state, node);
    const bool has_memory = std::holds_alternative<MemoryAllocation>(gone.work) ||
                            std::holds_alternative<MemoryRelease>(gone.work);
    require(!has_memory, cudaErrorNotSupported);  // as CUDA
    gone.graph->remove(gone);
  });
}

WARPGAUGE_API cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return call(__func__, [&](State& state) {
    require(clone != nullptr);
    const Graph& graph = graph_of(state, original);
    require(!has_node(graph,
                      [](const Node& node) {
                        return std::holds_alternative<MemoryAllocation>(node.work) ||
                               std::holds_alternative<MemoryRelease>(node.work) ||
                               std::holds_alternative<Condition>(node.work);
                      }),
            cudaErrorNotSupported);  // as CUDA
    auto made = graph.clone();
    *clone = handle_of(made.get());
    state.device().graphs.made[made.get()] = std::move(made);
  });
}

WARPGAUGE_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* found, cudaGraphNode_t original,
                                                   cudaGraph_t clone) {
  return call(__func__, [&](State& state) {
    require(found != nullptr);
    const Node* const node = graph_of(state, clone).clone_of(node_of(state, original));
    require(node != nullptr);
    *found = handle_of(node);
  });
}

WARPGAUGE_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call(__func__, [&](State& state) {
    // In the order of Work.
    constexpr cudaGraphNodeType kTypes[] = {
        cudaGraphNodeTypeKernel,      cudaGraphNodeTypeMemcpy,      cudaGraphNodeTypeMemset,
        cudaGraphNodeTypeHost,        cudaGraphNodeTypeGraph,       cudaGraphNodeTypeEmpty,
        cudaGraphNodeTypeWaitEvent,   cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeMemAlloc,
        cudaGraphNodeTypeMemFree,
#if CUDART_VERSION >= 12040
        cudaGraphNodeTypeConditional,
#endif
    };
    require(type != nullptr);
    *type = kTypes[node_of(state, node).work.index()];
  });
}

WARPGAUGE_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                                            std::size_t* count) {
  return call(__func__, [&](State& state) { give(graph_of(state, graph).nodes(), nodes, count); });
}

WARPGAUGE_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                                                std::size_t* count) {
  return call(__func__, [&](State& state) {
    std::vector<const Node*> roots;
    for (const auto& node : graph_of(state, graph).nodes()) {
      if (node->dependencies.empty()) roots.push_back(node.get());
    }
    give(roots, nodes, count);
  });
}

#if CUDART_VERSION >= 13000  // these had other parameters before

// All edges have the data of a whole dependency: work is done in order, one node after the other.

WARPGAUGE_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                            cudaGraphNode_t* to, cudaGraphEdgeData* data,
                                            std::size_t* count) {
  return call(__func__, [&](State& state) {
    give_edges(edges_of(graph_of(state, graph)), from, to, count);
    if (data != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
  });
}

WARPGAUGE_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                       cudaGraphEdgeData* data,
                                                       std::size_t* count) {
  return call(__func__, [&](State& state) {
    give(node_of(state, node).dependencies, nodes, count);
    if (data != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
  });
}

WARPGAUGE_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                         cudaGraphNode_t* nodes,
                                                         cudaGraphEdgeData* data,
                                                         std::size_t* count) {
  return call(__func__, [&](State& state) {
    give(dependents_of(node_of(state, node)), nodes, count);
    if (data != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
  });
}

WARPGAUGE_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to,
                                                   const cudaGraphEdgeData*, std::size_t count) {
  return call(__func__, [&](State& state) {
    const Graph& changed = graph_of(state, graph);
    const auto begins = nodes_of(state, from, count), ends = nodes_of(state, to, count);
    for (std::size_t i = 0; i < count; ++i) {
      require(begins[i]->graph == &changed && ends[i]->graph == &changed && begins[i] != ends[i]);
      require(std::ranges::find(ends[i]->dependencies, begins[i]) == ends[i]->dependencies.end());
      ends[i]->dependencies.push_back(begins[i]);
    }
  });
}

WARPGAUGE_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph,
                                                      const cudaGraphNode_t* from,
                                                      const cudaGraphNode_t* to,
                                                      const cudaGraphEdgeData*, std::size_t count) {
  return call(__func__, [&](State& state) {
    const Graph& changed = graph_of(state, graph);
    const auto begins = nodes_of(state, from, count), ends = nodes_of(state, to, count);
    for (std::size_t i = 0; i < count; ++i) {
      require(begins[i]->graph == &changed && ends[i]->graph == &changed);
      require(std::erase(ends[i]->dependencies, begins[i]) == 1);
    }
  });
}

#endif

}  // namespace warpgauge::emulator::runtime
