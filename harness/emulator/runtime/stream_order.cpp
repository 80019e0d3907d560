// The order of work in streams.
#include "harness/emulator/runtime/stream_order.h"

#include <exception>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/failure.h"

namespace warpgauge::emulator::runtime {
namespace {

/// Whether the legacy stream is one of the two, and waits for the other, and it for the legacy one.
bool wait_for_each_other(State& state, cudaStream_t stream, cudaStream_t other) {
  if (is_legacy(stream)) return is_blocking(state, other);
  return is_legacy(other) && is_blocking(state, stream);
}

}  // namespace

bool is_legacy(cudaStream_t stream) { return stream == nullptr || stream == cudaStreamLegacy; }

cudaStream_t order_name(cudaStream_t stream) { return is_legacy(stream) ? nullptr : stream; }

LaunchOrder::WaitsFor waits_for(State& state) {
  return [&state](cudaStream_t stream, cudaStream_t other) {
    return wait_for_each_other(state, stream, other);
  };
}

bool is_blocking(State& state, cudaStream_t stream) {
  const auto& streams = state.device().streams;
  const auto found = streams.find(stream);
  return found == streams.end() || (found->second->flags & cudaStreamNonBlocking) == 0;
}

bool has_work(State& state, cudaStream_t stream) {
  return state.background.is_busy(
      stream, [&](cudaStream_t other) { return wait_for_each_other(state, stream, other); });
}

cudaError_t call_in_legacy_stream(const char* name, FunctionRef<void(State&)> body) {
  const auto is_done = [](State& state) { return !has_work(state, cudaStreamLegacy); };
  return call_waiting_until(name, is_done, body);
}

void put_behind(State& state, cudaStream_t stream, std::function<void()> work) {
  state.background.add(stream, [&state, work = std::move(work)] {
    if (state.fault != cudaSuccess) return;
    try {
      work();
    } catch (const Failure& failure) {
      if (!failure.why.empty()) state.say(failure.why);
      if (failure.is_fault) state.results.keep_wrong_call("work of a stream: " + failure.why);
    } catch (const std::exception& error) {  // out of memory
      state.say(error.what());
      state.fault = cudaErrorUnknown;
    }
  });
}

}  // namespace warpgauge::emulator::runtime
