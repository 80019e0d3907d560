// Graphs as text for Graphviz.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <fstream>
#include <string>
#include <unordered_map>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/functions.h"
#include "harness/emulator/runtime/graph.h"
#include "harness/emulator/runtime/graph_handles.h"

namespace warpgauge::emulator::runtime {
namespace {

std::string label_of(State& state, const Work& work) {
  // In the order of Work.
  constexpr const char* kLabels[] = {"KERNEL",      "MEMCPY",   "MEMSET",     "HOST",
                                     "CHILD_GRAPH", "EMPTY",    "EVENT_WAIT", "EVENT_RECORD",
                                     "MEM_ALLOC",   "MEM_FREE", "CONDITIONAL"};
  std::string out = kLabels[work.index()];
  if (const auto* const call = std::get_if<KernelCall>(&work)) {
    const auto& [kernel, grid, block, shared, attributes, parameters] = *call;
    out +=
        fmt::format("\\n{}\\n{}x{}x{} blocks of {}x{}x{} threads", function_of(state, kernel).name,
                    grid.x, grid.y, grid.z, block.x, block.y, block.z);
  }
  return out;
}

/// Numbers the nodes of all graphs, from `number` on.
void write(State& state, const Graph& graph, std::ostream& out, int& number) {
  std::unordered_map<const Node*, int> numbers;
  for (const auto& node : graph.nodes()) {
    numbers[node.get()] = ++number;
    out << fmt::format("  node_{} [label=\"{}\"];\n", number, label_of(state, node->work));
  }
  for (const auto& node : graph.nodes()) {
    for (const Node* from : node->dependencies) {
      out << fmt::format("  node_{} -> node_{};\n", numbers[from], numbers[node.get()]);
    }
    for (const auto& inside : graphs_in(node->work)) {
      out << fmt::format("  subgraph cluster_{} {{\n", ++number);
      write(state, *inside, out, number);
      out << "  }\n";
    }
  }
}

}  // namespace

// The flags ask for more than is written here.
WARPGAUGE_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  return call(__func__, [&](State& state) {
    require(path != nullptr);
    const Graph& written = graph_of(state, graph);
    std::ofstream out(path);
    int number = 0;
    out << "digraph graph_1 {\n";
    write(state, written, out, number);
    out << "}\n";
    require(out.good(), cudaErrorOperatingSystem);
  });
}

}  // namespace warpgauge::emulator::runtime
