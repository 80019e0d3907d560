// CUPTI: what it can count on a chip, exact counts per instruction (SASS metrics), and hardware
// counters per range (range profiler). In a build without CUPTI all functions that measure throw
// Unmeasured.
//
// At most one of SassCounter and RangeProfiler may exist at a time: SASS metrics patch the code,
// which would disturb the hardware counters, and CUPTI does not describe the counters of one while
// a session of the other is open. Neither works under another profiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/facts/catalog.h"

namespace warpgauge::metrics {

struct LineCounts;

/// Something could not be measured. what() is "reason. remedy".
class Unmeasured : public std::runtime_error {
 public:
  Unmeasured(const std::string& reason, const std::string& remedy)
      : std::runtime_error(remedy.empty() ? reason : reason + ". " + remedy) {}
};

bool built_with_cupti();

/// Does this build's CUPTI answer on this machine? CUPTI of CUDA 13.2 and newer needs an NVIDIA
/// driver (without one 13.2 crashes, and 13.3 to 13.5 return CUPTI_ERROR_UNKNOWN); 13.0 and 13.1 do
/// not.
bool cupti_answers();

// --- On any machine, for any chip -------------------------------------------------------------

/// Chips that CUPTI supports ("GH100"), in its order. Throws Unmeasured, also where CUPTI does not
/// answer.
std::vector<std::string> cupti_chips();

/// The part of the catalog that a chip can measure.
struct ChipSupport {
  std::map<std::string, bool, std::less<>> names;  ///< CUPTI name -> the chip has it
  std::size_t range_passes = 0;  ///< passes for all range metrics and counters that the chip has

  /// True if CUPTI can measure `metric` on the chip: it has every name that the metric needs,
  /// except names of instructions that the chip does not have, which count 0.
  bool measures(const Metric& metric) const;
};
/// Asks CUPTI what a chip can measure. Throws Unmeasured, and std::invalid_argument, with the
/// supported chips, for a chip that CUPTI does not support.
ChipSupport chip_support(const std::string& chip, const std::vector<const Metric*>& counters = {});

/// A hardware counter of a chip.
struct ChipCounter {
  std::string name, description;
  std::string unit;                  ///< the counted thing ("instruction"); empty: a pure number
  std::string hw_unit;               ///< the part of the chip ("sm")
  std::string_view type;             ///< counter, ratio or throughput
  std::vector<std::string> rollups;  ///< the endings of its name ("sum.per_second")
};
/// The counters of a chip whose name or description contains `search`; upper and lower case are the
/// same. Throws as chip_support() does.
std::vector<ChipCounter> chip_counters(const std::string& chip, std::string_view search);

/// Says that no chip has such a counter, with the name that was probably meant. Empty if a chip has
/// it, or if CUPTI does not answer.
std::string unknown_counter(std::string_view name);

// --- On the current device --------------------------------------------------------------------

/// The chip of the current device ("GH100"). Throws Unmeasured.
std::string current_chip();

/// Counts instructions exactly. Make one early (before the first kernel is loaded: counts of
/// modules that were loaded before have no lines), then call count() any number of times.
class SassCounter {
 public:
  SassCounter();  ///< throws Unmeasured
  ~SassCounter();
  SassCounter(const SassCounter&) = delete;
  SassCounter& operator=(const SassCounter&) = delete;

  /// Waits for the device, calls `launch` once, waits for what it launched, and returns its counts
  /// per kernel and line; lines that count nothing are left out. Throws Unmeasured (also where no
  /// kernel was seen: nothing is not zero), CudaError for a launch that failed, and anything
  /// `launch` throws. Calls `is_over` when the device is no longer needed, before it adds the
  /// counts up.
  std::vector<LineCounts> count(const std::function<void()>& launch,
                                const std::function<void()>& is_over = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One thing to profile: `prepare` resets its inputs before each pass, `launch` is measured.
struct RangeItem {
  std::string name;
  std::function<void()> prepare, launch;
};

/// Measures hardware counters of many items in one profiling session.
class RangeProfiler {
 public:
  /// `wanted` are the hardware counters (see is_counter) to measure beside the catalog's metrics,
  /// and the metrics of the catalog that are judged or shown. Throws Unmeasured.
  explicit RangeProfiler(const std::vector<const Metric*>& wanted = {});
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  /// Runs every item once unmeasured, then once per pass and round. Returns for each item the
  /// `range` metrics of the catalog and the counters that the chip has, as (metric id, value) in
  /// the catalog's unit. Times and wanted metrics are medians over `rounds`; the others are from
  /// one round. A ratio 0/0 is left out. Throws Unmeasured, CudaError for a launch that failed, and
  /// anything the items throw.
  std::vector<std::vector<std::pair<std::string_view, double>>> measure(
      std::span<const RangeItem> items, int rounds);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpgauge::metrics
