// Contexts: the primary one and those that the program creates, all of the one device. They share
// its memory and its streams; each has modules of its own.
#pragma once

#include <cuda.h>

namespace warpgauge::emulator::driver {

/// The device's primary context, which the runtime uses.
CUcontext primary_context();

/// The one that is current in this thread; nullptr if there is none. The runtime makes the primary
/// context current where none is.
CUcontext current_context();

}  // namespace warpgauge::emulator::driver
