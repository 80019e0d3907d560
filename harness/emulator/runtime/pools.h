// Memory pools, for the calls that take memory from them.
#pragma once

#include <cuda_runtime_api.h>

#include "harness/emulator/runtime/state.h"

namespace warpgauge::emulator::runtime {

/// Fails with cudaErrorInvalidValue for a pool that was destroyed or never made.
Pool& pool_of(State& state, cudaMemPool_t pool);

}  // namespace warpgauge::emulator::runtime
