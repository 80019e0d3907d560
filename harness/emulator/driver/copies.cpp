// Copies and fills of two and three dimensions, to and from arrays, and between devices.
#include "harness/emulator/driver/copies.h"

#include <bit>
#include <cstdint>

#include "harness/emulator/driver/arrays.h"
#include "harness/emulator/driver/call.h"
#include "harness/emulator/runtime/arrays.h"
#include "harness/emulator/runtime/capture.h"

namespace warpgauge::emulator::driver {
namespace {

using runtime::require;
using runtime::State;

/// One end of a copy, in bytes, as the driver's structures have it.
struct CopyEnd {
  std::size_t x = 0, y = 0, z = 0, lod = 0;
  CUmemorytype type{};
  const void* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  std::size_t pitch = 0, height = 0;

  bool is_host() const { return type == CU_MEMORYTYPE_HOST; }
  const void* memory() const { return is_host() ? host : pointer(device); }
};

CopyEnd source_of(const CUDA_MEMCPY3D& p) {
  return {p.srcXInBytes, p.srcY,      p.srcZ,     p.srcLOD,   p.srcMemoryType,
          p.srcHost,     p.srcDevice, p.srcArray, p.srcPitch, p.srcHeight};
}

CopyEnd destination_of(const CUDA_MEMCPY3D& p) {
  return {p.dstXInBytes, p.dstY,      p.dstZ,     p.dstLOD,   p.dstMemoryType,
          p.dstHost,     p.dstDevice, p.dstArray, p.dstPitch, p.dstHeight};
}

std::size_t element_bytes_of(State& state, const CopyEnd& end) {
  if (end.type != CU_MEMORYTYPE_ARRAY) return 1;
  return runtime::array_of(state, array_of(end.array)).element_bytes();
}

void check(const CopyEnd& end, const CUDA_MEMCPY3D& p) {
  require(end.type >= CU_MEMORYTYPE_HOST && end.type <= CU_MEMORYTYPE_UNIFIED && end.lod == 0);
  if (end.type == CU_MEMORYTYPE_ARRAY) return;
  const bool has_rows = p.Height > 1 || p.Depth > 1;
  require(!has_rows || end.pitch >= p.WidthInBytes + end.x);
  require(p.Depth <= 1 || end.height >= p.Height + end.y);
}

/// Where in an array, or in memory, a copy begins.
cudaPos position_of(State& state, const CopyEnd& end) {
  const std::size_t bytes = element_bytes_of(state, end);
  require(end.x % bytes == 0);
  return {end.x / bytes, end.y, end.z};
}

cudaPitchedPtr memory_of(const CopyEnd& end, const CUDA_MEMCPY3D& p) {
  return {const_cast<void*>(end.memory()), end.pitch, p.WidthInBytes, end.height};
}

cudaMemcpyKind kind_of(const CopyEnd& destination, const CopyEnd& source) {
  for (const CopyEnd* end : {&destination, &source}) {
    if (end->type == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  }
  if (source.is_host())
    return destination.is_host() ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  return destination.is_host() ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

CUmemorytype type_of(cudaArray_t array, bool is_host, bool is_any) {
  if (array != nullptr) return CU_MEMORYTYPE_ARRAY;
  if (is_any) return CU_MEMORYTYPE_UNIFIED;
  return is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

/// Calls `copy` with the runtime's parameters.
template <typename Parameters, typename Convert, typename RuntimeCopy>
CUresult copied_box(const char* name, const Parameters* given, Convert convert, RuntimeCopy copy) {
  return call(name, [&] {
    cudaMemcpy3DParms same{};
    const auto error = runtime::call_in_stream(name, [&](State& state) {
      require(given != nullptr);
      same = copy_of(state, convert(*given));
    });
    return error == cudaSuccess ? copy(same) : error;
  });
}

const CUDA_MEMCPY3D& unchanged(const CUDA_MEMCPY3D& p) { return p; }

CUDA_MEMCPY3D one_slice(const CUDA_MEMCPY2D& p) {
  CUDA_MEMCPY3D out{};
  out.srcXInBytes = p.srcXInBytes;
  out.srcY = p.srcY;
  out.srcMemoryType = p.srcMemoryType;
  out.srcHost = p.srcHost;
  out.srcDevice = p.srcDevice;
  out.srcArray = p.srcArray;
  out.srcPitch = p.srcPitch;
  out.dstXInBytes = p.dstXInBytes;
  out.dstY = p.dstY;
  out.dstMemoryType = p.dstMemoryType;
  out.dstHost = p.dstHost;
  out.dstDevice = p.dstDevice;
  out.dstArray = p.dstArray;
  out.dstPitch = p.dstPitch;
  out.WidthInBytes = p.WidthInBytes;
  out.Height = p.Height;
  out.Depth = 1;
  return out;
}

CopyEnd in_host(const void* memory) { return {.type = CU_MEMORYTYPE_HOST, .host = memory}; }
CopyEnd in_device(CUdeviceptr memory) { return {.type = CU_MEMORYTYPE_DEVICE, .device = memory}; }
CopyEnd in_array(CUarray array, std::size_t offset) {
  return {.x = offset, .type = CU_MEMORYTYPE_ARRAY, .array = array};
}

/// A row of bytes.
struct Run {
  CopyEnd destination, source;
  std::size_t bytes;
};

CUDA_MEMCPY3D box_of(const Run& run) {
  CUDA_MEMCPY3D out{};
  out.srcXInBytes = run.source.x;
  out.srcMemoryType = run.source.type;
  out.srcHost = run.source.host;
  out.srcDevice = run.source.device;
  out.srcArray = run.source.array;
  out.dstXInBytes = run.destination.x;
  out.dstMemoryType = run.destination.type;
  out.dstHost = const_cast<void*>(run.destination.host);
  out.dstDevice = run.destination.device;
  out.dstArray = run.destination.array;
  out.WidthInBytes = run.bytes;
  out.Height = out.Depth = 1;
  return out;
}

CUresult copied_run(const char* name, const CopyEnd& destination, const CopyEnd& source,
                    std::size_t bytes) {
  const Run run{destination, source, bytes};
  return copied_box(name, &run, box_of,
                    [](const cudaMemcpy3DParms& same) { return cudaMemcpy3D(&same); });
}

CUresult copied_run(const char* name, const CopyEnd& destination, const CopyEnd& source,
                    std::size_t bytes, CUstream stream) {
  const Run run{destination, source, bytes};
  return copied_box(name, &run, box_of, [&](const cudaMemcpy3DParms& same) {
    return cudaMemcpy3DAsync(&same, stream);
  });
}

/// Contexts do not matter: there is one device.
CUDA_MEMCPY3D on_one_device(const CUDA_MEMCPY3D_PEER& p) {
  auto out = std::bit_cast<CUDA_MEMCPY3D>(p);
  out.reserved0 = out.reserved1 = nullptr;
  return out;
}

void require_contexts(CUcontext first, CUcontext second) {
  require(first != nullptr && second != nullptr, cudaErrorDeviceUninitialized);
}

template <typename RuntimeCopy>
CUresult copied_peer(const char* name, CUcontext to, CUcontext from, RuntimeCopy copy) {
  return call(name, [&] {
    const auto error = runtime::call_in_stream(name, [&](State&) { require_contexts(to, from); });
    return error == cudaSuccess ? copy() : error;
  });
}

runtime::Fill rows_of(CUdeviceptr memory, std::size_t pitch, unsigned value, std::size_t width,
                      std::size_t height, unsigned bytes) {
  require(memory % bytes == 0 && width <= SIZE_MAX / bytes);
  require(height <= 1 || (pitch % bytes == 0 && width * bytes <= pitch));
  return {{static_cast<std::byte*>(pointer(memory)), pitch, 0},
          {width * bytes, height, 1},
          value,
          bytes};
}

CUresult filled_rows(const char* name, CUdeviceptr memory, std::size_t pitch, unsigned value,
                     std::size_t width, std::size_t height, unsigned bytes) {
  return call(name, [&] {
    return runtime::call_in_legacy_stream(name, [&](State& state) {
      runtime::submit(state, cudaStreamLegacy, rows_of(memory, pitch, value, width, height, bytes));
    });
  });
}

CUresult filled_rows(const char* name, CUdeviceptr memory, std::size_t pitch, unsigned value,
                     std::size_t width, std::size_t height, unsigned bytes, CUstream stream) {
  return call(name, [&] {
    return runtime::call_in_stream(name, [&](State& state) {
      runtime::submit(state, stream, rows_of(memory, pitch, value, width, height, bytes));
    });
  });
}

}  // namespace

cudaMemcpy3DParms copy_of(State& state, const CUDA_MEMCPY3D& given) {
  const CopyEnd source = source_of(given), destination = destination_of(given);
  cudaMemcpy3DParms out{};
  std::size_t unit = 1;
  for (const CopyEnd* end : {&source, &destination}) {
    check(*end, given);
    if (end->type == CU_MEMORYTYPE_ARRAY) unit = element_bytes_of(state, *end);
  }
  out.srcPos = position_of(state, source);
  out.dstPos = position_of(state, destination);
  if (source.type == CU_MEMORYTYPE_ARRAY) {
    out.srcArray = array_of(source.array);
  } else {
    out.srcPtr = memory_of(source, given);
  }
  if (destination.type == CU_MEMORYTYPE_ARRAY) {
    out.dstArray = array_of(destination.array);
  } else {
    out.dstPtr = memory_of(destination, given);
  }
  require(given.WidthInBytes % unit == 0);
  out.extent = {given.WidthInBytes / unit, given.Height, given.Depth};
  out.kind = kind_of(destination, source);
  return out;
}

CUDA_MEMCPY3D copy_of(State& state, const cudaMemcpy3DParms& given) {
  const auto bytes_of = [&](cudaArray_t array) {
    return array == nullptr ? 1 : runtime::array_of(state, array).element_bytes();
  };
  const auto kind = given.kind;
  const bool is_any = kind == cudaMemcpyDefault;
  const std::size_t from_bytes = bytes_of(given.srcArray), to_bytes = bytes_of(given.dstArray);
  CUDA_MEMCPY3D out{};
  out.srcXInBytes = given.srcPos.x * from_bytes;
  out.srcY = given.srcPos.y;
  out.srcZ = given.srcPos.z;
  out.srcMemoryType = type_of(
      given.srcArray, kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice, is_any);
  out.srcArray = array_of(given.srcArray);
  out.srcHost = out.srcMemoryType == CU_MEMORYTYPE_HOST ? given.srcPtr.ptr : nullptr;
  if (out.srcHost == nullptr) out.srcDevice = reinterpret_cast<CUdeviceptr>(given.srcPtr.ptr);
  out.srcPitch = given.srcPtr.pitch;
  out.srcHeight = given.srcPtr.ysize;
  out.dstXInBytes = given.dstPos.x * to_bytes;
  out.dstY = given.dstPos.y;
  out.dstZ = given.dstPos.z;
  out.dstMemoryType = type_of(
      given.dstArray, kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost, is_any);
  out.dstArray = array_of(given.dstArray);
  out.dstHost = out.dstMemoryType == CU_MEMORYTYPE_HOST ? given.dstPtr.ptr : nullptr;
  if (out.dstHost == nullptr) out.dstDevice = reinterpret_cast<CUdeviceptr>(given.dstPtr.ptr);
  out.dstPitch = given.dstPtr.pitch;
  out.dstHeight = given.dstPtr.ysize;
  out.WidthInBytes = given.extent.width * (given.dstArray != nullptr ? to_bytes : from_bytes);
  out.Height = given.extent.height;
  out.Depth = given.extent.depth;
  return out;
}

WARPGAUGE_API CUresult cuMemAllocPitch_v2(CUdeviceptr* memory, std::size_t* pitch,
                                          std::size_t width, std::size_t height,
                                          unsigned element_bytes) {
  return call("cuMemAllocPitch", [&] {
    const bool is_valid = memory != nullptr && width > 0 && height > 0 &&
                          (element_bytes == 4 || element_bytes == 8 || element_bytes == 16);
    if (!is_valid) return cudaErrorInvalidValue;
    return cudaMallocPitch(reinterpret_cast<void**>(memory), pitch, width, height);
  });
}

WARPGAUGE_API CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* p) {
  return copied_box("cuMemcpy2D", p, one_slice,
                    [](const cudaMemcpy3DParms& same) { return cudaMemcpy3D(&same); });
}

WARPGAUGE_API CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* p) {
  return copied_box("cuMemcpy2DUnaligned", p, one_slice,
                    [](const cudaMemcpy3DParms& same) { return cudaMemcpy3D(&same); });
}

WARPGAUGE_API CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* p, CUstream stream) {
  return copied_box("cuMemcpy2DAsync", p, one_slice, [&](const cudaMemcpy3DParms& same) {
    return cudaMemcpy3DAsync(&same, stream);
  });
}

WARPGAUGE_API CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* p) {
  return copied_box("cuMemcpy3D", p, unchanged,
                    [](const cudaMemcpy3DParms& same) { return cudaMemcpy3D(&same); });
}

