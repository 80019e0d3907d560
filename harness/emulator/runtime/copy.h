// Copies of one, two and three dimensions, and the checks before them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace warpgauge::emulator::runtime {

class State;
struct Array;

/// Where rows lie: row y of slice z begins at begin + z x slice + y x pitch.
struct Box {
  std::byte* begin = nullptr;
  std::size_t pitch = 0, slice = 0;  ///< bytes
};

/// The extent of a copy: rows of `width` bytes.
struct Size {
  std::size_t width = 0, height = 1, depth = 1;
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

/// Which memory an end of a copy must be in; `any`: decided by the pointer.
enum class Side { host, device, any };

/// One end of a copy, with where it must be.
struct End {
  Box box;
  Side side = Side::any;
};

struct Sides {
  Side destination, source;
};
/// Throws Failure with cudaErrorInvalidMemcpyDirection.
Sides sides_of(cudaMemcpyKind kind);

/// Fails with cudaErrorInvalidValue unless all of a size lies inside of one allocation, if it is to
/// be device memory, and in none that is the device's alone if it is to be host memory. `role`
/// names it on stderr ("destination").
void check_end(State& state, const End& end, const Size& size, const char* role);

/// The part of an array that begins `x` bytes into row y of slice z. Fails with
/// cudaErrorInvalidValue if the size does not fit into the array.
End end_in_array(const Array& array, std::size_t x, std::size_t y, std::size_t z, const Size& size);

}  // namespace warpgauge::emulator::runtime
