// Memory: allocations, copies, fills, and what is known of a pointer.
#include "harness/emulator/machine/memory/memory.h"

#include <cstdint>
#include <string>

#include "harness/emulator/driver/call.h"
#include "harness/emulator/driver/context.h"
#include "harness/emulator/runtime/capture.h"

namespace warpgauge::emulator::driver {
namespace {

using machine::memory::Memory;
using runtime::Failure;
using runtime::require;
using runtime::State;

/// Calls `allocate` with where the runtime puts the address. A size of 0 is an error here.
template <typename Allocate>
CUresult allocated(const char* name, CUdeviceptr* out, std::size_t bytes, Allocate allocate) {
  if (out == nullptr || bytes == 0) {
    return query(name, [](State&) { require(false); });
  }
  return call(name, [&] { return allocate(reinterpret_cast<void**>(out)); });
}

CUresult copied(const char* name, void* destination, const void* source, std::size_t bytes,
                cudaMemcpyKind kind) {
  return call(name, [&] { return cudaMemcpy(destination, source, bytes, kind); });
}

CUresult copied(const char* name, void* destination, const void* source, std::size_t bytes,
                cudaMemcpyKind kind, CUstream stream) {
  return call(name, [&] { return cudaMemcpyAsync(destination, source, bytes, kind, stream); });
}

/// Elements of the runtime's fills have one byte.
runtime::Fill fill_of(CUdeviceptr memory, unsigned value, std::size_t count, unsigned bytes) {
  require(memory % bytes == 0 && count <= SIZE_MAX / bytes);
  return {{static_cast<std::byte*>(pointer(memory)), 0, 0}, {count * bytes, 1, 1}, value, bytes};
}

CUresult filled(const char* name, CUdeviceptr memory, unsigned value, std::size_t count,
                unsigned bytes) {
  return call(name, [&] {
    return runtime::call_in_legacy_stream(name, [&](State& state) {
      runtime::submit(state, cudaStreamLegacy, fill_of(memory, value, count, bytes));
    });
  });
}

CUresult filled(const char* name, CUdeviceptr memory, unsigned value, std::size_t count,
                unsigned bytes, CUstream stream) {
  return call(name, [&] {
    return runtime::call_in_stream(name, [&](State& state) {
      runtime::submit(state, stream, fill_of(memory, value, count, bytes));
    });
  });
}

template <typename T>
void put(void* data, T value) {
  *static_cast<T*>(data) = value;
}

void put_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr address,
                   const Memory::Allocation& found) {
  const bool is_host = found.kind == Memory::Kind::pinned_host;
  const bool is_managed = found.kind == Memory::Kind::managed;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put(data, primary_context());
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(data, static_cast<unsigned>(is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(data, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      require(is_host || is_managed);
      return put(data, pointer(address));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put(data, static_cast<unsigned>(is_managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(data, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put(data, reinterpret_cast<CUdeviceptr>(found.begin));
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put(data, static_cast<std::size_t>(found.bytes));
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put(data, 1U);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put(data, 0U);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put(data, reinterpret_cast<unsigned long long>(found.begin));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put(data, CUmemoryPool{});
    default:
      throw Failure{cudaErrorNotSupported,
                    "attribute " + std::to_string(attribute) + " is not emulated"};
  }
}

/// cuPointerGetAttributes knows nothing, which is no error, where cuPointerGetAttribute fails.
bool has_attribute(CUpointer_attribute attribute, const Memory::Allocation& found) {
  return attribute != CU_POINTER_ATTRIBUTE_HOST_POINTER ||
         found.kind == Memory::Kind::pinned_host || found.kind == Memory::Kind::managed;
}

void put_nothing(void* data, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put(data, CUdeviceptr{});
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put(data, std::uint64_t{});
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(data, CU_DEVICE_INVALID);
    default:
      return put(data, 0U);
  }
}

}  // namespace

WARPGAUGE_API CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return call("cuMemGetInfo", [&] { return cudaMemGetInfo(free, total); });
}

WARPGAUGE_API CUresult cuMemAlloc_v2(CUdeviceptr* memory, std::size_t bytes) {
  return allocated("cuMemAlloc", memory, bytes, [&](void** out) { return cudaMalloc(out, bytes); });
}

WARPGAUGE_API CUresult cuMemAllocManaged(CUdeviceptr* memory, std::size_t bytes, unsigned flags) {
  return allocated("cuMemAllocManaged", memory, bytes,
                   [&](void** out) { return cudaMallocManaged(out, bytes, flags); });
}

WARPGAUGE_API CUresult cuMemAllocAsync(CUdeviceptr* memory, std::size_t bytes, CUstream stream) {
  return allocated("cuMemAllocAsync", memory, bytes,
                   [&](void** out) { return cudaMallocAsync(out, bytes, stream); });
}

WARPGAUGE_API CUresult cuMemFree_v2(CUdeviceptr memory) {
  return call("cuMemFree", [&] { return cudaFree(pointer(memory)); });
}

WARPGAUGE_API CUresult cuMemFreeAsync(CUdeviceptr memory, CUstream stream) {
  return call("cuMemFreeAsync", [&] { return cudaFreeAsync(pointer(memory), stream); });
}

WARPGAUGE_API CUresult cuMemAllocHost_v2(void** memory, std::size_t bytes) {
  return call("cuMemAllocHost", [&] { return cudaMallocHost(memory, bytes); });
}

WARPGAUGE_API CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  return call("cuMemHostAlloc", [&] { return cudaHostAlloc(memory, bytes, flags); });
}

WARPGAUGE_API CUresult cuMemFreeHost(void* memory) {
  return call("cuMemFreeHost", [&] { return cudaFreeHost(memory); });
}

WARPGAUGE_API CUresult cuMemcpy(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes) {
  return copied("cuMemcpy", pointer(destination), pointer(source), bytes, cudaMemcpyDefault);
}

WARPGAUGE_API CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes,
                                     CUstream stream) {
  return copied("cuMemcpyAsync", pointer(destination), pointer(source), bytes, cudaMemcpyDefault,
                stream);
}

WARPGAUGE_API CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void* source,
                                       std::size_t bytes) {
  return copied("cuMemcpyHtoD", pointer(destination), source, bytes, cudaMemcpyHostToDevice);
}

