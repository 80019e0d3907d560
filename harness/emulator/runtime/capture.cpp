// Capture of streams.
#include "harness/emulator/runtime/capture.h"

#include <algorithm>
#include <set>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/graph_handles.h"
#include "harness/emulator/runtime/stream_order.h"

namespace warpgauge::emulator::runtime {
namespace {

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

bool is_valid(cudaStreamCaptureMode mode) {
  return mode == cudaStreamCaptureModeGlobal || mode == cudaStreamCaptureModeThreadLocal ||
         mode == cudaStreamCaptureModeRelaxed;
}

/// The point of a stream, whether or not its capture is valid.
CapturePoint* any_point(State& state, cudaStream_t stream) {
  auto& captures = state.device().graphs.captures;
  const auto found = captures.find(stream);
  return found == captures.end() ? nullptr : &found->second;
}

[[noreturn]] void fail(Capture& capture, cudaError_t code) {
  capture.invalid = true;
  throw Failure{code};
}

/// Captures of blocking streams.
void require_usable_legacy_stream(State& state, bool invalidates) {
  for (auto& [stream, point] : state.device().graphs.captures) {
    if (!is_blocking(state, stream)) continue;
    if (invalidates) point.capture->invalid = true;
    throw Failure{cudaErrorStreamCaptureImplicit};
  }
}

void begin(State& state, cudaStream_t stream, cudaStreamCaptureMode mode,
           std::shared_ptr<Graph> owned, Graph* graph, std::vector<Node*> nodes) {
  static unsigned long long ids = 0;
  require_stream(state, stream);
  require(is_valid(mode));
  require(!is_legacy(stream), cudaErrorStreamCaptureUnsupported);
  require(any_point(state, stream) == nullptr, cudaErrorIllegalState);
  auto made = std::make_shared<Capture>(Capture{.owned = std::move(owned),
                                                .graph = graph,
                                                .origin = stream,
                                                .mode = mode,
                                                .thread = std::this_thread::get_id(),
                                                .id = ++ids});
  state.device().graphs.captures[stream] = {std::move(made), std::move(nodes)};
}

/// All that `nodes` depend on, and they themselves.
std::set<const Node*> ancestors(const std::vector<Node*>& nodes) {
  std::set<const Node*> out;
  std::vector<const Node*> left(nodes.begin(), nodes.end());
  while (!left.empty()) {
    const Node* const node = left.back();
    left.pop_back();
    if (!out.insert(node).second) continue;
    left.insert(left.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return out;
}

bool is_joined(State& state, const CapturePoint& origin) {
  const auto reached = ancestors(origin.nodes);
  const auto are_reached = [&](const std::vector<Node*>& nodes) {
    return std::ranges::all_of(nodes, [&](const Node* node) { return reached.contains(node); });
  };
  return are_reached(origin.capture->left_behind) &&
         std::ranges::all_of(state.device().graphs.captures, [&](const auto& other) {
           return other.second.capture != origin.capture || are_reached(other.second.nodes);
         });
}

void end(State& state, cudaStream_t stream, cudaGraph_t* graph) {
  CapturePoint* const point = any_point(state, stream);
  require(point != nullptr, cudaErrorIllegalState);
  const std::shared_ptr<Capture> capture = point->capture;
  require(capture->origin == stream, cudaErrorStreamCaptureUnmatched);
  require(capture->mode == cudaStreamCaptureModeRelaxed ||
              capture->thread == std::this_thread::get_id(),
          cudaErrorStreamCaptureWrongThread);
  const bool joined = is_joined(state, *point);
  capture->ended = true;
  Graphs& graphs = state.device().graphs;
  std::erase_if(graphs.captures,
                [&](const auto& other) { return other.second.capture == capture; });
  if (graph != nullptr) *graph = nullptr;
  require(!capture->invalid, cudaErrorStreamCaptureInvalidated);
  require(joined, cudaErrorStreamCaptureUnjoined);
  if (graph != nullptr) *graph = handle_of(capture->graph);
  if (capture->owned != nullptr) graphs.made[capture->graph] = std::move(capture->owned);
}

cudaStreamCaptureStatus status_of(const CapturePoint* point) {
  if (point == nullptr) return cudaStreamCaptureStatusNone;
  return point->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
}

/// The point of a stream, for queries.
const CapturePoint* queried_point(State& state, cudaStream_t stream) {
  require_stream(state, stream);
  if (is_legacy(stream)) require_usable_legacy_stream(state, false);
  return any_point(state, stream);
}

void add_nodes(std::vector<Node*>& to, const std::vector<Node*>& nodes) {
  for (Node* node : nodes) {
    if (std::ranges::find(to, node) == to.end()) to.push_back(node);
  }
}

}  // namespace

CapturePoint* capture_point(State& state, cudaStream_t stream) {
  if (state.device().graphs.captures.empty()) return nullptr;
  if (is_legacy(stream)) require_usable_legacy_stream(state, true);
  CapturePoint* const point = any_point(state, stream);
  require(point == nullptr || !point->capture->invalid, cudaErrorStreamCaptureInvalidated);
  return point;
}

Node& capture(CapturePoint& point, Work work) {
  Node& node = point.capture->graph->add(std::move(work), point.nodes);
  point.nodes = {&node};
  return node;
}

void wait_for(State& state, cudaStream_t stream, const CapturePoint& event) {
  CapturePoint* const point = capture_point(state, stream);
  const bool outside = event.capture == nullptr || event.capture->ended;
  if (outside && point == nullptr) return;
  if (outside) fail(*point->capture, cudaErrorStreamCaptureIsolation);
  require(!event.capture->invalid, cudaErrorStreamCaptureInvalidated);
  if (point == nullptr) {
    if (is_legacy(stream)) fail(*event.capture, cudaErrorStreamCaptureImplicit);
    state.device().graphs.captures[stream] = event;
    return;
  }
  if (point->capture != event.capture) {
    event.capture->invalid = true;
    fail(*point->capture, cudaErrorStreamCaptureMerge);
  }
  add_nodes(point->nodes, event.nodes);
}

void leave_capture(State& state, cudaStream_t stream) {
  CapturePoint* const point = any_point(state, stream);
  if (point == nullptr) return;
  Capture& capture = *point->capture;
  if (capture.origin == stream) capture.invalid = capture.ended = true;
  add_nodes(capture.left_behind, point->nodes);
  state.device().graphs.captures.erase(stream);
}

void refuse_captured(State& state, cudaStream_t stream) {
  require_stream(state, stream);
  if (CapturePoint* const point = capture_point(state, stream)) {
    fail(*point->capture, cudaErrorStreamCaptureUnsupported);
  }
}

void refuse_captured(const Event& event) {
  const auto& capture = event.captured.capture;
  if (capture != nullptr && !capture->ended) fail(*capture, cudaErrorCapturedEvent);
}

void refuse_unsafe(State& state) {
  if (thread_mode == cudaStreamCaptureModeRelaxed) return;
  for (auto& [stream, point] : state.device().graphs.captures) {
    const Capture& capture = *point.capture;
    const bool ours = capture.thread == std::this_thread::get_id();
    const bool forbids = ours ? capture.mode != cudaStreamCaptureModeRelaxed
                              : capture.mode == cudaStreamCaptureModeGlobal &&
                                    thread_mode == cudaStreamCaptureModeGlobal;
    if (forbids) fail(*point.capture, cudaErrorStreamCaptureUnsupported);
  }
}

WARPGAUGE_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call(__func__, [&](State& state) {
    auto graph = std::make_shared<Graph>(state.device().graphs.handles);
    Graph* const made = graph.get();
    begin(state, stream, mode, std::move(graph), made, {});
  });
}

WARPGAUGE_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call(__func__, [&](State& state) { end(state, stream, graph); });
}

WARPGAUGE_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call_always(__func__, [&](State&) {
    require(mode != nullptr && is_valid(*mode));
    std::swap(*mode, thread_mode);
  });
}

