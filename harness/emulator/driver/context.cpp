// Contexts.
#include "harness/emulator/driver/context.h"

#include <algorithm>
#include <list>
#include <vector>

#include "harness/emulator/driver/call.h"
#include "harness/emulator/runtime/libraries.h"

// Earlier variants, which the toolkit's headers do not declare.
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags

namespace warpgauge::emulator::driver {
namespace {

using runtime::require;
using runtime::State;

struct Context {
  unsigned long long id = 0;  ///< 0: never used
  unsigned flags = 0;
};

/// Used under the lock of the state. Never destroyed, as the state.
struct Contexts {
  Context primary;
  std::list<Context> created;
  unsigned long long last_id = 0;
  int retained = 0;  ///< how often the primary one is
};

Contexts& contexts() {
  static Contexts& contexts = *new Contexts;
  return contexts;
}

thread_local std::vector<CUcontext> current;  // the last is on top

/// Contexts are numbered as they come into use.
Context& used(Context& context) {
  if (context.id == 0) context.id = ++contexts().last_id;
  return context;
}

CUcontext handle_of(Context& context) { return reinterpret_cast<CUcontext>(&context); }

Context& context_of(CUcontext handle) {
  if (handle == primary_context()) return contexts().primary;
  const auto found =
      std::ranges::find_if(contexts().created, [&](Context& c) { return handle_of(c) == handle; });
  require(found != contexts().created.end(),
          cudaErrorDeviceUninitialized);  // CUDA_ERROR_INVALID_CONTEXT
  return *found;
}

/// Of a context, or of the current one for nullptr.
Context& context_or_current(CUcontext handle) {
  return context_of(handle != nullptr ? handle : current_context());
}

void create(CUcontext* out, unsigned flags, CUdevice device) {
  require(out != nullptr && (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0);
  require_device(device);
  State::instance().device();
  *out = handle_of(used(contexts().created.emplace_back(0, flags)));
  current.push_back(*out);
}

/// With its modules.
void destroy(State& state, CUcontext handle) {
  require(handle != primary_context(), cudaErrorDeviceUninitialized);
  Context& context = context_of(handle);
  state.background.wait();
  runtime::unload_modules_of(state, handle);
  if (!current.empty() && current.back() == handle) current.pop_back();
  contexts().created.remove_if([&](const Context& other) { return &other == &context; });
}

void set_current(CUcontext context) {
  current_context();  // what the runtime has made current is replaced, too
  if (!current.empty()) current.pop_back();
  if (context != nullptr) current.push_back(context);
}

}  // namespace

CUcontext primary_context() { return handle_of(contexts().primary); }

CUcontext current_context() {
  if (runtime::take_use_of_primary_context() && current.empty()) {
    current.push_back(primary_context());
  }
  return current.empty() ? nullptr : current.back();
}

WARPGAUGE_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return query("cuDevicePrimaryCtxRetain", [&](State& state) {
    require_device(device);
    require(context != nullptr);
    state.device();
    *context = handle_of(used(contexts().primary));
    ++contexts().retained;
  });
}

WARPGAUGE_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return query("cuDevicePrimaryCtxRelease", [&](State&) {
    require_device(device);
    require(contexts().retained > 0, cudaErrorDeviceUninitialized);
    --contexts().retained;
  });
}

WARPGAUGE_API CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return cuDevicePrimaryCtxRelease_v2(device);
}

WARPGAUGE_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return call_anywhere("cuDevicePrimaryCtxReset",
                       [&] { return device == 0 ? cudaDeviceReset() : cudaErrorInvalidDevice; });
}

WARPGAUGE_API CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return cuDevicePrimaryCtxReset_v2(device);
}

WARPGAUGE_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return query("cuDevicePrimaryCtxSetFlags", [&](State& state) {
    require_device(device);
    require((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0);
    state.device_flags = flags;
  });
}

WARPGAUGE_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

WARPGAUGE_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return query("cuDevicePrimaryCtxGetState", [&](State& state) {
    require_device(device);
    require(flags != nullptr && active != nullptr);
    *flags = state.device_flags;
    *active = contexts().retained > 0 || current_context() == primary_context();
  });
}

WARPGAUGE_API CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return query("cuCtxCreate", [&](State&) { create(context, flags, device); });
}

WARPGAUGE_API CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int parameters,
                                      unsigned flags, CUdevice device) {
  return query("cuCtxCreate", [&](State&) {
    require(parameters == 0, cudaErrorNotSupported);
    create(context, flags, device);
  });
}

#if CUDA_VERSION >= 12050
WARPGAUGE_API CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters,
                                      unsigned flags, CUdevice device) {
  return query("cuCtxCreate", [&](State&) {
    require(parameters == nullptr || parameters->numExecAffinityParams == 0, cudaErrorNotSupported);
    create(context, flags, device);
  });
}
#endif

