// Copies of two and three dimensions in the driver's words.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "harness/emulator/runtime/state.h"

namespace warpgauge::emulator::driver {

/// The same copy for the runtime, which counts in elements where an array takes part. Throws
/// Failure as the runtime does.
cudaMemcpy3DParms copy_of(runtime::State& state, const CUDA_MEMCPY3D& given);

/// The other way round.
CUDA_MEMCPY3D copy_of(runtime::State& state, const cudaMemcpy3DParms& given);

}  // namespace warpgauge::emulator::driver
