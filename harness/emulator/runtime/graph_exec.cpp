// Graphs that were instantiated: their launches and updates. The nodes of a launch run one after
// the other, and have run when it returns.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/capture.h"
#include "harness/emulator/runtime/graph_handles.h"
#include "harness/emulator/runtime/graph_memory.h"
#include "harness/emulator/runtime/graph_nodes.h"

namespace warpgauge::emulator::runtime {
namespace {

constexpr char kLaunch[] = "cudaGraphLaunch";

void instantiate(State& state, cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  constexpr unsigned long long kKnown =
      cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
      cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
  require(exec != nullptr && (flags & ~kKnown) == 0);
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) {
    throw Failure{cudaErrorNotSupported, "graphs that kernels launch are not emulated"};
  }
  auto made = std::make_shared<GraphExec>(GraphExec{graph_of(state, graph).clone(), flags});
  *exec = reinterpret_cast<cudaGraphExec_t>(made.get());
  state.device().graphs.instantiated[made.get()] = std::move(made);
}

/// Does all that a launch does before its first node.
void prepare(State& state, const Graph& graph, bool frees_memory) {
  for (const auto& node : graph.nodes()) {
    if (const auto* const allocation = std::get_if<MemoryAllocation>(&node->work)) {
      if (frees_memory) free_graph_memory(state, allocation->memory->begin);
    }
#if CUDART_VERSION >= 12040
    if (const auto* const condition = std::get_if<Condition>(&node->work)) {
      const auto& values = state.device().graphs.conditions;
      const auto value = values.find(condition->handle);
      if (value != values.end()) *reinterpret_cast<unsigned*>(condition->handle) = value->second;
    }
#endif
    for (const auto& inside : graphs_in(node->work)) prepare(state, *inside, frees_memory);
  }
}

/// One launch. Host functions run without the lock: they may take theirs.
class Run {
 public:
  void run(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      if (is_over()) return;
      if (node->enabled) std::visit([&](const auto& work) { run(work); }, node->work);
    }
  }
  cudaError_t error() const { return error_; }

 private:
  bool is_over() const { return faulted_ || error_ != cudaSuccess; }

  void run(const Nothing&) {}
  void run(const HostCall& call) { call.function(call.data); }
  void run(const Child& child) { run(*child.graph); }
  void run(const Condition& condition);
  template <typename Kind>
  void run(const Kind& work) {
    error_ = call(kLaunch, [&](State& state) {
      perform(state, work);
      faulted_ = state.fault != cudaSuccess;
    });
  }

  cudaError_t error_ = cudaSuccess;
  bool faulted_ = false;  ///< a kernel has: later calls report it
};

void Run::run([[maybe_unused]] const Condition& condition) {
#if CUDART_VERSION >= 12040
  const auto& value = *reinterpret_cast<const unsigned*>(condition.handle);
  const auto& bodies = condition.bodies;
  switch (condition.type) {
    case cudaGraphCondTypeIf:
      if (value != 0) {
        run(*bodies[0]);
      } else if (bodies.size() > 1) {
        run(*bodies[1]);
      }
      break;
    case cudaGraphCondTypeWhile:
      while (value != 0 && !is_over()) run(*bodies[0]);
      break;
    case cudaGraphCondTypeSwitch:
      if (value < bodies.size()) run(*bodies[value]);
      break;
  }
#endif
}

/// Why one graph cannot take the work of another.
struct Difference {
  cudaGraphExecUpdateResult result;
  const Node* node = nullptr;
};

std::vector<std::size_t> places_of_dependencies(const Graph& graph, const Node& node) {
  std::vector<std::size_t> out;
  for (const Node* dependency : node.dependencies) {
    const auto found = std::ranges::find(graph.nodes(), dependency, &std::unique_ptr<Node>::get);
    out.push_back(static_cast<std::size_t>(found - graph.nodes().begin()));
  }
  return out;
}

std::optional<cudaGraphExecUpdateResult> difference(const Work& before, const Work& after) {
  if (before.index() != after.index()) return cudaGraphExecUpdateErrorNodeTypeChanged;
  if (const auto* const copy = std::get_if<Copy>(&before)) {
    const auto& changed = std::get<Copy>(after);
    const bool same = copy->destination.side == changed.destination.side &&
                      copy->source.side == changed.source.side;
    if (!same) return cudaGraphExecUpdateErrorParametersChanged;
  }
  const bool has_memory = std::holds_alternative<MemoryAllocation>(before) ||
                          std::holds_alternative<MemoryRelease>(before);
  if (has_memory) return cudaGraphExecUpdateErrorNotSupported;
  return std::nullopt;
}

