// Copies of one, two and three dimensions, and the checks before them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "harness/emulator/runtime/copy_ends.h"

namespace warpgauge::emulator::runtime {

class State;
struct Array;

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
