// Tables of times, as Markdown: what warpgauge-bench shows beside its benchmarks. Times in which
// the GPU waited for the host have a mark, which the end of the table explains.
#pragma once

#include <string>
#include <vector>

#include "metrics/facts/fact.h"
#include "metrics/facts/median.h"

namespace warpgauge::bench {

/// The measurements of one case. A missing value is 0, or negative for errors.
struct Timing {
  metrics::CaseId id;
  metrics::MedianEstimate estimate;  ///< the median of the time, in microseconds
  std::string why_not_held;  ///< why the GPU waited for the host in that time; empty: it did not
  double bytes_per_second = 0, percent_of_peak = 0, flops_per_second = 0;
  double percent_of_measured_peak = 0, percent_of_arithmetic_peak = 0;
  std::string yardstick;       ///< the variant it is held against; empty: none
  bool yardstick_held = true;  ///< the GPU did not wait for the host in the yardstick's time
  double relative_to = 0;      ///< speed as a fraction of the yardstick's
  double sequential_ms = 0;    ///< the time of the sequential solution on the CPU
  double mean_absolute_error = -1, mean_relative_error = -1, max_error = -1;
};

/// "the GPU waited for the host: ..."; empty if it did not.
std::string host_note(const Timing& timing);

/// Variants by sizes, a table for each family: median times in microseconds. A family whose sizes
/// span a grid (block shapes, for instance) has a table for each variant, one extent down, the
/// other across.
std::string times_table(const std::vector<Timing>& timings);

/// Speeds: bytes and operations per second, percentages of their peaks, speed against the
/// yardstick, and the speed-up over the sequential solution on the CPU.
std::string speeds_table(const std::vector<Timing>& timings);

/// Errors and times of the cases that were compared within a tolerance; empty without any.
std::string accuracy_table(const std::vector<Timing>& timings);

}  // namespace warpgauge::bench
