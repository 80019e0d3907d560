// The check of allocations: device memory that the program does not free, frees of what is none,
// and stream-ordered memory that streams use in no order with its allocation and its free.
#pragma once

#include <cuda_runtime_api.h>

#include <set>
#include <string>
#include <vector>

#include "harness/emulator/machine/core/finding.h"
#include "harness/emulator/runtime/launch_order.h"
#include "harness/emulator/runtime/state.h"
#include "harness/emulator/runtime/work.h"

namespace warpgauge::emulator::runtime {

/// What the program has allocated and not freed is found now.
void find_leaks(State& state);
/// `function` cannot free `memory`.
void find_wrong_free(State& state, const char* function, const void* memory);

/// The stream has allocated this memory.
void note_allocated(State& state, const void* memory, cudaStream_t stream);
/// The stream is to free it.
void note_freed(State& state, const void* memory, cudaStream_t stream);
/// The memory whose allocation need not have ended when the stream's next work begins.
std::set<const void*> unallocated(State& state, cudaStream_t stream);
/// A launch of the kernel, in this place, has used memory so.
void note_uses(State& state, const LaunchOrder::Place& place, const std::string& kernel,
               std::vector<machine::MemoryUse> uses);
/// The stream is to do this work.
void note_uses(State& state, cudaStream_t stream, const Copy& copy);
void note_uses(State& state, cudaStream_t stream, const Fill& fill);
template <typename Kind>
void note_uses(State& /*state*/, cudaStream_t /*stream*/, const Kind& /*work*/) {}

}  // namespace warpgauge::emulator::runtime
