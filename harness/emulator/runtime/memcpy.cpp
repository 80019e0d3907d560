// cudaMemcpy and its kind. All are done when they return, the asynchronous ones, too.
#include <cuda_runtime_api.h>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/copy.h"
#include "harness/emulator/runtime/streams.h"

namespace warpgauge::emulator::runtime {
namespace {

End pointer(const void* memory, Side side, std::size_t pitch = 0, std::size_t slice = 0) {
  return {{static_cast<std::byte*>(const_cast<void*>(memory)), pitch, slice}, side};
}

void copy_1d(State& state, void* destination, const void* source, std::size_t bytes,
             cudaMemcpyKind kind) {
  const Sides sides = sides_of(kind);
  copy(state, pointer(destination, sides.destination), pointer(source, sides.source),
       {.width = bytes, .height = 1, .depth = 1});
}

void copy_2d(State& state, void* destination, std::size_t destination_pitch, const void* source,
             std::size_t source_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  const Sides sides = sides_of(kind);
  require(height <= 1 || (width <= destination_pitch && width <= source_pitch),
          cudaErrorInvalidPitchValue);
  copy(state, pointer(destination, sides.destination, destination_pitch),
       pointer(source, sides.source, source_pitch), {.width = width, .height = height, .depth = 1});
}

/// One end of a copy of three dimensions.
struct End3d {
  cudaArray_t array;
  cudaPos position;
  cudaPitchedPtr pointer;
  Side side;
};

End end_of(State& state, const End3d& end, const Size& size) {
  require((end.array == nullptr) != (end.pointer.ptr == nullptr));
  const cudaPos& at = end.position;
  if (end.array != nullptr) {
    const Array& array = array_of(state, end.array);
    return end_in_array(array, at.x * array.element_bytes(), at.y, at.z, size);
  }
  const std::size_t pitch = end.pointer.pitch;
  require(size.height <= 1 || size.width <= pitch, cudaErrorInvalidPitchValue);
  const std::size_t slice = pitch * end.pointer.ysize;
  return pointer(static_cast<std::byte*>(end.pointer.ptr) + at.z * slice + at.y * pitch + at.x,
                 end.side, pitch, slice);
}

void copy_3d(State& state, const End3d& destination, const End3d& source, cudaExtent extent) {
  // A width is in elements of the array, if there is one.
  std::size_t element_bytes = 1;
  for (const End3d* end : {&destination, &source}) {
    if (end->array == nullptr) continue;
    const std::size_t bytes = array_of(state, end->array).element_bytes();
    require(element_bytes == 1 || element_bytes == bytes);
    element_bytes = bytes;
  }
  const Size size{extent.width * element_bytes, extent.height, extent.depth};
  copy(state, end_of(state, destination, size), end_of(state, source, size), size);
}

void copy_3d(State& state, const cudaMemcpy3DParms* p) {
  require(p != nullptr);
  const Sides sides = sides_of(p->kind);
  copy_3d(state, {p->dstArray, p->dstPos, p->dstPtr, sides.destination},
          {p->srcArray, p->srcPos, p->srcPtr, sides.source}, p->extent);
}

void copy_3d_peer(State& state, const cudaMemcpy3DPeerParms* p) {
  require(p != nullptr);
  require(p->dstDevice == 0 && p->srcDevice == 0, cudaErrorInvalidDevice);
  copy_3d(state, {p->dstArray, p->dstPos, p->dstPtr, Side::device},
          {p->srcArray, p->srcPos, p->srcPtr, Side::device}, p->extent);
}

void copy_peer(State& state, void* destination, int destination_device, const void* source,
               int source_device, std::size_t bytes) {
  require(destination_device == 0 && source_device == 0, cudaErrorInvalidDevice);
  copy_1d(state, destination, source, bytes, cudaMemcpyDeviceToDevice);
}

}  // namespace

WARPGAUGE_API cudaError_t cudaMemcpy(void* destination, const void* source, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  return call_waiting(__func__,
                      [&](State& state) { copy_1d(state, destination, source, bytes, kind); });
}

WARPGAUGE_API cudaError_t cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes,
                                          cudaMemcpyKind kind, cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    require_stream(state, stream);
    copy_1d(state, destination, source, bytes, kind);
  });
}

WARPGAUGE_API cudaError_t cudaMemcpy2D(void* destination, std::size_t destination_pitch,
                                       const void* source, std::size_t source_pitch,
                                       std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return call_waiting(__func__, [&](State& state) {
    copy_2d(state, destination, destination_pitch, source, source_pitch, width, height, kind);
  });
}

WARPGAUGE_API cudaError_t cudaMemcpy2DAsync(void* destination, std::size_t destination_pitch,
                                            const void* source, std::size_t source_pitch,
                                            std::size_t width, std::size_t height,
                                            cudaMemcpyKind kind, cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    require_stream(state, stream);
    copy_2d(state, destination, destination_pitch, source, source_pitch, width, height, kind);
  });
}

WARPGAUGE_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return call_waiting(__func__, [&](State& state) { copy_3d(state, parameters); });
}

WARPGAUGE_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters,
                                            cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    require_stream(state, stream);
    copy_3d(state, parameters);
  });
}

WARPGAUGE_API cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return call_waiting(__func__, [&](State& state) { copy_3d_peer(state, parameters); });
}

WARPGAUGE_API cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters,
                                                cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    require_stream(state, stream);
    copy_3d_peer(state, parameters);
  });
}

WARPGAUGE_API cudaError_t cudaMemcpyPeer(void* destination, int destination_device,
                                         const void* source, int source_device, std::size_t bytes) {
  return call_waiting(__func__, [&](State& state) {
    copy_peer(state, destination, destination_device, source, source_device, bytes);
  });
}

WARPGAUGE_API cudaError_t cudaMemcpyPeerAsync(void* destination, int destination_device,
                                              const void* source, int source_device,
                                              std::size_t bytes, cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    require_stream(state, stream);
    copy_peer(state, destination, destination_device, source, source_device, bytes);
  });
}

WARPGAUGE_PER_THREAD(cudaMemcpy, _ptds)
WARPGAUGE_PER_THREAD(cudaMemcpyAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaMemcpy2D, _ptds)
WARPGAUGE_PER_THREAD(cudaMemcpy2DAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaMemcpy3D, _ptds)
WARPGAUGE_PER_THREAD(cudaMemcpy3DAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaMemcpy3DPeer, _ptds)
WARPGAUGE_PER_THREAD(cudaMemcpy3DPeerAsync, _ptsz)

}  // namespace warpgauge::emulator::runtime
