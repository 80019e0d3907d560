// The structure with which compiled programs register their fat binaries.
#pragma once

#include <cstdint>

namespace warpgauge::metrics {

/// The argument of __cudaRegisterFatBinary, as nvcc lays it out.
struct FatBinaryWrapper {
  std::uint32_t magic = 0x466243b1;
  std::uint32_t version = 1;  ///< 2: the device linker made the container
  const void* container = nullptr;
  /// Version 2: pointers to the containers of the linked objects, then a null pointer.
  const void* const* objects = nullptr;
};

}  // namespace warpgauge::metrics
