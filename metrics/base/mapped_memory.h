// Finds out which memory of this process can be read.
#pragma once

#include <cstddef>

namespace warpgauge::metrics {

/// The number of bytes that can be read from `address` on; 0 if not even the first.
std::size_t readable_bytes(const void* address);

}  // namespace warpgauge::metrics
