// Refuses a call of the CUDA runtime. Does without the toolkit's headers, for unsupported.cpp.
#pragma once

namespace warpgauge::emulator::runtime {

/// Names the function once on stderr, and the shared library that `caller` lies in, the address
/// that it returns to; returns cudaErrorNotSupported, which becomes the thread's last error.
int refuse(const char* name, const void* caller = nullptr);

}  // namespace warpgauge::emulator::runtime
