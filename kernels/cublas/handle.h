// A handle of cuBLAS, and the check of what it returns.
#pragma once

#include <cublas_v2.h>

#include <stdexcept>
#include <string>

namespace warpgauge {

/// Throws std::runtime_error with the call and the name of its status, unless that is success.
inline void check_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(call) + ": " + cublasGetStatusName(status) + " (" +
                           cublasGetStatusString(status) + ")");
}
#define WARPGAUGE_CUBLAS(call) ::warpgauge::check_cublas((call), #call)

/// The handle of this process: made when it is first needed, because that takes long. Scalars are
/// on the device, so that nothing waits for them; float is computed as float, without tensor cores.
inline cublasHandle_t cublas() {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made = nullptr;
    WARPGAUGE_CUBLAS(cublasCreate(&made));
    WARPGAUGE_CUBLAS(cublasSetPointerMode(made, CUBLAS_POINTER_MODE_DEVICE));
    WARPGAUGE_CUBLAS(cublasSetMathMode(made, CUBLAS_PEDANTIC_MATH));
    return made;
  }();
  return handle;
}

}  // namespace warpgauge
