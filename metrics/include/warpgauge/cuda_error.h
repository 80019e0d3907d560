// The exception that the check of CUDA calls throws, and its texts.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

#include "warpgauge/check_cuda.h"

namespace warpgauge::metrics {

/// A CUDA call that failed. what() reads: file:line: call failed: cudaErrorName: text. remedy
class CudaError : public std::runtime_error {
 public:
  /// `call` is the text of the call in the source.
  CudaError(cudaError_t code, std::string_view call, const std::source_location& where);
  cudaError_t code() const { return code_; }  ///< the result of the call
  /// what() without the remedy.
  std::string_view failure() const { return {what(), failure_size_}; }

 private:
  CudaError(cudaError_t code, const std::string& failure);

  cudaError_t code_;
  std::size_t failure_size_;
};

/// The name and text of an error: "cudaErrorName: text".
std::string cuda_error_text(cudaError_t code);

/// The remedy of an error, as a sentence; empty if there is none.
std::string_view cuda_remedy(cudaError_t code);

}  // namespace warpgauge::metrics
