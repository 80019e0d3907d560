// Graphs: their structure, what they are instantiated to, and what they hold.
#include "harness/emulator/driver/call.h"

// Earlier variants, which the toolkit's headers do not declare.
#undef cuGraphAddDependencies
#undef cuGraphExecUpdate
#undef cuGraphGetEdges
#undef cuGraphInstantiate
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphRemoveDependencies

namespace warpgauge::emulator::driver {
namespace {

static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));

cudaGraphEdgeData* edges_of(CUgraphEdgeData* edges) {
  return reinterpret_cast<cudaGraphEdgeData*>(edges);
}
const cudaGraphEdgeData* edges_of(const CUgraphEdgeData* edges) {
  return reinterpret_cast<const cudaGraphEdgeData*>(edges);
}

CUresult updated(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* out) {
  return call("cuGraphExecUpdate", [&] {
    cudaGraphExecUpdateResultInfo info{};
    const auto error = cudaGraphExecUpdate(exec, graph, out == nullptr ? nullptr : &info);
    if (out != nullptr) {  // both have the same numbers
      *out = {static_cast<CUgraphExecUpdateResult>(info.result), info.errorNode,
              info.errorFromNode};
    }
    return error;
  });
}

}  // namespace

WARPGAUGE_API CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return call("cuGraphCreate", [&] { return cudaGraphCreate(graph, flags); });
}

WARPGAUGE_API CUresult cuGraphDestroy(CUgraph graph) {
  return call("cuGraphDestroy", [&] { return cudaGraphDestroy(graph); });
}

WARPGAUGE_API CUresult cuGraphClone(CUgraph* clone, CUgraph graph) {
  return call("cuGraphClone", [&] { return cudaGraphClone(clone, graph); });
}

WARPGAUGE_API CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode node, CUgraph clone) {
  return call("cuGraphNodeFindInClone",
              [&] { return cudaGraphNodeFindInClone(found, node, clone); });
}

WARPGAUGE_API CUresult cuGraphDestroyNode(CUgraphNode node) {
  return call("cuGraphDestroyNode", [&] { return cudaGraphDestroyNode(node); });
}

WARPGAUGE_API CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return call("cuGraphNodeGetType", [&] {
    cudaGraphNodeType found{};
    const auto error = cudaGraphNodeGetType(node, type == nullptr ? nullptr : &found);
    if (error == cudaSuccess) *type = static_cast<CUgraphNodeType>(found);
    return error;
  });
}

WARPGAUGE_API CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return call("cuGraphGetNodes", [&] { return cudaGraphGetNodes(graph, nodes, count); });
}

WARPGAUGE_API CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return call("cuGraphGetRootNodes", [&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}

WARPGAUGE_API CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                                          CUgraphEdgeData* edges, std::size_t* count) {
  return call("cuGraphGetEdges",
              [&] { return cudaGraphGetEdges(graph, from, to, edges_of(edges), count); });
}

WARPGAUGE_API CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                                       std::size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

WARPGAUGE_API CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes,
                                                     CUgraphEdgeData* edges, std::size_t* count) {
  return call("cuGraphNodeGetDependencies",
              [&] { return cudaGraphNodeGetDependencies(node, nodes, edges_of(edges), count); });
}

WARPGAUGE_API CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes,
                                                  std::size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}

WARPGAUGE_API CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes,
                                                       CUgraphEdgeData* edges, std::size_t* count) {
  return call("cuGraphNodeGetDependentNodes",
              [&] { return cudaGraphNodeGetDependentNodes(node, nodes, edges_of(edges), count); });
}

WARPGAUGE_API CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes,
                                                    std::size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}

WARPGAUGE_API CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                                 const CUgraphNode* to,
                                                 const CUgraphEdgeData* edges, std::size_t count) {
  return call("cuGraphAddDependencies",
              [&] { return cudaGraphAddDependencies(graph, from, to, edges_of(edges), count); });
}

WARPGAUGE_API CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from,
                                              const CUgraphNode* to, std::size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

WARPGAUGE_API CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                                    const CUgraphNode* to,
                                                    const CUgraphEdgeData* edges,
                                                    std::size_t count) {
  return call("cuGraphRemoveDependencies",
              [&] { return cudaGraphRemoveDependencies(graph, from, to, edges_of(edges), count); });
}

WARPGAUGE_API CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from,
                                                 const CUgraphNode* to, std::size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

WARPGAUGE_API CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags) {
  return call("cuGraphDebugDotPrint", [&] { return cudaGraphDebugDotPrint(graph, path, flags); });
}

WARPGAUGE_API CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle,
                                                      CUgraph graph, CUcontext, unsigned value,
                                                      unsigned flags) {
  return call("cuGraphConditionalHandleCreate", [&] {
    cudaGraphConditionalHandle made = 0;
    const auto error =
        cudaGraphConditionalHandleCreate(handle == nullptr ? nullptr : &made, graph, value, flags);
    if (error == cudaSuccess) *handle = made;
    return error;
  });
}

