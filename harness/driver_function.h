// Looks functions of the driver up. Programs do not link the driver, because they must start
// without one.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "warpgauge/cuda_error.h"

namespace warpgauge {

/// The driver's function `name` as of CUDA `since` (12000 is 12.0). Throws metrics::CudaError if
/// the driver lacks it.
template <typename Function>
Function* driver_function(const char* name, unsigned since) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  WARPGAUGE_CUDA(cudaGetDriverEntryPointByVersion(name, &entry, since, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess) metrics::check_cuda(cudaErrorNotSupported, name);
  return reinterpret_cast<Function*>(entry);
}

/// Throws metrics::CudaError unless the driver's function `name` has succeeded.
inline void check_driver(CUresult result, const char* name) {
  // The runtime's errors have the driver's numbers.
  metrics::check_cuda(static_cast<cudaError_t>(result), name);
}

}  // namespace warpgauge
