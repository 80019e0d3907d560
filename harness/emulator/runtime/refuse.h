// Refuses a call of the CUDA runtime. Does without the toolkit's headers, for unsupported.cpp.
#pragma once

namespace warpgauge::emulator::runtime {

/// Names the function once on stderr; returns cudaErrorNotSupported, which becomes the thread's
/// last error.
int refuse(const char* name);

}  // namespace warpgauge::emulator::runtime
