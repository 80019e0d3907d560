// Kernel, memset, host, child, empty and event nodes of graphs.
#include "harness/emulator/runtime/graph_nodes.h"

#include <utility>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/functions.h"
#include "harness/emulator/runtime/graph_handles.h"
#include "harness/emulator/runtime/launch.h"
#include "harness/emulator/runtime/streams.h"

namespace warpgauge::emulator::runtime {
namespace {

void replace(Node& node, Work work) {
  require(node.work.index() == work.index());
  if (auto* const call = std::get_if<KernelCall>(&work)) {
    call->attributes = std::get<KernelCall>(node.work).attributes;
  }
  node.work = std::move(work);
}

Work event_wait(State& state, cudaEvent_t event) {
  event_of(state, event);
  return EventWait{event};
}

Work event_record(State& state, cudaEvent_t event) {
  event_of(state, event);
  return EventRecord{event};
}

Work child_of(State& state, cudaGraph_t graph) { return Child{graph_of(state, graph).clone()}; }

/// The work of a child graph whose nodes are to be those of another graph.
Work same_child(State& state, const Node& node, cudaGraph_t graph) {
  const Child* const child = std::get_if<Child>(&node.work);
  require(child != nullptr);
  auto changed = graph_of(state, graph).clone();
  require(changed->nodes().size() == child->graph->nodes().size());
  return Child{std::move(changed)};
}

template <typename Kind>
cudaError_t get_event(const char* name, cudaGraphNode_t node, cudaEvent_t* event) {
  return call(name, [&](State& state) {
    require(event != nullptr);
    *event = work_of<Kind>(state, node).event;
  });
}

}  // namespace

cudaError_t add_node(const char* name, cudaGraphNode_t* node, cudaGraph_t graph,
                     const cudaGraphNode_t* dependencies, std::size_t count, const MakeWork& work) {
  return call(name, [&](State& state) {
    require(node != nullptr);
    Graph& to = graph_of(state, graph);
    const auto nodes = nodes_of(state, dependencies, count);
    *node = handle_of(&to.add(work(state), nodes));
  });
}

cudaError_t set_node(const char* name, cudaGraphNode_t node, const MakeWork& work) {
  return call(name, [&](State& state) { replace(node_of(state, node), work(state)); });
}

cudaError_t set_node(const char* name, cudaGraphExec_t exec, cudaGraphNode_t node,
                     const MakeWork& work) {
  return call(name, [&](State& state) { replace(node_in(state, exec, node), work(state)); });
}

Node& node_in(State& state, cudaGraphExec_t exec, cudaGraphNode_t node) {
  Node* const found = exec_of(state, exec)->graph->clone_of(node_of(state, node));
  require(found != nullptr);
  return *found;
}

WARPGAUGE_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* dependencies,
                                                 std::size_t count, const cudaKernelNodeParams* p) {
  return add_node(__func__, node, graph, dependencies, count,
                  [&](State& state) { return kernel_call(state, p); });
}

WARPGAUGE_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                       const cudaKernelNodeParams* p) {
  return set_node(__func__, node, [&](State& state) { return kernel_call(state, p); });
}

WARPGAUGE_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec,
                                                           cudaGraphNode_t node,
                                                           const cudaKernelNodeParams* p) {
  return set_node(__func__, exec, node, [&](State& state) { return kernel_call(state, p); });
}

// The memory that it points to lives as long as the node is not changed.
WARPGAUGE_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                       cudaKernelNodeParams* p) {
  return call(__func__, [&](State& state) {
    require(p != nullptr);
    KernelCall& call = work_of<KernelCall>(state, node);
    auto& places = node_of(state, node).argument_places;
    places.clear();
    for (const auto& parameter : info_of(state, function_of(state, call.kernel)).parameters) {
      places.push_back(call.parameters.data() + parameter.offset);
    }
    *p = {const_cast<void*>(call.kernel),           call.grid,     call.block,
          static_cast<unsigned>(call.shared_bytes), places.data(), nullptr};
  });
}

WARPGAUGE_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node,
                                                          cudaLaunchAttributeID id,
                                                          const cudaLaunchAttributeValue* value) {
  return call(__func__, [&](State& state) {
    require(value != nullptr);
    set_attribute(work_of<KernelCall>(state, node), id, *value);
  });
}

WARPGAUGE_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node,
                                                          cudaLaunchAttributeID id,
                                                          cudaLaunchAttributeValue* value) {
  return call(__func__, [&](State& state) {
    require(value != nullptr);
    const auto& attributes = work_of<KernelCall>(state, node).attributes;
    const auto found = attributes.find(id);
    *value = found == attributes.end() ? cudaLaunchAttributeValue{} : found->second;
  });
}

