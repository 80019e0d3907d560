// Events. Times between them are the emulator's own, on the host's clock: they say nothing about a
// GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/capture.h"

namespace warpgauge::emulator::runtime {
namespace {

cudaError_t create(const char* name, cudaEvent_t* event, unsigned flags) {
  constexpr unsigned kKnown =
      cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  return call(name, [&](State& state) {
    require(event != nullptr && (flags & ~kKnown) == 0);
    require((flags & cudaEventInterprocess) == 0, cudaErrorNotSupported);
    auto made = std::make_unique<Event>();
    made->flags = flags;
    *event = reinterpret_cast<cudaEvent_t>(made.get());
    state.device().events.emplace(made.get(), std::move(made));
  });
}

void record(State& state, cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  require(flags == cudaEventRecordDefault || flags == cudaEventRecordExternal);
  Event& recorded = event_of(state, event);
  require_stream(state, stream);
  CapturePoint* const point = capture_point(state, stream);
  if (flags == cudaEventRecordExternal) {
    require(point != nullptr);
    capture(*point, EventRecord{event});
  } else if (point != nullptr) {
    recorded.captured = *point;
  } else {
    recorded.captured = {};
    ++recorded.pending;
    recorded.order = state.device().order.record(order_name(stream), waits_for(state));
    perform_in_order(state, stream, EventRecord{event});
  }
}

}  // namespace

Event& event_of(State& state, cudaEvent_t event) {
  const auto found = state.device().events.find(event);
  require(found != state.device().events.end(), cudaErrorInvalidResourceHandle);
  return *found->second;
}

void perform(State& state, const EventRecord& record) {
  Event& event = event_of(state, record.event);
  event.recorded = std::chrono::steady_clock::now();
  event.pending = std::max(event.pending - 1, 0);  // a graph's record is done at once
}

void perform(State& state, const EventWait& wait) { event_of(state, wait.event); }

WARPGAUGE_API cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return create(__func__, event, cudaEventDefault);
}

WARPGAUGE_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return create(__func__, event, flags);
}

WARPGAUGE_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call(__func__, [&](State& state) {
    require(state.device().events.erase(event) == 1, cudaErrorInvalidResourceHandle);
  });
}

WARPGAUGE_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                   unsigned flags) {
  return call_in_stream("cudaEventRecord",
                        [&](State& state) { record(state, event, stream, flags); });
}

WARPGAUGE_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

WARPGAUGE_API cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call_in_stream(__func__, [&](State& state) {
    refuse_captured(event_of(state, event));
    require(event_of(state, event).pending == 0, cudaErrorNotReady);
    state.note_program_waited();
  });
}

WARPGAUGE_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const auto is_done = [&](State& state) { return event_of(state, event).pending == 0; };
  return call_waiting_until(__func__, is_done,
                            [&](State& state) { refuse_captured(event_of(state, event)); });
}

WARPGAUGE_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                               cudaEvent_t end) {
  return call(__func__, [&](State& state) {
    require(milliseconds != nullptr);
    const auto& from = event_of(state, start);
    const auto& to = event_of(state, end);
    refuse_captured(from);
    refuse_captured(to);
    require(((from.flags | to.flags) & cudaEventDisableTiming) == 0,
            cudaErrorInvalidResourceHandle);
    require(from.recorded && to.recorded, cudaErrorInvalidResourceHandle);
    *milliseconds = std::chrono::duration<float, std::milli>(*to.recorded - *from.recorded).count();
  });
}

WARPGAUGE_PER_THREAD(cudaEventRecord, _ptsz)
WARPGAUGE_PER_THREAD(cudaEventRecordWithFlags, _ptsz)

}  // namespace warpgauge::emulator::runtime
