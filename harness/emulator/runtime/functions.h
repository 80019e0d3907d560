// Properties of a kernel that launches, attributes and occupancy need.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "harness/emulator/runtime/state.h"

namespace warpgauge::emulator::runtime {

/// The kernel of a stub or a cudaKernel_t, loaded. Throws Failure with
/// cudaErrorInvalidDeviceFunction, or why it cannot be loaded.
Function& function_of(State& state, const void* stub_or_handle);

const machine::KernelInfo& info_of(State& state, const Function& function);

/// The most dynamic shared memory that a launch may ask for: what cudaFuncSetAttribute allowed,
/// else what is left of 48 KiB.
std::uint64_t max_dynamic_shared_bytes(State& state, const Function& function);

/// The most threads a block may have by __launch_bounds__, and by its registers where they are
/// known.
int threads_by_bounds(State& state, const Function& function);
int threads_by_registers(State& state, const Function& function);

/// Blocks of a launch that a multiprocessor can have at the same time.
int blocks_per_multiprocessor(State& state, const Function& function, int threads,
                              std::uint64_t dynamic_shared_bytes);

}  // namespace warpgauge::emulator::runtime
