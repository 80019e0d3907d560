// Memory pools, for the calls that take memory from them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "harness/emulator/runtime/state.h"

namespace warpgauge::emulator::runtime {

/// Fails with cudaErrorInvalidValue for a pool that was destroyed or never made.
Pool& pool_of(State& state, cudaMemPool_t pool);

/// Counts an allocation as the pool's.
void take_from_pool(Device& device, Pool& pool, const void* memory, std::size_t bytes);
/// Memory that is free now is no longer its pool's, if it was of one.
void give_back_to_pool(Device& device, const void* memory);

}  // namespace warpgauge::emulator::runtime
