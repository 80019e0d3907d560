// The device: there is one, number 0.
#include <cuda_profiler_api.h>

#include <algorithm>
#include <cstring>

#include "harness/emulator/driver/call.h"
#include "harness/emulator/runtime/device_properties.h"

#undef cuDeviceGetUuid  // an earlier variant, which the toolkit's headers do not declare

namespace warpgauge::emulator::driver {
namespace {

using runtime::require;
using runtime::State;

cudaDeviceProp properties_of(State& state) {
  return runtime::properties_of(state.arch(), state.limits());
}

int attribute_of(State& state, CUdevice_attribute attribute) {
  if (attribute == CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED)
    return state.limits().major >= 9;
  require(attribute > 0 && attribute < CU_DEVICE_ATTRIBUTE_MAX);
  // Both have the same numbers; the driver's own are of abilities that the emulated GPU lacks.
  return runtime::attribute_of(static_cast<cudaDeviceAttr>(attribute), state.arch(), state.limits())
      .value_or(0);
}

}  // namespace

WARPGAUGE_API CUresult cuDeviceGetCount(int* count) {
  return call_anywhere("cuDeviceGetCount", [&] { return cudaGetDeviceCount(count); });
}

WARPGAUGE_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return query("cuDeviceGet", [&](State&) {
    require(device != nullptr);
    require_device(ordinal);
    *device = 0;
  });
}

WARPGAUGE_API CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  return query("cuDeviceGetName", [&](State& state) {
    require(name != nullptr && bytes > 0);
    require_device(device);
    const cudaDeviceProp properties = properties_of(state);
    const std::size_t length =
        std::min(std::strlen(properties.name), static_cast<std::size_t>(bytes) - 1);
    std::memcpy(name, properties.name, length);
    name[length] = '\0';
  });
}

WARPGAUGE_API CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return query("cuDeviceGetUuid", [&](State& state) {
    require(uuid != nullptr);
    require_device(device);
    *uuid = properties_of(state).uuid;
  });
}

WARPGAUGE_API CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

WARPGAUGE_API CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  return query("cuDeviceTotalMem", [&](State&) {
    require(bytes != nullptr);
    require_device(device);
    *bytes = runtime::device_memory_bytes();
  });
}

WARPGAUGE_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                            CUdevice device) {
  return query("cuDeviceGetAttribute", [&](State& state) {
    require(value != nullptr);
    require_device(device);
    *value = attribute_of(state, attribute);
  });
}

WARPGAUGE_API CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return query("cuDeviceComputeCapability", [&](State& state) {
    require(major != nullptr && minor != nullptr);
    require_device(device);
    *major = state.limits().major;
    *minor = state.limits().minor;
  });
}

WARPGAUGE_API CUresult cuDeviceGetPCIBusId(char* id, int bytes, CUdevice device) {
  return call_anywhere("cuDeviceGetPCIBusId",
                       [&] { return cudaDeviceGetPCIBusId(id, bytes, device); });
}

WARPGAUGE_API CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return call_anywhere("cuDeviceGetByPCIBusId",
                       [&] { return cudaDeviceGetByPCIBusId(device, id); });
}

// There is one device, which has no peer.

WARPGAUGE_API CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return query("cuDeviceCanAccessPeer", [&](State&) {
    require(can != nullptr);
    require_device(device);
    require_device(peer);
    *can = 0;
  });
}

WARPGAUGE_API CUresult cuDeviceGetP2PAttribute(int*, CUdevice_P2PAttribute, CUdevice, CUdevice) {
  return query("cuDeviceGetP2PAttribute", [](State&) { require(false, cudaErrorInvalidDevice); });
}

// As the runtime's, the profiler is not there: programs that call it go on.

WARPGAUGE_API CUresult cuProfilerStart() {
  return call("cuProfilerStart", [] { return cudaProfilerStart(); });
}

WARPGAUGE_API CUresult cuProfilerStop() {
  return call("cuProfilerStop", [] { return cudaProfilerStop(); });
}

}  // namespace warpgauge::emulator::driver