std::optional<Difference> difference(const Graph& before, const Graph& after) {
  if (before.nodes().size() != after.nodes().size()) {
    return Difference{cudaGraphExecUpdateErrorTopologyChanged};
  }
  for (std::size_t i = 0; i < before.nodes().size(); ++i) {
    const Node& old = *before.nodes()[i];
    const Node& changed = *after.nodes()[i];
    if (places_of_dependencies(before, old) != places_of_dependencies(after, changed)) {
      return Difference{cudaGraphExecUpdateErrorTopologyChanged, changed.original};
    }
    if (const auto result = difference(old.work, changed.work)) {
      return Difference{*result, changed.original};
    }
    const auto inside = graphs_in(old.work), changed_inside = graphs_in(changed.work);
    if (inside.size() != changed_inside.size()) {
      return Difference{cudaGraphExecUpdateErrorParametersChanged, changed.original};
    }
    for (std::size_t n = 0; n < inside.size(); ++n) {
      if (auto found = difference(*inside[n], *changed_inside[n])) return found;
    }
  }
  return std::nullopt;
}

/// Gives the nodes of a graph the work of those of another, which has no difference.
void take_work(const Graph& graph, const Graph& from) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    Work& work = graph.nodes()[i]->work;
    Work& changed = from.nodes()[i]->work;
    const auto inside = graphs_in(work), changed_inside = graphs_in(changed);
    if (inside.empty()) work = std::move(changed);
    for (std::size_t n = 0; n < inside.size(); ++n) take_work(*inside[n], *changed_inside[n]);
  }
}

}  // namespace

WARPGAUGE_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                               unsigned long long flags) {
  return call(__func__, [&](State& state) { instantiate(state, exec, graph, flags); });
}

WARPGAUGE_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                        unsigned long long flags) {
  return call(__func__, [&](State& state) { instantiate(state, exec, graph, flags); });
}

WARPGAUGE_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                         cudaGraphInstantiateParams* p) {
  return call(__func__, [&](State& state) {
    require(p != nullptr);
    p->errNode_out = nullptr;
    p->result_out = cudaGraphInstantiateError;
    instantiate(state, exec, graph, p->flags);
    p->result_out = cudaGraphInstantiateSuccess;
  });
}

WARPGAUGE_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call(__func__,
              [&](State& state) { require(state.device().graphs.instantiated.erase(exec) == 1); });
}

WARPGAUGE_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  return call(__func__, [&](State& state) {
    require(flags != nullptr);
    *flags = exec_of(state, exec)->flags;
  });
}

WARPGAUGE_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    exec_of(state, exec);
    refuse_captured(state, stream);
  });
}

WARPGAUGE_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  std::shared_ptr<GraphExec> launched;
  const cudaError_t error = call(kLaunch, [&](State& state) {
    const auto found = exec_of(state, exec);
    require_stream(state, stream);
    if (CapturePoint* const point = capture_point(state, stream)) {
      capture(*point, Child{found->graph->clone()});
      return;
    }
    prepare(state, *found->graph, (found->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0);
    launched = found;
  });
  if (launched == nullptr) return error;
  Run run;
  run.run(*launched->graph);
  return run.error();
}

WARPGAUGE_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                              cudaGraphExecUpdateResultInfo* result) {
  return call(__func__, [&](State& state) {
    require(result != nullptr);
    *result = {cudaGraphExecUpdateError, nullptr, nullptr};
    const auto found = exec_of(state, exec);
    const auto changed = graph_of(state, graph).clone();
    if (const auto difference = runtime::difference(*found->graph, *changed)) {
      *result = {difference->result,
                 difference->node == nullptr ? nullptr : handle_of(difference->node), nullptr};
      throw Failure{cudaErrorGraphExecUpdateFailure};
    }
    take_work(*found->graph, *changed);
    result->result = cudaGraphExecUpdateSuccess;
  });
}

WARPGAUGE_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                  unsigned enabled) {
  return call(__func__, [&](State& state) {
    Node& changed = node_in(state, exec, node);
    const bool can_be_disabled = std::holds_alternative<KernelCall>(changed.work) ||
                                 std::holds_alternative<Copy>(changed.work) ||
                                 std::holds_alternative<Fill>(changed.work);
    require(can_be_disabled);
    changed.enabled = enabled != 0;
  });
}

WARPGAUGE_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                  unsigned* enabled) {
  return call(__func__, [&](State& state) {
    require(enabled != nullptr);
    *enabled = node_in(state, exec, node).enabled ? 1 : 0;
  });
}

WARPGAUGE_PER_THREAD(cudaGraphInstantiateWithParams, _ptsz)
WARPGAUGE_PER_THREAD(cudaGraphUpload, _ptsz)
WARPGAUGE_PER_THREAD(cudaGraphLaunch, _ptsz)

}  // namespace warpgauge::emulator::runtime
