// The frame of every function of the CUDA driver.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "harness/emulator/driver/errors.h"
#include "harness/emulator/runtime/call.h"

namespace warpgauge::emulator::driver {

/// Runs `forward`, which calls the runtime, as the driver's function `name`: messages have this
/// name, which lives as long as the process, and the thread's last error of the runtime stays.
/// Fails without running it, with CUDA_ERROR_NOT_INITIALIZED, before cuInit and the first call of
/// the runtime, and with CUDA_ERROR_INVALID_CONTEXT where this thread has no current context.
CUresult call(const char* name, runtime::FunctionRef<cudaError_t()> forward);

/// The same for functions that need no current context.
CUresult call_anywhere(const char* name, runtime::FunctionRef<cudaError_t()> forward);

/// The same for functions that the runtime does not have and that do not reach the device: `body`
/// fails as those of the runtime do. They also work after a fault, and without a context.
CUresult query(const char* name, runtime::FunctionRef<void(runtime::State&)> body);

/// A device pointer is a pointer of this process.
inline void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

/// Fails with CUDA_ERROR_INVALID_DEVICE for any but the one device, 0.
inline void require_device(CUdevice device) {
  runtime::require(device == 0, cudaErrorInvalidDevice);
}

}  // namespace warpgauge::emulator::driver
