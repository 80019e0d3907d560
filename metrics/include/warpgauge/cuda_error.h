// The one check of CUDA calls: throws with file, line, call, the error's name and the remedy.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpgauge::metrics {

/// A CUDA call that failed. what() reads: file:line: call failed: cudaErrorName: text. remedy
class CudaError : public std::runtime_error {
 public:
  /// `call` as the source has it.
  CudaError(cudaError_t code, std::string_view call, const std::source_location& where);
  cudaError_t code() const { return code_; }  ///< what the call returned

 private:
  cudaError_t code_;
};

/// "cudaErrorName: text".
std::string cuda_error_text(cudaError_t code);

/// The remedy, as a sentence; empty if there is none.
std::string_view cuda_remedy(cudaError_t code);

/// Throws CudaError unless `code` is cudaSuccess.
void check_cuda(cudaError_t code, std::string_view call,
                const std::source_location& where = std::source_location::current());

}  // namespace warpgauge::metrics

/// WARPGAUGE_CUDA(cudaMalloc(&pointer, bytes));
#define WARPGAUGE_CUDA(...) ::warpgauge::metrics::check_cuda((__VA_ARGS__), #__VA_ARGS__)