WARPGAUGE_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                                cudaStreamCaptureStatus* status) {
  return call(__func__, [&](State& state) {
    require(status != nullptr);
    *status = status_of(queried_point(state, stream));
  });
}

WARPGAUGE_PER_THREAD(cudaStreamBeginCapture, _ptsz)
WARPGAUGE_PER_THREAD(cudaStreamEndCapture, _ptsz)
WARPGAUGE_PER_THREAD(cudaStreamIsCapturing, _ptsz)

#if CUDART_VERSION >= 13000  // functions that had other parameters before
WARPGAUGE_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                        const cudaGraphNode_t* nodes,
                                                        const cudaGraphEdgeData*, std::size_t count,
                                                        cudaStreamCaptureMode mode) {
  return call(__func__, [&](State& state) {
    Graph& into = graph_of(state, graph);
    const auto dependencies = nodes_of(state, nodes, count);
    for (const Node* node : dependencies) require(node->graph == &into);
    begin(state, stream, mode, nullptr, &into, dependencies);
  });
}

WARPGAUGE_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                                   cudaStreamCaptureStatus* status,
                                                   unsigned long long* id, cudaGraph_t* graph,
                                                   const cudaGraphNode_t** nodes,
                                                   const cudaGraphEdgeData** edges,
                                                   std::size_t* count) {
  return call(__func__, [&](State& state) {
    // Valid until the thread asks again.
    thread_local std::vector<cudaGraphNode_t> handles;
    thread_local std::vector<cudaGraphEdgeData> edge_data;
    require(status != nullptr && (edges == nullptr || nodes != nullptr));
    const CapturePoint* const point = queried_point(state, stream);
    *status = status_of(point);
    if (*status != cudaStreamCaptureStatusActive) return;
    handles.clear();
    for (const Node* node : point->nodes) handles.push_back(handle_of(node));
    edge_data.assign(handles.size(), {});
    if (id != nullptr) *id = point->capture->id;
    if (graph != nullptr) *graph = handle_of(point->capture->graph);
    if (nodes != nullptr) *nodes = handles.data();
    if (edges != nullptr) *edges = edge_data.data();
    if (count != nullptr) *count = handles.size();
  });
}

WARPGAUGE_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                              cudaGraphNode_t* nodes,
                                                              const cudaGraphEdgeData*,
                                                              std::size_t count, unsigned flags) {
  return call(__func__, [&](State& state) {
    require(flags <= cudaStreamSetCaptureDependencies);
    require_stream(state, stream);
    CapturePoint* const point = capture_point(state, stream);
    require(point != nullptr, cudaErrorIllegalState);
    const auto given = nodes_of(state, nodes, count);
    for (const Node* node : given) require(node->graph == point->capture->graph);
    if (flags == cudaStreamSetCaptureDependencies) point->nodes.clear();
    add_nodes(point->nodes, given);
  });
}

WARPGAUGE_PER_THREAD(cudaStreamBeginCaptureToGraph, _ptsz)
WARPGAUGE_PER_THREAD(cudaStreamGetCaptureInfo, _ptsz)
WARPGAUGE_PER_THREAD(cudaStreamUpdateCaptureDependencies, _ptsz)
#endif

}  // namespace warpgauge::emulator::runtime
