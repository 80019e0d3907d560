// Device management: there is one device, number 0.
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/capture.h"
#include "harness/emulator/runtime/device_properties.h"

namespace warpgauge::emulator::runtime {

namespace {

constexpr char kPciBusId[] = "0000:00:00.0";
constexpr std::size_t kDefaultStackBytes = 1024;
constexpr std::size_t kUnsetStackBytes = 512 << 10;  // the machine's default

void require_device(int device) { require(device == 0, cudaErrorInvalidDevice); }

std::size_t default_limit(State& state, cudaLimit limit) {
  switch (limit) {
    case cudaLimitStackSize:
      return kDefaultStackBytes;
    case cudaLimitPrintfFifoSize:
      return state.options().printf_bytes;
    case cudaLimitMallocHeapSize:
      return state.options().heap_bytes;
    case cudaLimitMaxL2FetchGranularity:
      return 128;
    case cudaLimitPersistingL2CacheSize:
      return 0;
    case cudaLimitDevRuntimePendingLaunchCount:  // of which there may be any number here
      return 2048;
    default:
      throw Failure{cudaErrorUnsupportedLimit};
  }
}

}  // namespace

WARPGAUGE_API cudaError_t cudaGetDeviceCount(int* count) {
  return call_always(__func__, [&](State&) {
    require(count != nullptr);
    *count = 1;
  });
}

// The headers of CUDA 12 rename this function and cudaEventElapsedTime to their later versions.
WARPGAUGE_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call_always(__func__, [&](State& state) {
    require(properties != nullptr);
    require_device(device);
    *properties = properties_of(state.arch(), state.limits());
  });
}

WARPGAUGE_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call_always(__func__, [&](State& state) {
    require_device(device);
    const auto found = attribute_of(attribute, state.arch(), state.limits());
    require(value != nullptr && found.has_value());
    *value = *found;
  });
}

WARPGAUGE_API cudaError_t cudaGetDevice(int* device) {
  return call_always(__func__, [&](State&) {
    require(device != nullptr);
    *device = 0;
  });
}

WARPGAUGE_API cudaError_t cudaSetDevice(int device) {
  return call(__func__, [&](State& state) {
    require_device(device);
    state.device();
  });
}

WARPGAUGE_API cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return call(__func__, [&](State& state) {
    require_device(device);
    state.device();
  });
}

WARPGAUGE_API cudaError_t cudaSetValidDevices(int* devices, int count) {
  return call_always(__func__, [&](State&) {
    require(devices != nullptr || count == 0);
    for (int i = 0; i < count; ++i) require_device(devices[i]);
  });
}

WARPGAUGE_API cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  return call_always(__func__, [&](State&) {
    require(device != nullptr && properties != nullptr);
    *device = 0;
  });
}

WARPGAUGE_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call_always(__func__, [&](State& state) {
    require((flags & ~static_cast<unsigned>(cudaDeviceMask)) == 0);
    state.device_flags = flags;
  });
}

WARPGAUGE_API cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call_always(__func__, [&](State& state) {
    require(flags != nullptr);
    *flags = state.device_flags | cudaDeviceMapHost;
  });
}

WARPGAUGE_API cudaError_t cudaDeviceSynchronize() {
  return call_waiting(__func__, [](State& state) { refuse_unsafe(state); });
}

WARPGAUGE_API cudaError_t cudaDeviceReset() {
  const cudaError_t error = call_always(__func__, [](State& state) {
    state.background.wait();
    state.reset_device();
  });
  if (error == cudaSuccess) cudaGetLastError();  // a reported fault ends with the device
  return error;
}

WARPGAUGE_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return call(__func__, [&](State& state) {
    default_limit(state, limit);
    state.set_limits[limit] = value;
    if (limit == cudaLimitPrintfFifoSize) state.options().printf_bytes = value;
    if (limit == cudaLimitMallocHeapSize) state.options().heap_bytes = value;
    // Frames are larger here than on a GPU, where much of them is in registers.
    if (limit == cudaLimitStackSize && value > kUnsetStackBytes) {
      state.options().stack_bytes = value;
    }
    state.apply_options();
  });
}

WARPGAUGE_API cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return call(__func__, [&](State& state) {
    require(value != nullptr);
    const auto set = state.set_limits.find(limit);
    *value = set != state.set_limits.end() ? set->second : default_limit(state, limit);
  });
}

WARPGAUGE_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return call(__func__, [&](State& state) {
    require(config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual);
    state.cache_config = config;
  });
}

WARPGAUGE_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return call(__func__, [&](State& state) {
    require(config != nullptr);
    *config = state.cache_config;
  });
}

WARPGAUGE_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return call(__func__, [](State&) {});  // since Maxwell banks are always four bytes wide
}

WARPGAUGE_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return call(__func__, [&](State&) {
    require(config != nullptr);
    *config = cudaSharedMemBankSizeFourByte;
  });
}

WARPGAUGE_API cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  return call_always(__func__, [&](State&) {
    require_device(device);
    require(id != nullptr && length >= static_cast<int>(sizeof kPciBusId));
    std::memcpy(id, kPciBusId, sizeof kPciBusId);
  });
}

WARPGAUGE_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return call_always(__func__, [&](State&) {
    require(device != nullptr && id != nullptr);
    require(std::strcmp(id, kPciBusId) == 0 || std::strcmp(id, kPciBusId + 5) == 0);
    *device = 0;
  });
}

WARPGAUGE_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(
    std::size_t* width, const cudaChannelFormatDesc* channels, int device) {
  return call_always(__func__, [&](State&) {
    require_device(device);
    require(width != nullptr && channels != nullptr);
    *width = kMaxTexture1dLinear;
  });
}

// There is no second device: what names one is wrong.

WARPGAUGE_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call_always(__func__, [&](State&) {
    require(can != nullptr);
    require_device(device);
    require_device(peer);
    *can = 0;
  });
}

WARPGAUGE_API cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return call(__func__, [](State&) { require(false, cudaErrorInvalidDevice); });
}

WARPGAUGE_API cudaError_t cudaDeviceDisablePeerAccess(int) {
  return call(__func__, [](State&) { require(false, cudaErrorInvalidDevice); });
}

WARPGAUGE_API cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return call_always(__func__, [](State&) { require(false, cudaErrorInvalidDevice); });
}

WARPGAUGE_API cudaError_t cudaDriverGetVersion(int* version) {
  return call_always(__func__, [&](State&) {
    require(version != nullptr);
    *version = driver_version();
  });
}

WARPGAUGE_API cudaError_t cudaRuntimeGetVersion(int* version) {
  return call_always(__func__, [&](State&) {
    require(version != nullptr);
    *version = CUDART_VERSION;
  });
}

WARPGAUGE_API cudaError_t cudaCtxResetPersistingL2Cache() {
  return call(__func__, [](State&) {});
}

WARPGAUGE_API cudaError_t cudaProfilerStart() {
  return call(__func__, [](State&) {});
}

WARPGAUGE_API cudaError_t cudaProfilerStop() {
  return call(__func__, [](State&) {});
}

}  // namespace warpgauge::emulator::runtime