WARPGAUGE_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void* source,
                                            std::size_t bytes, CUstream stream) {
  return copied("cuMemcpyHtoDAsync", pointer(destination), source, bytes, cudaMemcpyHostToDevice,
                stream);
}

WARPGAUGE_API CUresult cuMemcpyDtoH_v2(void* destination, CUdeviceptr source, std::size_t bytes) {
  return copied("cuMemcpyDtoH", destination, pointer(source), bytes, cudaMemcpyDeviceToHost);
}

WARPGAUGE_API CUresult cuMemcpyDtoHAsync_v2(void* destination, CUdeviceptr source,
                                            std::size_t bytes, CUstream stream) {
  return copied("cuMemcpyDtoHAsync", destination, pointer(source), bytes, cudaMemcpyDeviceToHost,
                stream);
}

WARPGAUGE_API CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source,
                                       std::size_t bytes) {
  return copied("cuMemcpyDtoD", pointer(destination), pointer(source), bytes,
                cudaMemcpyDeviceToDevice);
}

WARPGAUGE_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source,
                                            std::size_t bytes, CUstream stream) {
  return copied("cuMemcpyDtoDAsync", pointer(destination), pointer(source), bytes,
                cudaMemcpyDeviceToDevice, stream);
}

WARPGAUGE_API CUresult cuMemsetD8_v2(CUdeviceptr memory, unsigned char value, std::size_t count) {
  return filled("cuMemsetD8", memory, value, count, 1);
}

WARPGAUGE_API CUresult cuMemsetD8Async(CUdeviceptr memory, unsigned char value, std::size_t count,
                                       CUstream stream) {
  return filled("cuMemsetD8Async", memory, value, count, 1, stream);
}

WARPGAUGE_API CUresult cuMemsetD16_v2(CUdeviceptr memory, unsigned short value, std::size_t count) {
  return filled("cuMemsetD16", memory, value, count, 2);
}

