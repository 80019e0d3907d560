// The way into the emulator and out of it again.
#include "harness/emulator/runtime/call.h"

#include <algorithm>
#include <new>

#include "harness/emulator/runtime/refuse.h"

namespace warpgauge::emulator::runtime {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

/// Runs the body; what it throws becomes a code, and a sentence on stderr where there is one.
cudaError_t run(const char* name, State& state, const std::function<void(State&)>& body) {
  const auto say = [&](const std::string& why) {
    if (!why.empty()) state.say(std::string(name) + ": " + why);
  };
  try {
    body(state);
    return cudaSuccess;
  } catch (const Failure& failure) {
    say(failure.why);
    return failure.code;
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    say(error.what());
    return cudaErrorUnknown;
  }
}

}  // namespace

cudaError_t record(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

cudaError_t call(const char* name, const std::function<void(State&)>& body) {
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  if (state.fault != cudaSuccess) return record(state.fault);
  return record(run(name, state, body));
}

cudaError_t call_always(const char* name, const std::function<void(State&)>& body) {
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  return record(run(name, state, body));
}

cudaError_t call_waiting(const char* name, const std::function<void(State&)>& body) {
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  state.flush_prints();
  if (state.fault != cudaSuccess) return record(state.fault);
  return record(run(name, state, body));
}

int refuse(const char* name) {
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  if (std::ranges::find(state.refused, name) == state.refused.end()) {
    state.refused.emplace_back(name);
  }
  state.say(std::string(name) + " is not emulated: it returns cudaErrorNotSupported");
  return record(cudaErrorNotSupported);
}

WARPGAUGE_API cudaError_t cudaPeekAtLastError() { return last_error; }

WARPGAUGE_API cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  // The fault of a kernel stays after a call has reported it.
  if (error != state.fault) last_error = cudaSuccess;
  return error;
}

}  // namespace warpgauge::emulator::runtime