WARPGAUGE_API CUresult cuCtxDestroy_v2(CUcontext context) {
  return query("cuCtxDestroy", [&](State& state) { destroy(state, context); });
}

WARPGAUGE_API CUresult cuCtxGetCurrent(CUcontext* context) {
  return query("cuCtxGetCurrent", [&](State&) {
    require(context != nullptr);
    *context = current_context();
  });
}

WARPGAUGE_API CUresult cuCtxSetCurrent(CUcontext context) {
  return query("cuCtxSetCurrent", [&](State&) {
    if (context != nullptr) context_of(context);
    set_current(context);
  });
}

WARPGAUGE_API CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return query("cuCtxPushCurrent", [&](State&) {
    require(context != nullptr);
    context_of(context);
    current_context();
    current.push_back(context);
  });
}

WARPGAUGE_API CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return query("cuCtxPopCurrent", [&](State&) {
    require(current_context() != nullptr, cudaErrorDeviceUninitialized);
    if (context != nullptr) *context = current.back();
    current.pop_back();
  });
}

WARPGAUGE_API CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return query("cuCtxGetDevice", [&](State&) {
    require(device != nullptr);
    context_or_current(context);
    *device = 0;
  });
}

WARPGAUGE_API CUresult cuCtxGetDevice(CUdevice* device) {
  return cuCtxGetDevice_v2(device, nullptr);
}

WARPGAUGE_API CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return query("cuCtxGetId", [&](State&) {
    require(id != nullptr);
    *id = used(context_or_current(context)).id;
  });
}

WARPGAUGE_API CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  return query("cuCtxGetApiVersion", [&](State&) {
    require(version != nullptr);
    context_or_current(context);
    *version = 3020;  // of all contexts since CUDA 3.2
  });
}

WARPGAUGE_API CUresult cuCtxGetFlags(unsigned* flags) {
  return query("cuCtxGetFlags", [&](State& state) {
    require(flags != nullptr);
    const Context& context = context_or_current(nullptr);
    *flags = &context == &contexts().primary ? state.device_flags : context.flags;
  });
}

WARPGAUGE_API CUresult cuCtxSetFlags(unsigned flags) {
  return query("cuCtxSetFlags", [&](State& state) {
    require((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0);
    Context& context = context_or_current(nullptr);
    (&context == &contexts().primary ? state.device_flags : context.flags) = flags;
  });
}

// Limits and preferences are the device's. Both sides have the same numbers.

WARPGAUGE_API CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return call("cuCtxGetLimit",
              [&] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}

WARPGAUGE_API CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return call("cuCtxSetLimit",
              [&] { return cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}

WARPGAUGE_API CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return call("cuCtxGetCacheConfig",
              [&] { return cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(config)); });
}

WARPGAUGE_API CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return call("cuCtxSetCacheConfig",
              [&] { return cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config)); });
}

WARPGAUGE_API CUresult cuCtxResetPersistingL2Cache() {
  return call("cuCtxResetPersistingL2Cache", [] { return cudaCtxResetPersistingL2Cache(); });
}

WARPGAUGE_API CUresult cuCtxSynchronize_v2(CUcontext context) {
  const CUresult result = query("cuCtxSynchronize", [&](State&) { context_or_current(context); });
  if (result != CUDA_SUCCESS) return result;
  return call_anywhere("cuCtxSynchronize", [] { return cudaDeviceSynchronize(); });
}

WARPGAUGE_API CUresult cuCtxSynchronize() { return cuCtxSynchronize_v2(nullptr); }

WARPGAUGE_API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return call("cuCtxGetStreamPriorityRange",
              [&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}

// Of streams: which of the contexts a stream is of makes no difference here.

namespace {

CUresult context_of_stream(const char* name, CUstream stream, CUcontext* context) {
  return call(name, [&] {
    unsigned flags = 0;
    if (const auto error = cudaStreamGetFlags(stream, &flags)) return error;
    return runtime::call_always(name, [&](State&) {
      require(context != nullptr);
      *context = current_context();
    });
  });
}

}  // namespace

#undef cuStreamGetCtx
#undef cuStreamGetCtx_v2

WARPGAUGE_API CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return context_of_stream("cuStreamGetCtx", stream, context);
}

#if CUDA_VERSION >= 12050
WARPGAUGE_API CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green != nullptr) *green = nullptr;
  return context_of_stream("cuStreamGetCtx", stream, context);
}
WARPGAUGE_PER_THREAD(cuStreamGetCtx_v2, _ptsz)
#endif
WARPGAUGE_PER_THREAD(cuStreamGetCtx, _ptsz)

}  // namespace warpgauge::emulator::driver