WARPGAUGE_API CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* p, CUstream stream) {
  return copied_box("cuMemcpy3DAsync", p, unchanged, [&](const cudaMemcpy3DParms& same) {
    return cudaMemcpy3DAsync(&same, stream);
  });
}

WARPGAUGE_API CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* p) {
  return copied_box("cuMemcpy3DPeer", p, on_one_device,
                    [](const cudaMemcpy3DParms& same) { return cudaMemcpy3D(&same); });
}

WARPGAUGE_API CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* p, CUstream stream) {
  return copied_box("cuMemcpy3DPeerAsync", p, on_one_device, [&](const cudaMemcpy3DParms& same) {
    return cudaMemcpy3DAsync(&same, stream);
  });
}

WARPGAUGE_API CUresult cuMemcpyPeer(CUdeviceptr destination, CUcontext to, CUdeviceptr source,
                                    CUcontext from, std::size_t bytes) {
  return copied_peer("cuMemcpyPeer", to, from, [&] {
    return cudaMemcpyPeer(pointer(destination), 0, pointer(source), 0, bytes);
  });
}

WARPGAUGE_API CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext to, CUdeviceptr source,
                                         CUcontext from, std::size_t bytes, CUstream stream) {
  return copied_peer("cuMemcpyPeerAsync", to, from, [&] {
    return cudaMemcpyPeerAsync(pointer(destination), 0, pointer(source), 0, bytes, stream);
  });
}

