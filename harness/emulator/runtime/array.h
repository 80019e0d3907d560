// CUDA arrays. They are laid out row by row, without gaps, which no program can observe.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <memory>

#include "harness/emulator/machine/memory/surface_writes.h"

namespace warpgauge::emulator::runtime {

class State;

/// Its address is its cudaArray_t.
struct Array {
  cudaChannelFormatDesc channels{};
  cudaExtent extent{};  ///< as it was asked for: 0 in the dimensions that it does not have
  unsigned flags = 0;
  std::byte* data = nullptr;
  std::unique_ptr<machine::memory::SurfaceWrites> writes;  ///< if it was made for surfaces

  std::size_t element_bytes() const {
    return static_cast<std::size_t>(channels.x + channels.y + channels.z + channels.w) / 8;
  }
  std::size_t pitch() const { return extent.width * element_bytes(); }
  std::size_t rows() const { return std::max<std::size_t>(extent.height, 1); }
  std::size_t slices() const { return std::max<std::size_t>(extent.depth, 1); }
  std::size_t slice_bytes() const { return pitch() * rows(); }
};

/// Throws Failure with cudaErrorInvalidResourceHandle if there is no such array.
Array& array_of(State& state, cudaArray_const_t array);

/// Channels of 8, 16 or 32 bits, as many as 1, 2 or 4, all alike.
bool is_supported(const cudaChannelFormatDesc& channels);

}  // namespace warpgauge::emulator::runtime
