// How functions of the CUDA runtime fail.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace warpgauge::emulator::runtime {

/// Thrown by the body of a runtime function that fails: the code for its caller, and, where
/// the code alone says too little, a sentence for stderr.
struct Failure {
  cudaError_t code;
  std::string why = {};
  bool kept = false;      ///< as the failure of a launch
  bool is_fault = false;  ///< of the program, also if it looks at the code and goes on
  /// The emulator cannot do it, where a GPU could: what cudaErrorNotSupported always is, with a
  /// sentence.
  bool is_refusal = code == cudaErrorNotSupported && !why.empty();
};

/// Fails with `code` unless `condition` holds.
inline void require(bool condition, cudaError_t code = cudaErrorInvalidValue) {
  if (!condition) throw Failure{code};
}

}  // namespace warpgauge::emulator::runtime
