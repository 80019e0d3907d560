// Modules and libraries: code that the program loads, its kernels and variables. The handles of a
// module and of its library are one, and so are those of a kernel and of its function.
#include "harness/emulator/driver/call.h"
#include "harness/emulator/driver/context.h"
#include "harness/emulator/runtime/functions.h"
#include "harness/emulator/runtime/libraries.h"

#undef cuModuleGetGlobal  // an earlier variant, which the toolkit's headers do not declare

namespace warpgauge::emulator::driver {
namespace {

using runtime::JitOptions;
using runtime::Module;
using runtime::require;
using runtime::State;

/// Calls `body` when no kernel runs.
CUresult idle(const char* name, runtime::FunctionRef<void(State&)> body) {
  return call_anywhere(name, [&] { return runtime::call(name, body); });
}

/// The same with a context, which the module then belongs to.
CUresult load(const char* name, CUmodule* out, runtime::FunctionRef<Module&(State&)> load) {
  return call(name, [&] {
    return runtime::call(name, [&](State& state) {
      require(out != nullptr);
      Module& module = load(state);
      module.context = current_context();
      *out = reinterpret_cast<CUmodule>(&module);
    });
  });
}

JitOptions options_of(CUjit_option* options, void** values, unsigned count) {
  return JitOptions::read(reinterpret_cast<cudaJitOption*>(options), values, count);
}

CUresult load_library(const char* name, CUlibrary* out,
                      runtime::FunctionRef<Module&(State&)> load) {
  return idle(name, [&](State& state) {
    require(out != nullptr);
    *out = reinterpret_cast<CUlibrary>(&load(state));
  });
}

CUresult kernel_of(const char* name, void** out, const void* module, const char* kernel) {
  return idle(name, [&](State& state) {
    require(out != nullptr);
    *out = &runtime::kernel_called(state, runtime::loaded_module(state, module), kernel);
  });
}

CUresult count_kernels(const char* name, unsigned* count, const void* module) {
  return idle(name, [&](State& state) {
    require(count != nullptr);
    *count =
        static_cast<unsigned>(runtime::kernel_names(runtime::loaded_module(state, module)).size());
  });
}

CUresult put_kernels(const char* name, void* out, unsigned count, const void* module) {
  return idle(name, [&](State& state) {
    runtime::put_kernels(state, runtime::loaded_module(state, module),
                         static_cast<runtime::Function**>(out), count);
  });
}

CUresult variable_of(const char* name, CUdeviceptr* address, std::size_t* bytes, const void* module,
                     const char* variable) {
  return idle(name, [&](State& state) {
    const auto found =
        runtime::variable_called(state, runtime::loaded_module(state, module), variable);
    if (address != nullptr) *address = reinterpret_cast<CUdeviceptr>(found.address);
    if (bytes != nullptr) *bytes = found.bytes;
  });
}

/// The handle of the same in the current context.
template <typename Out>
CUresult same_handle(const char* name, Out* out, void* handle,
                     runtime::FunctionRef<void(State&)> check) {
  return call(name, [&] {
    return runtime::call(name, [&](State& state) {
      require(out != nullptr);
      check(state);
      *out = static_cast<Out>(handle);
    });
  });
}

/// The library or module of a kernel that was loaded with it.
template <typename Out>
CUresult module_of(const char* name, Out* out, const void* kernel) {
  return idle(name, [&](State& state) {
    require(out != nullptr);
    *out = reinterpret_cast<Out>(runtime::function_of(state, kernel).module);
  });
}

}  // namespace

WARPGAUGE_API CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return load("cuModuleLoad", module,
              [&](State& state) -> Module& { return runtime::load_file(state, path, {}); });
}

WARPGAUGE_API CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load("cuModuleLoadData", module,
              [&](State& state) -> Module& { return runtime::load_image(state, image, {}); });
}

WARPGAUGE_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                                          CUjit_option* options, void** values) {
  return load("cuModuleLoadDataEx", module, [&](State& state) -> Module& {
    return runtime::load_image(state, image, options_of(options, values, count));
  });
}

WARPGAUGE_API CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load("cuModuleLoadFatBinary", module,
              [&](State& state) -> Module& { return runtime::load_image(state, image, {}); });
}

WARPGAUGE_API CUresult cuModuleUnload(CUmodule module) {
  return idle("cuModuleUnload", [&](State& state) { runtime::unload_module(state, module); });
}

WARPGAUGE_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return query("cuModuleGetLoadingMode", [&](State&) {
    require(mode != nullptr);
    *mode = CU_MODULE_EAGER_LOADING;
  });
}

WARPGAUGE_API CUresult cuModuleGetFunction(CUfunction* function, CUmodule module,
                                           const char* name) {
  return kernel_of("cuModuleGetFunction", reinterpret_cast<void**>(function), module, name);
}

WARPGAUGE_API CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return count_kernels("cuModuleGetFunctionCount", count, module);
}

WARPGAUGE_API CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count,
                                                  CUmodule module) {
  return put_kernels("cuModuleEnumerateFunctions", functions, count, module);
}

WARPGAUGE_API CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes,
                                            CUmodule module, const char* name) {
  return variable_of("cuModuleGetGlobal", address, bytes, module, name);
}

WARPGAUGE_API CUresult cuLibraryLoadData(CUlibrary* library, const void* image,
                                         CUjit_option* options, void** values, unsigned count,
                                         CUlibraryOption*, void**, unsigned) {
  return load_library("cuLibraryLoadData", library, [&](State& state) -> Module& {
    return runtime::load_image(state, image, options_of(options, values, count));
  });
}

WARPGAUGE_API CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path,
                                             CUjit_option* options, void** values, unsigned count,
                                             CUlibraryOption*, void**, unsigned) {
  return load_library("cuLibraryLoadFromFile", library, [&](State& state) -> Module& {
    return runtime::load_file(state, path, options_of(options, values, count));
  });
}

WARPGAUGE_API CUresult cuLibraryUnload(CUlibrary library) {
  return idle("cuLibraryUnload", [&](State& state) { runtime::unload_module(state, library); });
}

WARPGAUGE_API CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return kernel_of("cuLibraryGetKernel", reinterpret_cast<void**>(kernel), library, name);
}

WARPGAUGE_API CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return count_kernels("cuLibraryGetKernelCount", count, library);
}

WARPGAUGE_API CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count,
                                                 CUlibrary library) {
  return put_kernels("cuLibraryEnumerateKernels", kernels, count, library);
}

WARPGAUGE_API CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return same_handle("cuLibraryGetModule", reinterpret_cast<void**>(module), library,
                     [&](State& state) { runtime::loaded_module(state, library); });
}

WARPGAUGE_API CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes,
                                          CUlibrary library, const char* name) {
  return variable_of("cuLibraryGetGlobal", address, bytes, library, name);
}

WARPGAUGE_API CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return same_handle("cuKernelGetFunction", reinterpret_cast<void**>(function), kernel,
                     [&](State& state) { runtime::function_of(state, kernel); });
}

WARPGAUGE_API CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return module_of("cuKernelGetLibrary", library, kernel);
}

WARPGAUGE_API CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return module_of("cuFuncGetModule", module, function);
}

}  // namespace warpgauge::emulator::driver
