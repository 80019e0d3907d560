// Contexts.
#include "harness/emulator/driver/context.h"

#include <atomic>

#include "harness/emulator/driver/call.h"

#undef cuDevicePrimaryCtxRelease  // an earlier variant, which the toolkit's headers do not declare

namespace warpgauge::emulator::driver {
namespace {

using runtime::require;
using runtime::State;

char primary_object;  // its address is the handle
std::atomic<int> retained = 0;

void require_context(CUcontext context) {
  require(context == primary_context(),
          cudaErrorDeviceUninitialized);  // CUDA_ERROR_INVALID_CONTEXT
}

void give_primary(CUcontext* context) {
  require(context != nullptr);
  *context = primary_context();
}

void require_current(CUcontext context) {
  if (context != nullptr) require_context(context);  // else the one that is current
}

}  // namespace

CUcontext primary_context() { return reinterpret_cast<CUcontext>(&primary_object); }

WARPGAUGE_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return query("cuDevicePrimaryCtxRetain", [&](State& state) {
    require_device(device);
    give_primary(context);
    state.device();
    ++retained;
  });
}

WARPGAUGE_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return query("cuDevicePrimaryCtxRelease", [&](State&) {
    require_device(device);
    require(retained > 0, cudaErrorDeviceUninitialized);
    --retained;
  });
}

WARPGAUGE_API CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return cuDevicePrimaryCtxRelease_v2(device);
}

WARPGAUGE_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return query("cuDevicePrimaryCtxGetState", [&](State& state) {
    require_device(device);
    require(flags != nullptr && active != nullptr);
    *flags = state.device_flags;
    *active = state.has_device();
  });
}

WARPGAUGE_API CUresult cuCtxGetCurrent(CUcontext* context) {
  return query("cuCtxGetCurrent", [&](State&) { give_primary(context); });
}

// nullptr stands for no context; the primary context stays current.
WARPGAUGE_API CUresult cuCtxSetCurrent(CUcontext context) {
  return query("cuCtxSetCurrent", [&](State&) { require_current(context); });
}

WARPGAUGE_API CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return query("cuCtxPushCurrent", [&](State&) { require_context(context); });
}

WARPGAUGE_API CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return query("cuCtxPopCurrent", [&](State&) {
    if (context != nullptr) *context = primary_context();
  });
}

WARPGAUGE_API CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return query("cuCtxGetDevice", [&](State&) {
    require(device != nullptr);
    require_current(context);
    *device = 0;
  });
}

WARPGAUGE_API CUresult cuCtxGetDevice(CUdevice* device) {
  return cuCtxGetDevice_v2(device, nullptr);
}

WARPGAUGE_API CUresult cuCtxSynchronize_v2(CUcontext context) {
  const CUresult result = query("cuCtxSynchronize", [&](State&) { require_current(context); });
  if (result != CUDA_SUCCESS) return result;
  return call("cuCtxSynchronize", [] { return cudaDeviceSynchronize(); });
}

WARPGAUGE_API CUresult cuCtxSynchronize() { return cuCtxSynchronize_v2(nullptr); }

WARPGAUGE_API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return call("cuCtxGetStreamPriorityRange",
              [&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}

}  // namespace warpgauge::emulator::driver