WARPGAUGE_API CUresult cuMemcpyDtoA_v2(CUarray array, std::size_t offset, CUdeviceptr source,
                                       std::size_t bytes) {
  return copied_run("cuMemcpyDtoA", in_array(array, offset), in_device(source), bytes);
}

WARPGAUGE_API CUresult cuMemcpyAtoD_v2(CUdeviceptr destination, CUarray array, std::size_t offset,
                                       std::size_t bytes) {
  return copied_run("cuMemcpyAtoD", in_device(destination), in_array(array, offset), bytes);
}

WARPGAUGE_API CUresult cuMemcpyHtoA_v2(CUarray array, std::size_t offset, const void* source,
                                       std::size_t bytes) {
  return copied_run("cuMemcpyHtoA", in_array(array, offset), in_host(source), bytes);
}

WARPGAUGE_API CUresult cuMemcpyHtoAAsync_v2(CUarray array, std::size_t offset, const void* source,
                                            std::size_t bytes, CUstream stream) {
  return copied_run("cuMemcpyHtoAAsync", in_array(array, offset), in_host(source), bytes, stream);
}

WARPGAUGE_API CUresult cuMemcpyAtoH_v2(void* destination, CUarray array, std::size_t offset,
                                       std::size_t bytes) {
  return copied_run("cuMemcpyAtoH", in_host(destination), in_array(array, offset), bytes);
}