WARPGAUGE_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to,
                                                            cudaGraphNode_t from) {
  return call(__func__, [&](State& state) {
    const auto attributes = work_of<KernelCall>(state, from).attributes;
    work_of<KernelCall>(state, to).attributes = attributes;
  });
}

WARPGAUGE_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* dependencies,
                                                 std::size_t count, const cudaMemsetParams* p) {
  return add_node(__func__, node, graph, dependencies, count, [&](State&) { return fill_of(p); });
}

WARPGAUGE_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                       const cudaMemsetParams* p) {
  return set_node(__func__, node, [&](State&) { return fill_of(p); });
}

WARPGAUGE_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec,
                                                           cudaGraphNode_t node,
                                                           const cudaMemsetParams* p) {
  return set_node(__func__, exec, node, [&](State&) { return fill_of(p); });
}

WARPGAUGE_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* p) {
  return call(__func__, [&](State& state) {
    require(p != nullptr);
    const Fill& fill = work_of<Fill>(state, node);
    *p = {.dst = fill.box.begin,
          .pitch = fill.box.pitch,
          .value = fill.value,
          .elementSize = fill.element_bytes,
          .width = fill.size.width / fill.element_bytes,
          .height = fill.size.height};
  });
}

WARPGAUGE_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                               const cudaGraphNode_t* dependencies,
                                               std::size_t count, const cudaHostNodeParams* p) {
  return add_node(__func__, node, graph, dependencies, count, [&](State&) { return host_call(p); });
}

WARPGAUGE_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                     const cudaHostNodeParams* p) {
  return set_node(__func__, node, [&](State&) { return host_call(p); });
}

WARPGAUGE_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                         const cudaHostNodeParams* p) {
  return set_node(__func__, exec, node, [&](State&) { return host_call(p); });
}

WARPGAUGE_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* p) {
  return call(__func__, [&](State& state) {
    require(p != nullptr);
    const HostCall& host = work_of<HostCall>(state, node);
    *p = {host.function, host.data};
  });
}

WARPGAUGE_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                     const cudaGraphNode_t* dependencies,
                                                     std::size_t count, cudaGraph_t child) {
  return add_node(__func__, node, graph, dependencies, count,
                  [&](State& state) { return child_of(state, child); });
}

WARPGAUGE_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node,
                                                          cudaGraph_t* graph) {
  return call(__func__, [&](State& state) {
    require(graph != nullptr);
    *graph = handle_of(work_of<Child>(state, node).graph.get());
  });
}

WARPGAUGE_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec,
                                                               cudaGraphNode_t node,
                                                               cudaGraph_t child) {
  return set_node(__func__, exec, node, [&](State& state) {
    return same_child(state, node_in(state, exec, node), child);
  });
}

WARPGAUGE_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* dependencies,
                                                std::size_t count) {
  return add_node(__func__, node, graph, dependencies, count, [](State&) { return Nothing{}; });
}

WARPGAUGE_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                      const cudaGraphNode_t* dependencies,
                                                      std::size_t count, cudaEvent_t event) {
  return add_node(__func__, node, graph, dependencies, count,
                  [&](State& state) { return event_record(state, event); });
}

WARPGAUGE_API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node,
                                                           cudaEvent_t* event) {
  return get_event<EventRecord>(__func__, node, event);
}

WARPGAUGE_API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node,
                                                           cudaEvent_t event) {
  return set_node(__func__, node, [&](State& state) { return event_record(state, event); });
}

WARPGAUGE_API cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec,
                                                               cudaGraphNode_t node,
                                                               cudaEvent_t event) {
  return set_node(__func__, exec, node, [&](State& state) { return event_record(state, event); });
}

WARPGAUGE_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                    const cudaGraphNode_t* dependencies,
                                                    std::size_t count, cudaEvent_t event) {
  return add_node(__func__, node, graph, dependencies, count,
                  [&](State& state) { return event_wait(state, event); });
}

WARPGAUGE_API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get_event<EventWait>(__func__, node, event);
}

WARPGAUGE_API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set_node(__func__, node, [&](State& state) { return event_wait(state, event); });
}

WARPGAUGE_API cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec,
                                                             cudaGraphNode_t node,
                                                             cudaEvent_t event) {
  return set_node(__func__, exec, node, [&](State& state) { return event_wait(state, event); });
}

}  // namespace warpgauge::emulator::runtime
