// One session of CUPTI's range profiler: enabled for its lifetime, measures ranges of launches.
#pragma once

#include <cuda.h>
#include <cupti_range_profiler.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "metrics/cupti/cupti.h"

namespace warpgauge::metrics {

/// Bytes that CUPTI fills with the counters of all ranges.
using CounterData = std::vector<std::uint8_t>;

class RangeSession {
 public:
  /// Opens the session. Throws Unmeasured.
  explicit RangeSession(CUcontext context);
  ~RangeSession();
  RangeSession(const RangeSession&) = delete;
  RangeSession& operator=(const RangeSession&) = delete;

  /// Runs each item once per pass, as range number 0, 1, ..., until CUPTI has seen all passes.
  /// Throws Unmeasured, CudaError, and anything the items throw.
  CounterData run(std::span<const RangeItem> items, std::span<const std::uint8_t> config,
                  std::size_t passes, std::vector<const char*> metrics);

 private:
  class Pass;
  CounterData make_counter_data(std::size_t ranges, std::vector<const char*>& metrics);
  void configure(std::span<const std::uint8_t> config, CounterData& data, std::size_t ranges);
  bool run_pass(std::span<const RangeItem> items);
  void decode();

  CUpti_RangeProfiler_Object* object_ = nullptr;
};

std::size_t range_count(const CounterData& data);

/// The number of the item, below `items`, that range `index` of `data` belongs to. Throws
/// Unmeasured.
std::size_t item_of_range(const CounterData& data, std::size_t index, std::size_t items);

}  // namespace warpgauge::metrics