WARPGAUGE_API CUresult cuMemcpyAtoHAsync_v2(void* destination, CUarray array, std::size_t offset,
                                            std::size_t bytes, CUstream stream) {
  return copied_run("cuMemcpyAtoHAsync", in_host(destination), in_array(array, offset), bytes,
                    stream);
}

WARPGAUGE_API CUresult cuMemcpyAtoA_v2(CUarray to, std::size_t to_offset, CUarray from,
                                       std::size_t from_offset, std::size_t bytes) {
  return copied_run("cuMemcpyAtoA", in_array(to, to_offset), in_array(from, from_offset), bytes);
}

WARPGAUGE_API CUresult cuMemsetD2D8_v2(CUdeviceptr memory, std::size_t pitch, unsigned char value,
                                       std::size_t width, std::size_t height) {
  return filled_rows("cuMemsetD2D8", memory, pitch, value, width, height, 1);
}

WARPGAUGE_API CUresult cuMemsetD2D8Async(CUdeviceptr memory, std::size_t pitch, unsigned char value,
                                         std::size_t width, std::size_t height, CUstream stream) {
  return filled_rows("cuMemsetD2D8Async", memory, pitch, value, width, height, 1, stream);
}

WARPGAUGE_API CUresult cuMemsetD2D16_v2(CUdeviceptr memory, std::size_t pitch, unsigned short value,
                                        std::size_t width, std::size_t height) {
  return filled_rows("cuMemsetD2D16", memory, pitch, value, width, height, 2);
}

