// Capture of streams, host functions in them, and their attributes.
#include <bit>

#include "harness/emulator/driver/call.h"

#undef cuStreamBeginCapture  // earlier variants, which the toolkit's headers do not declare
#undef cuStreamGetCaptureInfo
#undef cuStreamUpdateCaptureDependencies

namespace warpgauge::emulator::driver {
namespace {

static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));

/// Calls `ask` with where the runtime puts the status. Both have the same numbers.
template <typename Ask>
CUresult asked_status(const char* name, CUstreamCaptureStatus* status, Ask ask) {
  return call(name, [&] {
    cudaStreamCaptureStatus found{};
    const auto error = ask(status == nullptr ? nullptr : &found);
    if (error == cudaSuccess) *status = static_cast<CUstreamCaptureStatus>(found);
    return error;
  });
}

}  // namespace

WARPGAUGE_API CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return call("cuStreamBeginCapture", [&] {  // both have the same numbers
    return cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode));
  });
}

WARPGAUGE_API CUresult cuStreamBeginCapture(CUstream stream) {
  return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

WARPGAUGE_API CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                                   const CUgraphNode* nodes,
                                                   const CUgraphEdgeData* edges, std::size_t count,
                                                   CUstreamCaptureMode mode) {
  return call("cuStreamBeginCaptureToGraph", [&] {
    return cudaStreamBeginCaptureToGraph(stream, graph, nodes,
                                         reinterpret_cast<const cudaGraphEdgeData*>(edges), count,
                                         static_cast<cudaStreamCaptureMode>(mode));
  });
}

WARPGAUGE_API CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return call("cuStreamEndCapture", [&] { return cudaStreamEndCapture(stream, graph); });
}

WARPGAUGE_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return call("cuThreadExchangeStreamCaptureMode", [&] {
    if (mode == nullptr) return cudaThreadExchangeStreamCaptureMode(nullptr);
    auto same = static_cast<cudaStreamCaptureMode>(*mode);
    const auto error = cudaThreadExchangeStreamCaptureMode(&same);
    if (error == cudaSuccess) *mode = static_cast<CUstreamCaptureMode>(same);
    return error;
  });
}

WARPGAUGE_API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return asked_status("cuStreamIsCapturing", status, [&](cudaStreamCaptureStatus* found) {
    return cudaStreamIsCapturing(stream, found);
  });
}

WARPGAUGE_API CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status,
                                                 cuuint64_t* id, CUgraph* graph,
                                                 const CUgraphNode** nodes,
                                                 const CUgraphEdgeData** edges,
                                                 std::size_t* count) {
  return asked_status("cuStreamGetCaptureInfo", status, [&](cudaStreamCaptureStatus* found) {
    unsigned long long same_id = 0;
    const cudaGraphEdgeData* same_edges = nullptr;
    const auto error = cudaStreamGetCaptureInfo(stream, found, &same_id, graph, nodes,
                                                edges == nullptr ? nullptr : &same_edges, count);
    const bool is_active = error == cudaSuccess && *found == cudaStreamCaptureStatusActive;
    if (is_active && id != nullptr) *id = same_id;
    if (is_active && edges != nullptr)
      *edges = reinterpret_cast<const CUgraphEdgeData*>(same_edges);
    return error;
  });
}

WARPGAUGE_API CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status,
                                                 cuuint64_t* id, CUgraph* graph,
                                                 const CUgraphNode** nodes, std::size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr, count);
}

WARPGAUGE_API CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status,
                                              cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

WARPGAUGE_API CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* nodes,
                                                            const CUgraphEdgeData* edges,
                                                            std::size_t count, unsigned flags) {
  return call("cuStreamUpdateCaptureDependencies", [&] {
    return cudaStreamUpdateCaptureDependencies(
        stream, nodes, reinterpret_cast<const cudaGraphEdgeData*>(edges), count, flags);
  });
}

WARPGAUGE_API CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes,
                                                         std::size_t count, unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, count, flags);
}

WARPGAUGE_API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return call("cuLaunchHostFunc", [&] { return cudaLaunchHostFunc(stream, function, data); });
}

WARPGAUGE_API CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data,
                                           unsigned flags) {
  // The status that it gets is 0 in both. Calls of the two types are the same calls.
  return call("cuStreamAddCallback", [&] {
    return cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), data,
                                 flags);
  });
}

WARPGAUGE_API CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID id,
                                            const CUstreamAttrValue* value) {
  return call("cuStreamSetAttribute", [&] {
    const auto same_id = static_cast<cudaLaunchAttributeID>(id);
    if (value == nullptr) return cudaStreamSetAttribute(stream, same_id, nullptr);
    const auto same = std::bit_cast<cudaLaunchAttributeValue>(*value);
    return cudaStreamSetAttribute(stream, same_id, &same);
  });
}

WARPGAUGE_API CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID id,
                                            CUstreamAttrValue* value) {
  return call("cuStreamGetAttribute", [&] {
    cudaLaunchAttributeValue same{};
    const auto error = cudaStreamGetAttribute(stream, static_cast<cudaLaunchAttributeID>(id),
                                              value == nullptr ? nullptr : &same);
    if (error == cudaSuccess) *value = std::bit_cast<CUstreamAttrValue>(same);
    return error;
  });
}

WARPGAUGE_API CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return call("cuStreamCopyAttributes", [&] { return cudaStreamCopyAttributes(to, from); });
}

WARPGAUGE_PER_THREAD(cuStreamBeginCapture, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamBeginCapture_v2, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamBeginCaptureToGraph, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamEndCapture, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamIsCapturing, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamGetCaptureInfo, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamGetCaptureInfo_v2, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamGetCaptureInfo_v3, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamUpdateCaptureDependencies, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamUpdateCaptureDependencies_v2, _ptsz)
WARPGAUGE_PER_THREAD(cuLaunchHostFunc, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamAddCallback, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamSetAttribute, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamGetAttribute, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamCopyAttributes, _ptsz)

}  // namespace warpgauge::emulator::driver
