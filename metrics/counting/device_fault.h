// The fault of a kernel, as reports show it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "metrics/base/source_line.h"

namespace warpgauge::metrics {

/// The fault that ended a kernel.
struct DeviceFault {
  std::string text;       ///< for people: kernel, block, thread, line, and the fault itself
  std::string kernel;     ///< mangled name; empty if it is not known
  SourceLine source;      ///< the line of the fault; file empty if it is not known
  std::string rule;       ///< of a finding of a check: what it breaks ("race"); empty for a fault
  std::string other;      ///< the other line of a finding of two ("f.cu:12"), or the allocation
  std::string cure = {};  ///< what may mend it; empty if that is not known
};

/// Launches of a kernel with no block or no thread, which CUDA refuses, and whose errors the
/// program has taken: they are no fault.
struct EmptyLaunches {
  std::string kernel;  ///< mangled name
  std::string place;   ///< "f.cu:12": the kernel's; empty if it is not known
  std::uint64_t count = 0;
};

/// Adds to those of the same kernel.
inline void add(std::vector<EmptyLaunches>& all, const EmptyLaunches& more) {
  const auto known = std::ranges::find(all, more.kernel, &EmptyLaunches::kernel);
  known == all.end() ? all.push_back(more) : void(known->count += more.count);
}

}  // namespace warpgauge::metrics
