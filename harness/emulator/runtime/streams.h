// Streams and events: handles, and what they stand for.
#pragma once

#include <cuda_runtime_api.h>

#include "harness/emulator/runtime/state.h"

namespace warpgauge::emulator::runtime {

/// Fails with cudaErrorInvalidResourceHandle for a stream that was destroyed or never made.
void require_stream(State& state, cudaStream_t stream);

/// Fails with cudaErrorInvalidResourceHandle for an event that was destroyed or never made.
Event& event_of(State& state, cudaEvent_t event);

}  // namespace warpgauge::emulator::runtime
