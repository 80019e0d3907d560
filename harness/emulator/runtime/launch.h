// Launches, for the calls and graph nodes that ask for them.
#pragma once

#include <cuda_runtime_api.h>

#include "harness/emulator/runtime/state.h"
#include "harness/emulator/runtime/work.h"

namespace warpgauge::emulator::runtime {

/// Fills in the parameters of a call. Throws Failure for an unknown kernel and missing arguments.
void pack_arguments(State& state, KernelCall& call, void** arguments);

/// Sets an attribute of a launch. Throws Failure with cudaErrorNotSupported for one that would make
/// it another launch than this runtime can run.
void set_attribute(KernelCall& call, cudaLaunchAttributeID id,
                   const cudaLaunchAttributeValue& value);

}  // namespace warpgauge::emulator::runtime
