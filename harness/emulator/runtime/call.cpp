// The way into the emulator and out of it again.
#include "harness/emulator/runtime/call.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <utility>

#include "harness/emulator/driver/errors.h"
#include "harness/emulator/runtime/refuse.h"

namespace warpgauge::emulator::runtime {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local const char* driver_function = nullptr;  // that the thread is in
thread_local bool used_primary_context = false;

const char* error_name(cudaError_t error) {
  return driver_function == nullptr ? cudaGetErrorName(error)
                                    : driver::name_of(driver::result_of(error));
}

void keep_refusal(State& state, const std::string& what) {
  const std::lock_guard lock(state.results.mutex);
  auto& refusals = state.results.use.refusals;
  if (std::ranges::find(refusals, what, &Refusal::what) == refusals.end()) {
    refusals.push_back({what, std::this_thread::get_id()});
  }
}

/// ", and libcurand.so.10 calls it"; nothing where that is no shared library.
std::string library_text(const void* address) {
  Dl_info found;
  if (address == nullptr || dladdr(address, &found) == 0) return "";
  const std::string name = std::filesystem::path(found.dli_fname).filename();
  return name.find(".so") == name.npos ? "" : ", and " + name + " calls it";
}

/// The thread has taken the error of what was refused to it: it goes on in another way.
void forget_refusals(State& state) {
  const std::lock_guard lock(state.results.mutex);
  std::erase_if(state.results.use.refusals, [](const Refusal& refusal) {
    return refusal.thread == std::this_thread::get_id();
  });
}

cudaError_t noted(const char* name, State& state, cudaError_t error) {
  state.results.use.call = name;
  if (error != cudaSuccess && error != cudaErrorNotReady) {
    const std::lock_guard lock(state.results.mutex);
    state.results.use.failure = std::string(name) + ": " + error_name(error);
  }
  return error;
}

/// Runs the body; what it throws becomes a code, and a sentence on stderr where there is one.
cudaError_t code_of(const char* name, State& state, FunctionRef<void(State&)> body) {
  const auto say = [&](const std::string& why) {
    if (!why.empty()) state.say(std::string(name) + ": " + why);
  };
  try {
    body(state);
    return cudaSuccess;
  } catch (const Failure& failure) {
    say(failure.why);
    const std::string what = std::string(name) + ": " + failure.why;
    if (failure.is_refusal && !failure.kept) keep_refusal(state, what);
    if (failure.is_fault) state.results.keep_wrong_call(what);
    return failure.code;
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    say(error.what());
    return cudaErrorUnknown;
  }
}

/// Functions of the runtime that reach the device make its context current.
void note_context() {
  if (driver_function == nullptr) used_primary_context = true;
}

cudaError_t run(const char* name, State& state, FunctionRef<void(State&)> body) {
  name = called_as(name);
  return record(noted(name, state, code_of(name, state, body)));
}

}  // namespace

DriverCall::DriverCall(const char* name) : outer_(std::exchange(driver_function, name)) {}

DriverCall::~DriverCall() { driver_function = outer_; }

void note_private_table(const void* caller) {
  State& state = State::instance();
  const std::lock_guard lock(state.results.mutex);
  state.results.use.call = "cuGetExportTable";
  state.results.use.private_tables = "cuGetExportTable is not emulated" + library_text(caller);
}

bool take_use_of_primary_context() { return std::exchange(used_primary_context, false); }

const char* called_as(const char* name) {
  return driver_function == nullptr ? name : driver_function;
}

cudaError_t record(cudaError_t error) {
  if (driver_function != nullptr) return error;
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

cudaError_t call(const char* name, FunctionRef<void(State&)> body) {
  note_context();
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  state.background.wait();
  if (state.fault != cudaSuccess) return record(state.fault);
  return run(name, state, body);
}

cudaError_t call_in_stream(const char* name, FunctionRef<void(State&)> body) {
  note_context();
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  if (state.fault != cudaSuccess) return record(state.fault);
  return run(name, state, body);
}

cudaError_t call_always(const char* name, FunctionRef<void(State&)> body) {
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  return run(name, state, body);
}

cudaError_t call_waiting(const char* name, FunctionRef<void(State&)> body) {
  return call_waiting_until(name, [](State&) { return false; }, body);
}

cudaError_t call_waiting_until(const char* name, FunctionRef<bool(State&)> done,
                               FunctionRef<void(State&)> body) {
  note_context();
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  state.background.wait_until([&] { return done(state); });
  state.note_program_waited();
  state.flush_prints();
  if (state.fault != cudaSuccess) return record(state.fault);
  return run(name, state, body);
}

int refuse(const char* name, const void* caller) {
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  const std::string what = std::string(name) + " is not emulated" + library_text(caller);
  state.say(what + ": it returns " + error_name(cudaErrorNotSupported));
  keep_refusal(state, what);
  return record(noted(name, state, cudaErrorNotSupported));
}

WARPGAUGE_API cudaError_t cudaPeekAtLastError() { return last_error; }

WARPGAUGE_API cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  // The fault of a kernel stays after a call has reported it.
  if (error != state.fault) last_error = cudaSuccess;
  if (error == cudaErrorNotSupported) forget_refusals(state);
  if (error == cudaErrorInvalidConfiguration) state.results.forgive_empty_launches();
  return error;
}

}  // namespace warpgauge::emulator::runtime
