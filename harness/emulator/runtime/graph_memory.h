// Memory that graphs allocate: each node has its addresses from its making on.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/runtime/state.h"

namespace warpgauge::emulator::runtime {

/// Reserved memory of an allocation node, which launches make usable.
struct GraphMemory {
  std::unique_ptr<std::byte[]> buffer;
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  cudaMemPoolProps pool{};
};

std::shared_ptr<GraphMemory> reserve_graph_memory(std::size_t bytes, const cudaMemPoolProps& pool);

/// The kind of memory that a pool's is to kernels and copies.
machine::memory::Memory::Kind kind_of(const cudaMemPoolProps& pool);

/// Frees memory that a launch of a graph allocated. False if `memory` is no such memory.
bool free_graph_memory(State& state, const void* memory);

}  // namespace warpgauge::emulator::runtime
