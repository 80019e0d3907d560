// The fault of a kernel, as reports show it.
#pragma once

#include <string>

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

}  // namespace warpgauge::metrics
