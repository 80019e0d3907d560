// The one check of CUDA calls: throws CudaError (cuda_error.h) with file, line, call, the error's
// name and the remedy. Kept light: nvcc reads it once for each architecture.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>

namespace warpgauge::metrics {

/// Throws CudaError unless `code` is cudaSuccess. `call` is the text of the call in the source.
void check_cuda(cudaError_t code, const char* call,
                const std::source_location& where = std::source_location::current());

}  // namespace warpgauge::metrics

/// Throws metrics::CudaError, with file, line and call, unless a call returns cudaSuccess:
/// WARPGAUGE_CUDA(cudaMalloc(&pointer, bytes));
#define WARPGAUGE_CUDA(...) ::warpgauge::metrics::check_cuda((__VA_ARGS__), #__VA_ARGS__)
