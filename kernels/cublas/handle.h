// The functions of cuBLAS, a handle of it, and the check of what it returns.
#pragma once

#include <cublas_v2.h>
#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace warpgauge {

/// The function of that name. cuBLAS is loaded with the first of them, since that takes 200 MiB and
/// longer than most commands: from the toolkit of the build, or from where the system has it.
inline void* cublas_function(const char* name) {
  static void* const library = [] {
    void* const built_with = dlopen(WARPGAUGE_CUBLAS_FOLDER "/" WARPGAUGE_CUBLAS_LIBRARY, RTLD_NOW);
    return built_with != nullptr ? built_with : dlopen(WARPGAUGE_CUBLAS_LIBRARY, RTLD_NOW);
  }();
  void* const found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr) {
    throw std::runtime_error(std::string(name) + ": " WARPGAUGE_CUBLAS_LIBRARY
                                                 " lacks it, or cannot be loaded");
  }
  return found;
}
#define WARPGAUGE_CUBLAS_NAME(function) #function
#define WARPGAUGE_CUBLAS_FUNCTION(function)                                \
  ([] {                                                                    \
    static const auto kFunction = reinterpret_cast<decltype(&(function))>( \
        ::warpgauge::cublas_function(WARPGAUGE_CUBLAS_NAME(function)));    \
    return kFunction;                                                      \
  }())

/// Throws std::runtime_error with the call and the name of its status, unless that is success.
inline void check_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(call) + ": " +
                           WARPGAUGE_CUBLAS_FUNCTION(cublasGetStatusName)(status) + " (" +
                           WARPGAUGE_CUBLAS_FUNCTION(cublasGetStatusString)(status) + ")");
}
/// Calls a function of cuBLAS with arguments.
#define WARPGAUGE_CUBLAS(function, ...)                                       \
  ::warpgauge::check_cublas(WARPGAUGE_CUBLAS_FUNCTION(function)(__VA_ARGS__), \
                            #function "(" #__VA_ARGS__ ")")

/// The handle of this process: made when it is first needed, because that takes long. Scalars are
/// on the device, so that nothing waits for them; float is computed as float, without tensor cores.
inline cublasHandle_t cublas() {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made = nullptr;
    WARPGAUGE_CUBLAS(cublasCreate, &made);
    WARPGAUGE_CUBLAS(cublasSetPointerMode, made, CUBLAS_POINTER_MODE_DEVICE);
    WARPGAUGE_CUBLAS(cublasSetMathMode, made, CUBLAS_PEDANTIC_MATH);
    return made;
  }();
  return handle;
}

}  // namespace warpgauge
