// Streams. All work is done when the call that asks for it returns, unless the stream is captured
// or a kernel runs in the background, so a stream is always in order.
#include "harness/emulator/runtime/streams.h"

#include <algorithm>
#include <functional>

#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/capture.h"

namespace warpgauge::emulator::runtime {
namespace {

constexpr int kGreatestPriority = -5, kLeastPriority = 0;

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

const Stream& stream_of(State& state, cudaStream_t stream) {
  static const Stream null_stream{.flags = cudaStreamDefault, .priority = 0, .id = 1};
  static const Stream per_thread_stream{.flags = cudaStreamDefault, .priority = 0, .id = 2};
  require_stream(state, stream);
  if (stream == cudaStreamPerThread) return per_thread_stream;
  return is_default(stream) ? null_stream : *state.device().streams.at(stream);
}

cudaError_t create(const char* name, cudaStream_t* stream, unsigned flags, int priority) {
  return call(name, [&](State& state) {
    require(stream != nullptr && (flags == cudaStreamDefault || flags == cudaStreamNonBlocking));
    Device& device = state.device();
    auto made = std::make_unique<Stream>(
        Stream{.flags = flags,
               .priority = std::clamp(priority, kGreatestPriority, kLeastPriority),
               .id = ++device.stream_ids});
    *stream = reinterpret_cast<cudaStream_t>(made.get());
    device.streams.emplace(made.get(), std::move(made));
  });
}

/// Calls `function` in the order of the stream if `check`, which may fail, says so.
cudaError_t call_back(const char* name, cudaStream_t stream, const std::function<void()>& function,
                      const std::function<bool(State&)>& check) {
  bool is_due = false;
  const cudaError_t error = call_in_stream(name, [&](State& state) {
    is_due = check(state);
    state.note_program_waited();  // what it tells other threads is not known
    if (!is_due || !has_work(state, stream)) return;
    is_due = false;
    put_behind(state, stream, [&state, function] {
      state.background.unlocked(function);
      state.note_program_waited();
    });
  });
  if (is_due) function();
  return error;
}

}  // namespace

void require_stream(State& state, cudaStream_t stream) {
  require(is_default(stream) || state.device().streams.contains(stream),
          cudaErrorInvalidResourceHandle);
}

WARPGAUGE_API cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return create(__func__, stream, cudaStreamDefault, 0);
}

WARPGAUGE_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return create(__func__, stream, flags, 0);
}

WARPGAUGE_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                       int priority) {
  return create(__func__, stream, flags, priority);
}

WARPGAUGE_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    require(!is_default(stream), cudaErrorInvalidResourceHandle);
    require(state.device().streams.erase(stream) == 1, cudaErrorInvalidResourceHandle);
    state.device().stream_attributes.erase(stream);
    leave_capture(state, stream);
  });
}

WARPGAUGE_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const auto is_done = [&](State& state) { return !has_work(state, stream); };
  return call_waiting_until(__func__, is_done,
                            [&](State& state) { refuse_captured(state, stream); });
}

WARPGAUGE_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call_in_stream(__func__, [&](State& state) {
    refuse_captured(state, stream);
    require(!has_work(state, stream), cudaErrorNotReady);
    state.note_program_waited();
  });
}

WARPGAUGE_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                              unsigned flags) {
  return call_in_stream(__func__, [&](State& state) {
    require(flags == cudaEventWaitDefault || flags == cudaEventWaitExternal);
    Event& awaited = event_of(state, event);
    require_stream(state, stream);
    CapturePoint* const point = capture_point(state, stream);
    if (flags == cudaEventWaitExternal) {
      require(point != nullptr);
      capture(*point, EventWait{event});
    } else {
      wait_for(state, stream, awaited.captured);
      state.device().order.wait(order_name(stream), awaited.order);
      if (awaited.pending > 0) put_behind(state, stream, [] {});
    }
  });
}

WARPGAUGE_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call(__func__, [&](State& state) {
    require(priority != nullptr);
    *priority = stream_of(state, stream).priority;
  });
}

WARPGAUGE_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return call(__func__, [&](State& state) {
    require(flags != nullptr);
    *flags = stream_of(state, stream).flags;
  });
}

WARPGAUGE_API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return call(__func__, [&](State& state) {
    require(id != nullptr);
    *id = stream_of(state, stream).id;
  });
}

#if CUDART_VERSION >= 12080
WARPGAUGE_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return call(__func__, [&](State& state) {
    require(device != nullptr);
    require_stream(state, stream);
    *device = 0;
  });
}
WARPGAUGE_PER_THREAD(cudaStreamGetDevice, _ptsz)
#endif

WARPGAUGE_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call(__func__, [&](State&) {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
  });
}

WARPGAUGE_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* memory, std::size_t,
                                                   unsigned) {
  return call(__func__, [&](State& state) {
    require_stream(state, stream);
    const auto found = state.memory().find(memory);
    require(found && found->kind == machine::memory::Memory::Kind::managed);
  });
}

// Callbacks run on the caller's thread, or in the background, without the lock: they may call the
// runtime.

WARPGAUGE_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                                void* data, unsigned flags) {
  return call_back(
      __func__, stream, [=] { callback(stream, cudaSuccess, data); },
      [&](State& state) {
        require(callback != nullptr && flags == 0);
        refuse_captured(state, stream);
        return true;
      });
}

WARPGAUGE_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                                             void* data) {
  return call_back(
      __func__, stream, [=] { function(data); },
      [&](State& state) {
        require(function != nullptr);
        require_stream(state, stream);
        CapturePoint* const point = capture_point(state, stream);
        if (point != nullptr) capture(*point, HostCall{function, data});
        return point == nullptr;
      });
}

WARPGAUGE_PER_THREAD(cudaStreamSynchronize, _ptsz)
WARPGAUGE_PER_THREAD(cudaStreamQuery, _ptsz)
WARPGAUGE_PER_THREAD(cudaStreamWaitEvent, _ptsz)
WARPGAUGE_PER_THREAD(cudaStreamGetPriority, _ptsz)
WARPGAUGE_PER_THREAD(cudaStreamGetFlags, _ptsz)
WARPGAUGE_PER_THREAD(cudaStreamGetId, _ptsz)
WARPGAUGE_PER_THREAD(cudaStreamAttachMemAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaStreamAddCallback, _ptsz)
WARPGAUGE_PER_THREAD(cudaLaunchHostFunc, _ptsz)

}  // namespace warpgauge::emulator::runtime
