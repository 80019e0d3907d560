// One row of the table of metrics.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "metrics/facts/formula.h"

namespace warpgauge::metrics {

/// The better direction of a metric. `none`: a description, only ever judged with `equal`.
enum class Direction { lower, higher, none };

/// The class of a metric, by how far its values can be trusted: `exact` repeats to the last digit
/// and gates hard, `bounded` is noisy and gates only with a tolerance, `info` is shown and never
/// judged.
enum class Class { exact, bounded, info };

/// The source of the values. `run`: the comparison with the reference; `sass`: CUPTI SASS metrics
/// (patched instructions, one launch); `range`: the CUPTI range profiler (hardware counters,
/// several passes); `timer`: CUDA events around the launches, by warpgauge-bench; `emulator`: the
/// emulator alone, since no counter of a GPU has it.
enum class Source { run, cubin, occupancy, sass, range, timer, emulator };

/// The cost of a worse value, the dearest first. `occupancy`: free unless occupancy.theoretical
/// falls. `size`: free while the value grows by kFreeGrowth at most. `explains`: free, since it
/// only says why another value is as it is.
enum class Cost { direct, occupancy, size, explains };

/// Another compiler moves the size of code by some percent; a loop that is unrolled once more adds
/// half of its code at least.
inline constexpr double kFreeGrowth = 0.25;

/// One row of the table, whose columns metrics/facts/catalog.toml explains.
struct Metric {
  std::string_view id;
  std::string_view unit;
  Direction direction = Direction::none;
  Class cls = Class::info;
  Cost cost = Cost::direct;
  Source source = Source::run;
  Formula formula;          ///< has counters of CUPTI (range) or Counts (sass, emulator)
  bool is_of_line = false;  ///< the formula is of a source line; a kernel has the largest value
  std::vector<std::string_view> cupti_names;  ///< exact CUPTI names it is computed from
  std::string_view meaning;                   ///< one sentence: what it counts
  std::string_view good;                      ///< one sentence: which values are good, and why
  std::string_view cure;                      ///< one sentence: what to do when it is not good
  std::string_view ideal;          ///< the metric that `of = "ideal"` means; empty: there is none
  std::optional<double> built_in;  ///< must be this unless a budget file has another limit
  std::string_view why_built_in;   ///< half a sentence
  /// Nsight Compute's count that is this one; of several, the first without the others.
  std::vector<std::string_view> nsight_names;
};

std::string_view to_string(Direction direction);
std::string_view to_string(Class cls);
std::string_view to_string(Source source);
std::string_view to_string(Cost cost);

}  // namespace warpgauge::metrics
