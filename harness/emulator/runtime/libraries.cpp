// What a program loads: images of code, their kernels and variables.
#include "harness/emulator/runtime/libraries.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "harness/emulator/machine/program.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/functions.h"

namespace warpgauge::emulator::runtime {

Module& load_image(State& state, const void* image, const JitOptions& options) {
  require(image != nullptr);
  try {
    Module& module =
        state.modules.add_loaded(image, state.device().machine, state.wanted_code(), options);
    options.info.write("");
    options.errors.write("");
    return module;
  } catch (const Failure& failure) {
    options.info.write("");
    options.errors.write(failure.why);
    throw;
  }
}

Module& load_file(State& state, const char* path, const JitOptions& options) {
  require(path != nullptr);
  std::ifstream file(path, std::ios::binary);
  require(file.good(), cudaErrorFileNotFound);
  std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  image.push_back('\0');  // of a text
  return load_image(state, image.data(), options);
}

Module& loaded_module(State& state, const void* handle) {
  Module* const module = state.modules.find_loaded(handle);
  require(module != nullptr, cudaErrorInvalidResourceHandle);
  return *module;
}

void unload_module(State& state, const void* handle) {
  state.modules.remove(&loaded_module(state, handle), &state.device().machine);
}

void unload_modules_of(State& state, const void* context) {
  for (Module* const module : state.modules.loaded_in(context)) {
    state.modules.remove(module, &state.device().machine);
  }
}

Function& kernel_called(State& state, Module& module, const char* name) {
  require(name != nullptr && *name != '\0');
  machine::Machine& machine = state.device().machine;
  require(machine.find_kernel(*module.program, name) != nullptr, cudaErrorSymbolNotFound);
  Function& function = state.modules.function_called(module, name);
  state.modules.kernel(function, machine, state.wanted_code());
  return function;
}

machine::Symbol variable_called(State& state, const Module& module, const char* name) {
  require(name != nullptr);
  const auto symbol = state.device().machine.find_symbol(*module.program, name);
  require(symbol.address != nullptr, cudaErrorSymbolNotFound);
  return symbol;
}

std::vector<std::string> kernel_names(const Module& module) {
  std::vector<std::string> names;
  for (const ptx::Function& function : module.program->module().functions) {
    if (function.is_kernel && function.has_body) names.push_back(function.name);
  }
  return names;
}

void put_kernels(State& state, Module& module, Function** out, std::size_t count) {
  const auto names = kernel_names(module);
  require(out != nullptr);
  for (std::size_t i = 0; i < std::min(count, names.size()); ++i) {
    out[i] = &kernel_called(state, module, names[i].c_str());
  }
}

#if CUDART_VERSION >= 12080

WARPGAUGE_API cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code,
                                              cudaJitOption* jit_options, void** jit_values,
                                              unsigned jit_count, cudaLibraryOption*, void**,
                                              unsigned) {
  return call(__func__, [&](State& state) {
    require(library != nullptr);
    const JitOptions options = JitOptions::read(jit_options, jit_values, jit_count);
    *library = reinterpret_cast<cudaLibrary_t>(&load_image(state, code, options));
  });
}

WARPGAUGE_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path,
                                                  cudaJitOption* jit_options, void** jit_values,
                                                  unsigned jit_count, cudaLibraryOption*, void**,
                                                  unsigned) {
  return call(__func__, [&](State& state) {
    require(library != nullptr);
    const JitOptions options = JitOptions::read(jit_options, jit_values, jit_count);
    *library = reinterpret_cast<cudaLibrary_t>(&load_file(state, path, options));
  });
}

WARPGAUGE_API cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return call(__func__, [&](State& state) { unload_module(state, library); });
}

WARPGAUGE_API cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library,
                                               const char* name) {
  return call(__func__, [&](State& state) {
    require(kernel != nullptr);
    Module& module = loaded_module(state, library);
    *kernel = reinterpret_cast<cudaKernel_t>(&kernel_called(state, module, name));
  });
}

WARPGAUGE_API cudaError_t cudaLibraryGetGlobal(void** address, std::size_t* bytes,
                                               cudaLibrary_t library, const char* name) {
  return call(__func__, [&](State& state) {
    const auto found = variable_called(state, loaded_module(state, library), name);
    if (address != nullptr) *address = found.address;
    if (bytes != nullptr) *bytes = found.bytes;
  });
}

WARPGAUGE_API cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return call(__func__, [&](State& state) {
    require(count != nullptr);
    *count = static_cast<unsigned>(kernel_names(loaded_module(state, library)).size());
  });
}

WARPGAUGE_API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                                      cudaLibrary_t library) {
  return call(__func__, [&](State& state) {
    put_kernels(state, loaded_module(state, library), reinterpret_cast<Function**>(kernels), count);
  });
}

WARPGAUGE_API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                                          cudaFuncAttribute attribute, int value,
                                                          int device) {
  if (device != 0) {
    return call(__func__, [](State&) { require(false, cudaErrorInvalidDevice); });
  }
  return cudaFuncSetAttribute(kernel, attribute, value);
}

#endif

}  // namespace warpgauge::emulator::runtime
