// cudaMemcpy and its kind. All are done when they return, the asynchronous ones, too.
#include "harness/emulator/runtime/memcpy.h"

#include <cuda_runtime_api.h>

#include "harness/emulator/runtime/arrays.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/capture.h"
#include "harness/emulator/runtime/copy.h"

namespace warpgauge::emulator::runtime {
namespace {

End pointer(const void* memory, Side side, std::size_t pitch = 0, std::size_t slice = 0) {
  return {{static_cast<std::byte*>(const_cast<void*>(memory)), pitch, slice}, side};
}

Copy copy_2d(void* destination, std::size_t destination_pitch, const void* source,
             std::size_t source_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  const Sides sides = sides_of(kind);
  require(height <= 1 || (width <= destination_pitch && width <= source_pitch),
          cudaErrorInvalidPitchValue);
  return {pointer(destination, sides.destination, destination_pitch),
          pointer(source, sides.source, source_pitch),
          {.width = width, .height = height, .depth = 1}};
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

Copy copy_3d(State& state, const End3d& destination, const End3d& source, cudaExtent extent) {
  // A width is in elements of the array, if there is one.
  std::size_t element_bytes = 1;
  for (const End3d* end : {&destination, &source}) {
    if (end->array == nullptr) continue;
    const std::size_t bytes = array_of(state, end->array).element_bytes();
    require(element_bytes == 1 || element_bytes == bytes);
    element_bytes = bytes;
  }
  const Size size{extent.width * element_bytes, extent.height, extent.depth};
  return {end_of(state, destination, size), end_of(state, source, size), size};
}

Copy copy_3d_peer(State& state, const cudaMemcpy3DPeerParms* p) {
  require(p != nullptr);
  require(p->dstDevice == 0 && p->srcDevice == 0, cudaErrorInvalidDevice);
  return copy_3d(state, {p->dstArray, p->dstPos, p->dstPtr, Side::device},
                 {p->srcArray, p->srcPos, p->srcPtr, Side::device}, p->extent);
}

Copy copy_peer(void* destination, int destination_device, const void* source, int source_device,
               std::size_t bytes) {
  require(destination_device == 0 && source_device == 0, cudaErrorInvalidDevice);
  return copy_of(destination, source, bytes, cudaMemcpyDeviceToDevice);
}

/// An end of a copy as parameters name it.
struct NamedEnd {
  cudaArray_t array = nullptr;
  cudaPos position{};
  cudaPitchedPtr pointer{};
};

NamedEnd named(State& state, const End& end, const Size& size) {
  for (const auto& [handle, array] : state.device().arrays) {
    const std::size_t bytes = array->slice_bytes() * array->slices();
    if (end.box.begin < array->data || end.box.begin >= array->data + bytes) continue;
    const auto offset = static_cast<std::size_t>(end.box.begin - array->data);
    return {reinterpret_cast<cudaArray_t>(array.get()),
            {offset % array->pitch() / array->element_bytes(),
             offset % array->slice_bytes() / array->pitch(), offset / array->slice_bytes()},
            {}};
  }
  const std::size_t pitch = end.box.pitch == 0 ? size.width : end.box.pitch;
  const std::size_t rows = end.box.slice == 0 ? size.height : end.box.slice / pitch;
  return {nullptr, {}, {end.box.begin, pitch, size.width, rows}};
}

cudaMemcpyKind direction_of(const Copy& copy) {
  for (const cudaMemcpyKind kind : {cudaMemcpyHostToHost, cudaMemcpyHostToDevice,
                                    cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice}) {
    const Sides sides = sides_of(kind);
    if (sides.destination == copy.destination.side && sides.source == copy.source.side) return kind;
  }
  return cudaMemcpyDefault;
}

}  // namespace

Copy copy_of(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
  const Sides sides = sides_of(kind);
  return {pointer(destination, sides.destination),
          pointer(source, sides.source),
          {.width = bytes, .height = 1, .depth = 1}};
}

Copy copy_of(State& state, const cudaMemcpy3DParms* p) {
  require(p != nullptr);
  const Sides sides = sides_of(p->kind);
  return copy_3d(state, {p->dstArray, p->dstPos, p->dstPtr, sides.destination},
                 {p->srcArray, p->srcPos, p->srcPtr, sides.source}, p->extent);
}

cudaMemcpy3DParms parameters_of(State& state, const Copy& copy) {
  const NamedEnd to = named(state, copy.destination, copy.size);
  const NamedEnd from = named(state, copy.source, copy.size);
  const cudaArray_t array = to.array != nullptr ? to.array : from.array;
  const std::size_t unit = array == nullptr ? 1 : array_of(state, array).element_bytes();
  cudaMemcpy3DParms out{};
  out.dstArray = to.array;
  out.dstPos = to.position;
  out.dstPtr = to.pointer;
  out.srcArray = from.array;
  out.srcPos = from.position;
  out.srcPtr = from.pointer;
  out.extent = {copy.size.width / unit, copy.size.height, copy.size.depth};
  out.kind = direction_of(copy);
  return out;
}

WARPGAUGE_API cudaError_t cudaMemcpy(void* destination, const void* source, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy, copy_of(destination, source, bytes, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes,
                                          cudaMemcpyKind kind, cudaStream_t stream) {
  return call_in_stream(__func__, [&](State& state) {
    submit(state, stream, copy_of(destination, source, bytes, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpy2D(void* destination, std::size_t destination_pitch,
                                       const void* source, std::size_t source_pitch,
                                       std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy,
           copy_2d(destination, destination_pitch, source, source_pitch, width, height, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpy2DAsync(void* destination, std::size_t destination_pitch,
                                            const void* source, std::size_t source_pitch,
                                            std::size_t width, std::size_t height,
                                            cudaMemcpyKind kind, cudaStream_t stream) {
  return call_in_stream(__func__, [&](State& state) {
    submit(state, stream,
           copy_2d(destination, destination_pitch, source, source_pitch, width, height, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return call_in_legacy_stream(
      __func__, [&](State& state) { submit(state, cudaStreamLegacy, copy_of(state, parameters)); });
}

WARPGAUGE_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters,
                                            cudaStream_t stream) {
  return call_in_stream(__func__,
                        [&](State& state) { submit(state, stream, copy_of(state, parameters)); });
}

WARPGAUGE_API cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy, copy_3d_peer(state, parameters));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters,
                                                cudaStream_t stream) {
  return call_in_stream(
      __func__, [&](State& state) { submit(state, stream, copy_3d_peer(state, parameters)); });
}

WARPGAUGE_API cudaError_t cudaMemcpyPeer(void* destination, int destination_device,
                                         const void* source, int source_device, std::size_t bytes) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy,
           copy_peer(destination, destination_device, source, source_device, bytes));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpyPeerAsync(void* destination, int destination_device,
                                              const void* source, int source_device,
                                              std::size_t bytes, cudaStream_t stream) {
  return call_in_stream(__func__, [&](State& state) {
    submit(state, stream, copy_peer(destination, destination_device, source, source_device, bytes));
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
