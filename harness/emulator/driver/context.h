// The one context that there is.
#pragma once

#include <cuda.h>

namespace warpgauge::emulator::driver {

/// The device's primary context, which is current in every thread.
CUcontext primary_context();

}  // namespace warpgauge::emulator::driver
