// Errors of the CUDA driver, and which of them stand for those of the runtime.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace warpgauge::emulator::driver {

/// The driver's error for one of the runtime. Most have the same number in both.
CUresult result_of(cudaError_t error);

/// "CUDA_ERROR_INVALID_VALUE"; nullptr for a code that is none.
const char* name_of(CUresult result);

}  // namespace warpgauge::emulator::driver
