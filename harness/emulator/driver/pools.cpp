// Memory pools. Both sides have the same structures and numbers.
#include <cstring>

#include "harness/emulator/driver/call.h"

namespace warpgauge::emulator::driver {
namespace {

static_assert(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD == int{cudaMemPoolAttrReleaseThreshold});
static_assert(CU_MEMPOOL_ATTR_USED_MEM_HIGH == int{cudaMemPoolAttrUsedMemHigh});

cudaMemPoolAttr same(CUmemPool_attribute attribute) {
  return static_cast<cudaMemPoolAttr>(attribute);
}

}  // namespace

WARPGAUGE_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return call_anywhere("cuDeviceGetDefaultMemPool",
                       [&] { return cudaDeviceGetDefaultMemPool(pool, device); });
}

WARPGAUGE_API CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return call_anywhere("cuDeviceGetMemPool", [&] { return cudaDeviceGetMemPool(pool, device); });
}

WARPGAUGE_API CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return call_anywhere("cuDeviceSetMemPool", [&] { return cudaDeviceSetMemPool(device, pool); });
}

WARPGAUGE_API CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
  return call_anywhere("cuMemPoolCreate", [&] {
    return cudaMemPoolCreate(pool, reinterpret_cast<const cudaMemPoolProps*>(properties));
  });
}

WARPGAUGE_API CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return call_anywhere("cuMemPoolDestroy", [&] { return cudaMemPoolDestroy(pool); });
}

WARPGAUGE_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t kept_bytes) {
  return call_anywhere("cuMemPoolTrimTo", [&] { return cudaMemPoolTrimTo(pool, kept_bytes); });
}

WARPGAUGE_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                             void* value) {
  return call_anywhere("cuMemPoolGetAttribute",
                       [&] { return cudaMemPoolGetAttribute(pool, same(attribute), value); });
}

WARPGAUGE_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                             void* value) {
  return call_anywhere("cuMemPoolSetAttribute",
                       [&] { return cudaMemPoolSetAttribute(pool, same(attribute), value); });
}

WARPGAUGE_API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* wanted,
                                          std::size_t count) {
  return call_anywhere("cuMemPoolSetAccess", [&] {
    return cudaMemPoolSetAccess(pool, reinterpret_cast<const cudaMemAccessDesc*>(wanted), count);
  });
}

// Its one device reaches every pool.
WARPGAUGE_API CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool,
                                          CUmemLocation* location) {
  return call_anywhere("cuMemPoolGetAccess", [&] {
    if (const auto error = cudaMemPoolTrimTo(pool, 0)) return error;  // whether it is there
    return runtime::call_always("cuMemPoolGetAccess", [&](runtime::State&) {
      runtime::require(flags != nullptr && location != nullptr);
      *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    });
  });
}

WARPGAUGE_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr* memory, std::size_t bytes,
                                               CUmemoryPool pool, CUstream stream) {
  return call("cuMemAllocFromPoolAsync", [&] {
    return cudaMallocFromPoolAsync(reinterpret_cast<void**>(memory), bytes, pool, stream);
  });
}

WARPGAUGE_PER_THREAD(cuMemAllocFromPoolAsync, _ptsz)

}  // namespace warpgauge::emulator::driver
