// The frame of every function of the CUDA runtime: one lock, errors turned into codes, the
// thread's last error, the device's fault.
#pragma once

#include <cuda_runtime_api.h>

#include "harness/emulator/runtime/exported.h"
#include "harness/emulator/runtime/failure.h"
#include "harness/emulator/runtime/function_ref.h"
#include "harness/emulator/runtime/state.h"

namespace warpgauge::emulator::runtime {

/// Runs the body of the function `name` of the CUDA runtime under the lock, when no work is left in
/// the background. Fails without running it if a kernel has faulted. A failure becomes the thread's
/// last error.
cudaError_t call(const char* name, FunctionRef<void(State&)> body);

/// The same for functions that put work into a stream or ask for its state: they do not wait.
cudaError_t call_in_stream(const char* name, FunctionRef<void(State&)> body);

/// The same for functions that also work after a fault: queries that do not reach the device, and
/// cudaDeviceReset.
cudaError_t call_always(const char* name, FunctionRef<void(State&)> body);

/// The same as call() for functions that wait for the device: what kernels printed comes out first.
cudaError_t call_waiting(const char* name, FunctionRef<void(State&)> body);

/// The same for functions that wait for part of it: until `done` holds.
cudaError_t call_waiting_until(const char* name, FunctionRef<bool(State&)> done,
                               FunctionRef<void(State&)> body);

/// While it lives, what this thread calls of the runtime is a function of the driver: messages have
/// the driver's names, and the thread's last error stays.
class DriverCall {
 public:
  /// `name` lives as long as the process.
  explicit DriverCall(const char* name);
  ~DriverCall();
  DriverCall(const DriverCall&) = delete;
  DriverCall& operator=(const DriverCall&) = delete;

 private:
  const char* const outer_;
};

/// Keeps that the program asked for a private table, from where: it may be why it launches nothing.
void note_private_table(const void* caller);

/// Whether this thread has used the runtime since the last call, which needs the primary context.
bool take_use_of_primary_context();

/// The function that the program has called: `name`, or the function of the driver that this thread
/// is in.
const char* called_as(const char* name);

/// Sets the thread's last error and returns it. cudaErrorNotReady is no error.
cudaError_t record(cudaError_t error);

}  // namespace warpgauge::emulator::runtime