WARPGAUGE_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph,
                                                   unsigned long long flags) {
  return call("cuGraphInstantiateWithFlags",
              [&] { return cudaGraphInstantiateWithFlags(exec, graph, flags); });
}

WARPGAUGE_API CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* node,
                                             char* log, std::size_t log_bytes) {
  return call("cuGraphInstantiate", [&] {
    if (node != nullptr) *node = nullptr;
    if (log != nullptr && log_bytes > 0) *log = '\0';
    return cudaGraphInstantiateWithFlags(exec, graph, 0);
  });
}

WARPGAUGE_API CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* node,
                                          char* log, std::size_t log_bytes) {
  return cuGraphInstantiate_v2(exec, graph, node, log, log_bytes);
}

WARPGAUGE_API CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                                    CUDA_GRAPH_INSTANTIATE_PARAMS* p) {
  return call("cuGraphInstantiateWithParams", [&] {
    if (p == nullptr) return cudaGraphInstantiateWithParams(exec, graph, nullptr);
    cudaGraphInstantiateParams same{p->flags, p->hUploadStream, nullptr, {}};
    const auto error = cudaGraphInstantiateWithParams(exec, graph, &same);
    p->hErrNode_out = same.errNode_out;  // both have the same numbers
    p->result_out = static_cast<CUgraphInstantiateResult>(same.result_out);
    return error;
  });
}

WARPGAUGE_API CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t* flags) {
  return call("cuGraphExecGetFlags", [&] {
    unsigned long long found = 0;
    const auto error = cudaGraphExecGetFlags(exec, flags == nullptr ? nullptr : &found);
    if (error == cudaSuccess) *flags = found;
    return error;
  });
}

WARPGAUGE_API CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return call("cuGraphExecDestroy", [&] { return cudaGraphExecDestroy(exec); });
}

WARPGAUGE_API CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return call("cuGraphUpload", [&] { return cudaGraphUpload(exec, stream); });
}

WARPGAUGE_API CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return call("cuGraphLaunch", [&] { return cudaGraphLaunch(exec, stream); });
}

WARPGAUGE_API CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                                            CUgraphExecUpdateResultInfo* result) {
  return updated(exec, graph, result);
}

WARPGAUGE_API CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node,
                                         CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult out = updated(exec, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  if (result != nullptr) *result = info.result;
  return out;
}

WARPGAUGE_API CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled) {
  return call("cuGraphNodeSetEnabled",
              [&] { return cudaGraphNodeSetEnabled(exec, node, enabled); });
}

WARPGAUGE_API CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node,
                                             unsigned* enabled) {
  return call("cuGraphNodeGetEnabled",
              [&] { return cudaGraphNodeGetEnabled(exec, node, enabled); });
}

WARPGAUGE_API CUresult cuUserObjectCreate(CUuserObject* object, void* data, CUhostFn destroy,
                                          unsigned count, unsigned flags) {
  return call("cuUserObjectCreate",
              [&] { return cudaUserObjectCreate(object, data, destroy, count, flags); });
}

WARPGAUGE_API CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return call("cuUserObjectRetain", [&] { return cudaUserObjectRetain(object, count); });
}

WARPGAUGE_API CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return call("cuUserObjectRelease", [&] { return cudaUserObjectRelease(object, count); });
}

WARPGAUGE_API CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
                                               unsigned flags) {
  return call("cuGraphRetainUserObject",
              [&] { return cudaGraphRetainUserObject(graph, object, count, flags); });
}

WARPGAUGE_API CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object,
                                                unsigned count) {
  return call("cuGraphReleaseUserObject",
              [&] { return cudaGraphReleaseUserObject(graph, object, count); });
}

WARPGAUGE_API CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                                    void* value) {
  return call("cuDeviceGetGraphMemAttribute", [&] {  // both have the same numbers
    return cudaDeviceGetGraphMemAttribute(device, static_cast<cudaGraphMemAttributeType>(attribute),
                                          value);
  });
}

WARPGAUGE_API CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                                    void* value) {
  return call("cuDeviceSetGraphMemAttribute", [&] {
    return cudaDeviceSetGraphMemAttribute(device, static_cast<cudaGraphMemAttributeType>(attribute),
                                          value);
  });
}

WARPGAUGE_API CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return call("cuDeviceGraphMemTrim", [&] { return cudaDeviceGraphMemTrim(device); });
}

WARPGAUGE_PER_THREAD(cuGraphInstantiateWithParams, _ptsz)
WARPGAUGE_PER_THREAD(cuGraphUpload, _ptsz)
WARPGAUGE_PER_THREAD(cuGraphLaunch, _ptsz)

}  // namespace warpgauge::emulator::driver
