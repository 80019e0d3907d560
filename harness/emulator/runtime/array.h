// A CUDA array. It is laid out row by row, without gaps, which no program can observe.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <memory>

#include "harness/emulator/machine/memory/surface_writes.h"

namespace warpgauge::emulator::runtime {

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

}  // namespace warpgauge::emulator::runtime
