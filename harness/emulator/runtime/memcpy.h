// The copies that calls and graph nodes ask for.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "harness/emulator/runtime/work.h"

namespace warpgauge::emulator::runtime {

// All throw Failure as the functions of the CUDA runtime do.
Copy copy_of(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind);
Copy copy_of(State& state, const cudaMemcpy3DParms* parameters);
Copy copy_to_symbol(State& state, const void* symbol, const void* source, std::size_t bytes,
                    std::size_t offset, cudaMemcpyKind kind);
Copy copy_from_symbol(State& state, void* destination, const void* symbol, std::size_t bytes,
                      std::size_t offset, cudaMemcpyKind kind);

/// A copy as the parameters that ask for it.
cudaMemcpy3DParms parameters_of(State& state, const Copy& copy);

}  // namespace warpgauge::emulator::runtime
