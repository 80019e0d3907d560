// Refuses a call of the CUDA driver. Does without the toolkit's headers, for unsupported.cpp.
#pragma once

namespace warpgauge::emulator::driver {

/// Names the function once on stderr; returns CUDA_ERROR_NOT_SUPPORTED.
int refuse(const char* name);

}  // namespace warpgauge::emulator::driver
