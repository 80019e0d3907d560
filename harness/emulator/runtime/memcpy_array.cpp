// Copies to and from CUDA arrays.
#include <cuda_runtime_api.h>

#include "harness/emulator/runtime/arrays.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/capture.h"
#include "harness/emulator/runtime/copy.h"

namespace warpgauge::emulator::runtime {
namespace {

/// Where a copy begins in an array: bytes into a row, and rows.
struct Corner {
  cudaArray_const_t array;
  std::size_t x, y;
};

End pointer(const void* memory, std::size_t pitch, Side side) {
  return {{static_cast<std::byte*>(const_cast<void*>(memory)), pitch, 0}, side};
}

End end_of(State& state, const Corner& corner, const Size& size) {
  return end_in_array(array_of(state, corner.array), corner.x, corner.y, 0, size);
}

void require_device(Side side) { require(side != Side::host, cudaErrorInvalidMemcpyDirection); }

Copy to_array(State& state, const Corner& to, const void* source, std::size_t pitch,
              const Size& size, cudaMemcpyKind kind) {
  const Sides sides = sides_of(kind);
  require_device(sides.destination);
  require(size.height <= 1 || size.width <= pitch, cudaErrorInvalidPitchValue);
  return {end_of(state, to, size), pointer(source, pitch, sides.source), size};
}

Copy from_array(State& state, void* destination, std::size_t pitch, const Corner& from,
                const Size& size, cudaMemcpyKind kind) {
  const Sides sides = sides_of(kind);
  require_device(sides.source);
  require(size.height <= 1 || size.width <= pitch, cudaErrorInvalidPitchValue);
  return {pointer(destination, pitch, sides.destination), end_of(state, from, size), size};
}

Copy array_to_array(State& state, const Corner& to, const Corner& from, const Size& size,
                    cudaMemcpyKind kind) {
  const Sides sides = sides_of(kind);
  require_device(sides.destination);
  require_device(sides.source);
  return {end_of(state, to, size), end_of(state, from, size), size};
}

/// The end of a copy that goes on in the next row: `bytes` from the corner to the array's end.
End run_from(State& state, const Corner& corner, std::size_t bytes) {
  const Array& array = array_of(state, corner.array);
  require(corner.x <= array.pitch() && corner.y <= array.rows());
  const std::size_t offset = corner.y * array.pitch() + corner.x;
  require(offset <= array.slice_bytes() && bytes <= array.slice_bytes() - offset);
  return {{array.data + offset, 0, 0}, Side::device};
}

Copy run_to_array(State& state, const Corner& to, const void* source, std::size_t bytes,
                  cudaMemcpyKind kind) {
  const Sides sides = sides_of(kind);
  require_device(sides.destination);
  return {run_from(state, to, bytes), pointer(source, 0, sides.source), {bytes, 1, 1}};
}

Copy run_from_array(State& state, void* destination, const Corner& from, std::size_t bytes,
                    cudaMemcpyKind kind) {
  const Sides sides = sides_of(kind);
  require_device(sides.source);
  return {pointer(destination, 0, sides.destination), run_from(state, from, bytes), {bytes, 1, 1}};
}

}  // namespace

WARPGAUGE_API cudaError_t cudaMemcpy2DToArray(cudaArray_t array, std::size_t x, std::size_t y,
                                              const void* source, std::size_t pitch,
                                              std::size_t width, std::size_t height,
                                              cudaMemcpyKind kind) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy,
           to_array(state, {array, x, y}, source, pitch, {width, height, 1}, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t array, std::size_t x, std::size_t y,
                                                   const void* source, std::size_t pitch,
                                                   std::size_t width, std::size_t height,
                                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    submit(state, stream, to_array(state, {array, x, y}, source, pitch, {width, height, 1}, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpy2DFromArray(void* destination, std::size_t pitch,
                                                cudaArray_const_t array, std::size_t x,
                                                std::size_t y, std::size_t width,
                                                std::size_t height, cudaMemcpyKind kind) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy,
           from_array(state, destination, pitch, {array, x, y}, {width, height, 1}, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpy2DFromArrayAsync(void* destination, std::size_t pitch,
                                                     cudaArray_const_t array, std::size_t x,
                                                     std::size_t y, std::size_t width,
                                                     std::size_t height, cudaMemcpyKind kind,
                                                     cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    submit(state, stream,
           from_array(state, destination, pitch, {array, x, y}, {width, height, 1}, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t destination, std::size_t to_x,
                                                   std::size_t to_y, cudaArray_const_t source,
                                                   std::size_t from_x, std::size_t from_y,
                                                   std::size_t width, std::size_t height,
                                                   cudaMemcpyKind kind) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy,
           array_to_array(state, {destination, to_x, to_y}, {source, from_x, from_y},
                          {width, height, 1}, kind));
  });
}

// The older functions take a number of bytes, which may go on in the next rows.

WARPGAUGE_API cudaError_t cudaMemcpyToArray(cudaArray_t array, std::size_t x, std::size_t y,
                                            const void* source, std::size_t bytes,
                                            cudaMemcpyKind kind) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy, run_to_array(state, {array, x, y}, source, bytes, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t array, std::size_t x, std::size_t y,
                                                 const void* source, std::size_t bytes,
                                                 cudaMemcpyKind kind, cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    submit(state, stream, run_to_array(state, {array, x, y}, source, bytes, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpyFromArray(void* destination, cudaArray_const_t array,
                                              std::size_t x, std::size_t y, std::size_t bytes,
                                              cudaMemcpyKind kind) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy, run_from_array(state, destination, {array, x, y}, bytes, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpyFromArrayAsync(void* destination, cudaArray_const_t array,
                                                   std::size_t x, std::size_t y, std::size_t bytes,
                                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    submit(state, stream, run_from_array(state, destination, {array, x, y}, bytes, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpyArrayToArray(cudaArray_t destination, std::size_t to_x,
                                                 std::size_t to_y, cudaArray_const_t source,
                                                 std::size_t from_x, std::size_t from_y,
                                                 std::size_t bytes, cudaMemcpyKind kind) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    const auto sides = sides_of(kind);
    require_device(sides.destination);
    require_device(sides.source);
    submit(state, cudaStreamLegacy,
           Copy{run_from(state, {destination, to_x, to_y}, bytes),
                run_from(state, {source, from_x, from_y}, bytes),
                {bytes, 1, 1}});
  });
}

WARPGAUGE_PER_THREAD(cudaMemcpy2DToArray, _ptds)
WARPGAUGE_PER_THREAD(cudaMemcpy2DToArrayAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaMemcpy2DFromArray, _ptds)
WARPGAUGE_PER_THREAD(cudaMemcpy2DFromArrayAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaMemcpy2DArrayToArray, _ptds)
WARPGAUGE_PER_THREAD(cudaMemcpyToArray, _ptds)
WARPGAUGE_PER_THREAD(cudaMemcpyToArrayAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaMemcpyFromArray, _ptds)
WARPGAUGE_PER_THREAD(cudaMemcpyFromArrayAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaMemcpyArrayToArray, _ptds)

}  // namespace warpgauge::emulator::runtime
