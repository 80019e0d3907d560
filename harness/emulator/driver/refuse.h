// Refuses a call of the CUDA driver. Does without the toolkit's headers, for unsupported.cpp.
#pragma once

namespace warpgauge::emulator::driver {

/// Names the function once on stderr, and the shared library that `caller` lies in, the address
/// that it returns to; returns CUDA_ERROR_NOT_SUPPORTED.
int refuse(const char* name, const void* caller = nullptr);

}  // namespace warpgauge::emulator::driver
