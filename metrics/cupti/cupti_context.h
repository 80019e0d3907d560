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

/// Creates the context if there is none, and initialises CUPTI's profiler. Asks CUPTI for the size
/// of its image of counter availability and drops the answer: without that call CUPTI (13.0)
/// returns SASS records of the first kernel alone. Throws Unmeasured.
CuptiContext open_context();
/// Opens a context of another program, current or not.
CuptiContext open_context(CUcontext context, int device);

/// CUPTI's image of counter availability. The call takes 0.15 s, in which no other process may
/// measure. Throws Unmeasured.
std::vector<std::uint8_t> counter_availability(CUcontext context);

/// Waits for all launches. Throws CudaError, also for a launch that was refused: that is a fault of
/// the program, and not Unmeasured.
void wait_for_device();

}  // namespace warpgauge::metrics
