// The CUDA arrays of a device.
#pragma once

#include <cuda_runtime_api.h>

#include "harness/emulator/runtime/array.h"

namespace warpgauge::emulator::runtime {

class State;

/// Throws Failure with cudaErrorInvalidResourceHandle if there is no such array.
Array& array_of(State& state, cudaArray_const_t array);

/// Channels of 8, 16 or 32 bits, as many as 1, 2 or 4, all alike.
bool is_supported(const cudaChannelFormatDesc& channels);

}  // namespace warpgauge::emulator::runtime
