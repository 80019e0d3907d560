// The calls of the start-up code that nvcc puts into every object, and the launch configuration
// that
// <<<>>> leaves behind. Declarations as in crt/host_runtime.h.
#include <cuda_runtime_api.h>

#include <vector>

#include "harness/emulator/runtime/call.h"

namespace warpgauge::emulator::runtime {

namespace {

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};

thread_local std::vector<Configuration> configurations;

Module* module_of(void** handle) { return reinterpret_cast<Module*>(handle); }

/// Runs `use` with the modules, under the lock.
template <typename Use>
void with_modules(Use use) {
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  use(state.modules);
}

}  // namespace

WARPGAUGE_API void** __cudaRegisterFatBinary(void* wrapper) {
  void** handle = nullptr;
  with_modules([&](auto& modules) { handle = reinterpret_cast<void**>(modules.add(wrapper)); });
  return handle;
}

WARPGAUGE_API void __cudaRegisterFatBinaryEnd(void**) {}

WARPGAUGE_API void __cudaUnregisterFatBinary(void** handle) {
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  if (state.background.is_busy()) return;  // a program that ends does not wait for its kernels
  state.modules.remove(module_of(handle),
                       state.has_own_device() ? &state.device().machine : nullptr);
}

WARPGAUGE_API void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name,
                                          int, uint3*, uint3*, dim3*, dim3*, int*) {
  with_modules([&](auto& modules) { modules.add_function(module_of(handle), stub, name); });
}

WARPGAUGE_API void __cudaRegisterVar(void** handle, char* shadow, char*, const char* name, int,
                                     std::size_t bytes, int, int) {
  with_modules(
      [&](auto& modules) { modules.add_variable(module_of(handle), shadow, name, bytes); });
}

WARPGAUGE_API void __cudaRegisterManagedVar(void** handle, void** pointer, char*, const char* name,
                                            int, std::size_t bytes, int, int) {
  with_modules([&](auto& modules) {
    modules.add_managed_variable(module_of(handle), pointer, name, bytes);
  });
}

// The host's first use of a __managed__ variable comes here.
WARPGAUGE_API char __cudaInitModule(void** handle) {
  const cudaError_t error = call_in_stream(__func__, [&](State& state) {
    state.modules.load(*module_of(handle), state.device().machine, state.wanted_code());
  });
  return error == cudaSuccess ? 1 : 0;
}

WARPGAUGE_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                                   cudaStream_t stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

WARPGAUGE_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block,
                                                     std::size_t* shared_bytes, void* stream) {
  return call_always(__func__, [&](State&) {
    require(!configurations.empty(), cudaErrorMissingConfiguration);
    const Configuration top = configurations.back();
    configurations.pop_back();
    *grid = top.grid;
    *block = top.block;
    *shared_bytes = top.shared_bytes;
    *static_cast<cudaStream_t*>(stream) = top.stream;
  });
}

namespace {

cudaError_t get_kernel(const char* name, cudaKernel_t* handle, const void* stub) {
  return call_always(name, [&](State& state) {
    require(handle != nullptr);
    auto* const function = state.modules.find_function(stub);
    require(function != nullptr, cudaErrorInvalidDeviceFunction);
    *handle = reinterpret_cast<cudaKernel_t>(function);
  });
}

}  // namespace

WARPGAUGE_API cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* stub) {
  return get_kernel(__func__, handle, stub);
}

WARPGAUGE_API cudaError_t cudaGetKernel(cudaKernel_t* handle, const void* stub) {
  return get_kernel(__func__, handle, stub);
}

}  // namespace warpgauge::emulator::runtime