WARPGAUGE_API CUresult cuMemsetD16Async(CUdeviceptr memory, unsigned short value, std::size_t count,
                                        CUstream stream) {
  return filled("cuMemsetD16Async", memory, value, count, 2, stream);
}

WARPGAUGE_API CUresult cuMemsetD32_v2(CUdeviceptr memory, unsigned value, std::size_t count) {
  return filled("cuMemsetD32", memory, value, count, 4);
}

WARPGAUGE_API CUresult cuMemsetD32Async(CUdeviceptr memory, unsigned value, std::size_t count,
                                        CUstream stream) {
  return filled("cuMemsetD32Async", memory, value, count, 4, stream);
}

WARPGAUGE_API CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute,
                                             CUdeviceptr address) {
  return query("cuPointerGetAttribute", [&](State& state) {
    const auto found = state.memory().find(pointer(address));
    require(data != nullptr && found.has_value());
    put_attribute(data, attribute, address, *found);
  });
}

WARPGAUGE_API CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes,
                                              void** data, CUdeviceptr address) {
  return query("cuPointerGetAttributes", [&](State& state) {
    require(count == 0 || (attributes != nullptr && data != nullptr));
    const auto found = state.memory().find(pointer(address));
    for (unsigned i = 0; i < count; ++i) {
      require(data[i] != nullptr);
      if (!found || !has_attribute(attributes[i], *found)) {
        put_nothing(data[i], attributes[i]);
      } else {
        put_attribute(data[i], attributes[i], address, *found);
      }
    }
  });
}

WARPGAUGE_API CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                                             CUdeviceptr address) {
  return query("cuPointerSetAttribute", [&](State& state) {
    require(value != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);  // they all are
    require(state.memory().find(pointer(address)).has_value());
  });
}

WARPGAUGE_API CUresult cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned flags) {
  return call("cuMemHostRegister", [&] { return cudaHostRegister(memory, bytes, flags); });
}

WARPGAUGE_API CUresult cuMemHostUnregister(void* memory) {
  return call("cuMemHostUnregister", [&] { return cudaHostUnregister(memory); });
}

WARPGAUGE_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* memory,
                                                    unsigned flags) {
  return call("cuMemHostGetDevicePointer", [&] {
    return cudaHostGetDevicePointer(reinterpret_cast<void**>(out), memory, flags);
  });
}

WARPGAUGE_API CUresult cuMemHostGetFlags(unsigned* flags, void* memory) {
  return call("cuMemHostGetFlags", [&] { return cudaHostGetFlags(flags, memory); });
}

WARPGAUGE_API CUresult cuMemGetAddressRange_v2(CUdeviceptr* begin, std::size_t* bytes,
                                               CUdeviceptr address) {
  return query("cuMemGetAddressRange", [&](State& state) {
    const auto found = state.memory().find(pointer(address));
    require(found.has_value(), cudaErrorSymbolNotFound);
    if (begin != nullptr) *begin = reinterpret_cast<CUdeviceptr>(found->begin);
    if (bytes != nullptr) *bytes = found->bytes;
  });
}

WARPGAUGE_PER_THREAD(cuMemAllocAsync, _ptsz)
WARPGAUGE_PER_THREAD(cuMemFreeAsync, _ptsz)
WARPGAUGE_PER_THREAD(cuMemcpy, _ptds)
WARPGAUGE_PER_THREAD(cuMemcpyAsync, _ptsz)
WARPGAUGE_PER_THREAD(cuMemcpyHtoD_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemcpyHtoDAsync_v2, _ptsz)
WARPGAUGE_PER_THREAD(cuMemcpyDtoH_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemcpyDtoHAsync_v2, _ptsz)
WARPGAUGE_PER_THREAD(cuMemcpyDtoD_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemcpyDtoDAsync_v2, _ptsz)
WARPGAUGE_PER_THREAD(cuMemsetD8_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemsetD8Async, _ptsz)
WARPGAUGE_PER_THREAD(cuMemsetD16_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemsetD16Async, _ptsz)
WARPGAUGE_PER_THREAD(cuMemsetD32_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemsetD32Async, _ptsz)

}  // namespace warpgauge::emulator::driver
