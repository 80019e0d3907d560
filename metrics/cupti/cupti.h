// CUPTI: what it can count on a chip, exact counts per instruction (SASS metrics), and hardware
// counters per range (range profiler). In a build without CUPTI everything that would measure
// throws Unmeasured.
//
// At most one of SassCounter and RangeProfiler may exist at a time: SASS metrics patch the code,
// which would disturb the hardware counters, and CUPTI refuses to describe its counters to the one
// while a session of the other is open. Nor can either be used under another profiler.
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

/// Why something could not be measured, and what to do about it. what() is "reason. remedy".
class Unmeasured : public std::runtime_error {
 public:
  Unmeasured(const std::string& reason, const std::string& remedy)
      : std::runtime_error(remedy.empty() ? reason : reason + ". " + remedy) {}
};

bool built_with_cupti();

/// Can this build's CUPTI be asked on this machine? That of CUDA 13.2 and newer answers nothing
/// without an NVIDIA driver (13.2 crashes, 13.3 to 13.5 return CUPTI_ERROR_UNKNOWN); 13.0 and 13.1
/// do.
bool cupti_answers();

// --- On any machine, for any chip -------------------------------------------------------------

/// Chips that CUPTI supports ("GH100"), in its order. Throws Unmeasured, also where CUPTI cannot be
/// asked.
std::vector<std::string> cupti_chips();

/// The part of the catalog that a chip can measure.
struct ChipSupport {
  std::map<std::string, bool, std::less<>> names;  ///< CUPTI name -> the chip has it
  std::size_t range_passes = 0;  ///< for all range metrics, and counters, that the chip has

  /// True if CUPTI can measure `metric` on the chip: it has every name that the metric needs,
  /// except names of instructions that do not exist there, which stand for 0.
  bool measures(const Metric& metric) const;
};
/// Throws Unmeasured, and std::invalid_argument for a chip that CUPTI does not support (with those
/// that it does).
ChipSupport chip_support(const std::string& chip, const std::vector<const Metric*>& counters = {});

/// A hardware counter of a chip.
struct ChipCounter {
  std::string name, description;
  std::string unit;                  ///< what it counts ("instruction"); empty: a pure number
  std::string hw_unit;               ///< the part of the chip ("sm")
  std::string_view type;             ///< counter, ratio or throughput
  std::vector<std::string> rollups;  ///< what follows the name ("sum.per_second")
};
/// The counters of a chip, of either case, whose name or description contains `search`, of either
/// case. Throws as chip_support() does.
std::vector<ChipCounter> chip_counters(const std::string& chip, std::string_view search);

/// Why there is no such counter, with what was probably meant; empty if a chip that CUPTI supports
/// has it, or there is no CUPTI that can be asked.
std::string unknown_counter(std::string_view name);

// --- On the current device --------------------------------------------------------------------

/// The chip of the current device ("GH100"). Throws Unmeasured.
std::string current_chip();

/// Counts instructions exactly. Make one early (before the first kernel is loaded: modules that
/// were loaded before cannot be blamed on lines), then call count() any number of times.
class SassCounter {
 public:
  SassCounter();  ///< throws Unmeasured
  ~SassCounter();
  SassCounter(const SassCounter&) = delete;
  SassCounter& operator=(const SassCounter&) = delete;

  /// Waits for the device, calls `launch` once, waits for what it launched, and returns its counts
  /// per kernel and line; lines that count nothing are left out. Throws Unmeasured (also where no
  /// kernel was seen: nothing is not zero), CudaError for a launch that failed, and anything
  /// `launch` throws. Calls `is_over` when the device is no longer needed, before it adds up.
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
  /// `wanted` is what someone looks at: hardware counters (see is_counter), which are measured,
  /// too, and metrics of the catalog. Throws Unmeasured.
  explicit RangeProfiler(const std::vector<const Metric*>& wanted = {});
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  /// Runs every item once unmeasured, then once per pass and round; returns for each item every
  /// `range` metric of the catalog, and counter, that the chip has, as (metric id, value) in the
  /// catalog's unit: of times and what is wanted from the medians over `rounds`, of the rest from
  /// one round. A ratio of nothing (0/0) is left out. Throws Unmeasured, CudaError for a launch
  /// that failed, and anything the items throw.
  std::vector<std::vector<std::pair<std::string_view, double>>> measure(
      std::span<const RangeItem> items, int rounds);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpgauge::metrics
