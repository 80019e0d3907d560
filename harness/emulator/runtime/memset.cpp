// cudaMemset and its kind.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/capture.h"
#include "harness/emulator/runtime/copy.h"

namespace warpgauge::emulator::runtime {
namespace {

Fill fill(const cudaPitchedPtr& memory, int value, const Size& size) {
  require(size.height <= 1 || size.width <= memory.pitch);
  return {{static_cast<std::byte*>(memory.ptr), memory.pitch, memory.pitch * memory.ysize},
          size,
          static_cast<unsigned>(value) & 0xff};
}

/// Fills the row with the element that it begins with. What is copied from stays in the cache.
void repeat(std::byte* row, std::size_t element_bytes, std::size_t width) {
  constexpr std::size_t kMostCopied = std::size_t{256} << 10;
  for (std::size_t done = element_bytes; done < width;) {
    const std::size_t more = std::min({done, kMostCopied, width - done});
    std::memcpy(row + done, row, more);
    done += more;
  }
}

cudaPitchedPtr rows(void* memory, std::size_t pitch) { return {memory, pitch, pitch, 0}; }

}  // namespace

void perform(State& state, const Fill& fill) {
  const auto& [box, size, value, element_bytes] = fill;
  check_end(state, {box, Side::device}, size, "destination");
  if (size.empty()) return;
  for (std::size_t z = 0; z < size.depth; ++z) {
    for (std::size_t y = 0; y < size.height; ++y) {
      std::byte* const row = box.begin + z * box.slice + y * box.pitch;
      if (element_bytes > 1) {
        std::memcpy(row, &value, std::min<std::size_t>(element_bytes, size.width));
        repeat(row, element_bytes, size.width);
      }
      if (element_bytes == 1) std::memset(row, static_cast<int>(value), size.width);
      state.memory().note_written(row, size.width);
    }
  }
}

WARPGAUGE_API cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy, fill(rows(memory, 0), value, {bytes, 1, 1}));
  });
}

WARPGAUGE_API cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes,
                                          cudaStream_t stream) {
  return call_in_stream(__func__, [&](State& state) {
    submit(state, stream, fill(rows(memory, 0), value, {bytes, 1, 1}));
  });
}

WARPGAUGE_API cudaError_t cudaMemset2D(void* memory, std::size_t pitch, int value,
                                       std::size_t width, std::size_t height) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy, fill(rows(memory, pitch), value, {width, height, 1}));
  });
}

WARPGAUGE_API cudaError_t cudaMemset2DAsync(void* memory, std::size_t pitch, int value,
                                            std::size_t width, std::size_t height,
                                            cudaStream_t stream) {
  return call_in_stream(__func__, [&](State& state) {
    submit(state, stream, fill(rows(memory, pitch), value, {width, height, 1}));
  });
}

WARPGAUGE_API cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy,
           fill(memory, value, {extent.width, extent.height, extent.depth}));
  });
}

WARPGAUGE_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                                            cudaStream_t stream) {
  return call_in_stream(__func__, [&](State& state) {
    submit(state, stream, fill(memory, value, {extent.width, extent.height, extent.depth}));
  });
}

WARPGAUGE_PER_THREAD(cudaMemset, _ptds)
WARPGAUGE_PER_THREAD(cudaMemsetAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaMemset2D, _ptds)
WARPGAUGE_PER_THREAD(cudaMemset2DAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaMemset3D, _ptds)
WARPGAUGE_PER_THREAD(cudaMemset3DAsync, _ptsz)

}  // namespace warpgauge::emulator::runtime
