// The current GPU as CUPTI wants to see it: context, chip, and which counters are free.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

namespace warpgauge::metrics {

/// Throws Unmeasured, with the remedy, where there is no GPU or no driver. Creates no context.
void require_gpu();

/// The current device, ready to be profiled.
struct CuptiContext {
  CUcontext context = nullptr;
  int device = 0;
  std::string chip;
};

/// Creates the context if there is none, and initialises CUPTI's profiler. Asks how large CUPTI's
/// image of counter availability is and drops the answer: without that call CUPTI (13.0) returns
/// SASS records for the first kernel only. Throws Unmeasured.
CuptiContext open_context();
/// The same for a context of another program, current or not.
CuptiContext open_context(CUcontext context, int device);

/// CUPTI's image of counter availability. It takes 0.15 s, in which no other process may measure.
/// Throws Unmeasured.
std::vector<std::uint8_t> counter_availability(CUcontext context);

/// Waits until the device has done all that was launched. Throws CudaError, also for a launch that
/// was refused: that is a fault of the program and not a lack of means to measure it.
void wait_for_device();

}  // namespace warpgauge::metrics
