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
    if (built_with != nullptr) return built_with;
    void* const of_system = dlopen(WARPGAUGE_CUBLAS_LIBRARY, RTLD_NOW);
    if (of_system != nullptr) return of_system;
    throw std::runtime_error(std::string("cuBLAS cannot be loaded: ") + dlerror());
  }();
  void* const found = dlsym(library, name);
  if (found == nullptr) {
    throw std::runtime_error(std::string("cuBLAS lacks a function: ") + dlerror());
  }
  return found;
}
// The name that a function is linked by: cublas_v2.h makes cublasCreate a macro of cublasCreate_v2,
// which an argument of a macro expands to before the next macro makes text of it.
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
