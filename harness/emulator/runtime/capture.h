// Capture of streams: work that goes into a graph instead of being done.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <thread>
#include <utility>

#include "harness/emulator/runtime/graph.h"
#include "harness/emulator/runtime/stream_order.h"
#include "harness/emulator/runtime/streams.h"

namespace warpgauge::emulator::runtime {

/// One capture, which several streams may take part in.
struct Capture {
  std::shared_ptr<Graph> owned;  ///< nothing for a capture to a graph of the program's
  Graph* graph = nullptr;
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  unsigned long long id = 0;
  std::vector<Node*> left_behind = {};  ///< the last nodes of streams that were destroyed
  bool invalid = false, ended = false;
};

/// Where the capture stands that a stream takes part in; nullptr outside of captures. Throws
/// Failure with cudaErrorStreamCaptureImplicit for the legacy stream while a stream is captured
/// that it waits for, and with cudaErrorStreamCaptureInvalidated.
CapturePoint* capture_point(State& state, cudaStream_t stream);

/// Adds what comes next in the stream.
Node& capture(CapturePoint& point, Work work);

/// Makes what comes next in the stream wait for an event that was recorded there, which takes the
/// stream into the capture. Throws Failure as cudaStreamWaitEvent does.
void wait_for(State& state, cudaStream_t stream, const CapturePoint& event);

/// The stream is no more.
void leave_capture(State& state, cudaStream_t stream);

/// For calls that no captured stream and event allows: ends in cudaErrorStreamCaptureUnsupported
/// for a stream, cudaErrorCapturedEvent for an event, and the capture is invalid.
void refuse_captured(State& state, cudaStream_t stream);
void refuse_captured(const Event& event);

/// For calls that may wait for other work (cudaMalloc): fails with
/// cudaErrorStreamCaptureUnsupported if the mode of a capture forbids them to this thread.
void refuse_unsafe(State& state);

/// Does the work, or captures it.
template <typename Kind>
void submit(State& state, cudaStream_t stream, Kind work) {
  require_stream(state, stream);
  if (CapturePoint* const point = capture_point(state, stream)) {
    capture(*point, std::move(work));
  } else {
    perform_in_order(state, stream, std::move(work));
  }
}

}  // namespace warpgauge::emulator::runtime
