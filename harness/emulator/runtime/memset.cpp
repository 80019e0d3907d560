// cudaMemset and its kind.
#include <cuda_runtime_api.h>

#include <cstring>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/copy.h"
#include "harness/emulator/runtime/streams.h"

namespace warpgauge::emulator::runtime {
namespace {

void set(State& state, const cudaPitchedPtr& memory, int value, const Size& size) {
  require(size.height <= 1 || size.width <= memory.pitch);
  const Box box{static_cast<std::byte*>(memory.ptr), memory.pitch, memory.pitch * memory.ysize};
  check_end(state, {box, Side::device}, size, "destination");
  if (size.empty()) return;
  for (std::size_t z = 0; z < size.depth; ++z) {
    for (std::size_t y = 0; y < size.height; ++y) {
      std::memset(box.begin + z * box.slice + y * box.pitch, value, size.width);
    }
  }
}

cudaPitchedPtr rows(void* memory, std::size_t pitch) { return {memory, pitch, pitch, 0}; }

}  // namespace

WARPGAUGE_API cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return call(__func__, [&](State& state) { set(state, rows(memory, 0), value, {bytes, 1, 1}); });
}

WARPGAUGE_API cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes,
                                          cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    require_stream(state, stream);
    set(state, rows(memory, 0), value, {bytes, 1, 1});
  });
}

WARPGAUGE_API cudaError_t cudaMemset2D(void* memory, std::size_t pitch, int value,
                                       std::size_t width, std::size_t height) {
  return call(__func__, [&](State& state) {
    set(state, rows(memory, pitch), value, {width, height, 1});
  });
}

WARPGAUGE_API cudaError_t cudaMemset2DAsync(void* memory, std::size_t pitch, int value,
                                            std::size_t width, std::size_t height,
                                            cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    require_stream(state, stream);
    set(state, rows(memory, pitch), value, {width, height, 1});
  });
}

WARPGAUGE_API cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  return call(__func__, [&](State& state) {
    set(state, memory, value, {extent.width, extent.height, extent.depth});
  });
}

WARPGAUGE_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                                            cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    require_stream(state, stream);
    set(state, memory, value, {extent.width, extent.height, extent.depth});
  });
}

WARPGAUGE_PER_THREAD(cudaMemset, _ptds)
WARPGAUGE_PER_THREAD(cudaMemsetAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaMemset2D, _ptds)
WARPGAUGE_PER_THREAD(cudaMemset2DAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaMemset3D, _ptds)
WARPGAUGE_PER_THREAD(cudaMemset3DAsync, _ptsz)

}  // namespace warpgauge::emulator::runtime