WARPGAUGE_API CUresult cuMemsetD2D16Async(CUdeviceptr memory, std::size_t pitch,
                                          unsigned short value, std::size_t width,
                                          std::size_t height, CUstream stream) {
  return filled_rows("cuMemsetD2D16Async", memory, pitch, value, width, height, 2, stream);
}

WARPGAUGE_API CUresult cuMemsetD2D32_v2(CUdeviceptr memory, std::size_t pitch, unsigned value,
                                        std::size_t width, std::size_t height) {
  return filled_rows("cuMemsetD2D32", memory, pitch, value, width, height, 4);
}

WARPGAUGE_API CUresult cuMemsetD2D32Async(CUdeviceptr memory, std::size_t pitch, unsigned value,
                                          std::size_t width, std::size_t height, CUstream stream) {
  return filled_rows("cuMemsetD2D32Async", memory, pitch, value, width, height, 4, stream);
}

WARPGAUGE_PER_THREAD(cuMemcpy2D_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemcpy2DUnaligned_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemcpy2DAsync_v2, _ptsz)
WARPGAUGE_PER_THREAD(cuMemcpy3D_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemcpy3DAsync_v2, _ptsz)
WARPGAUGE_PER_THREAD(cuMemcpy3DPeer, _ptds)
WARPGAUGE_PER_THREAD(cuMemcpy3DPeerAsync, _ptsz)
WARPGAUGE_PER_THREAD(cuMemcpyPeer, _ptds)
WARPGAUGE_PER_THREAD(cuMemcpyPeerAsync, _ptsz)
WARPGAUGE_PER_THREAD(cuMemcpyDtoA_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemcpyAtoD_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemcpyHtoA_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemcpyHtoAAsync_v2, _ptsz)
WARPGAUGE_PER_THREAD(cuMemcpyAtoH_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemcpyAtoHAsync_v2, _ptsz)
WARPGAUGE_PER_THREAD(cuMemcpyAtoA_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemsetD2D8_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemsetD2D8Async, _ptsz)
WARPGAUGE_PER_THREAD(cuMemsetD2D16_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemsetD2D16Async, _ptsz)
WARPGAUGE_PER_THREAD(cuMemsetD2D32_v2, _ptds)
WARPGAUGE_PER_THREAD(cuMemsetD2D32Async, _ptsz)

}  // namespace warpgauge::emulator::driver
