// The access of a source line that shows most.
#pragma once

#include <string>

#include "metrics/counting/warp_access.h"
#include "metrics/facts/confidence.h"

namespace warpgauge::metrics {

/// The access of a source line that shows most.
struct LineAccess {
  std::string kernel;  ///< mangled name
  std::string file;    ///< empty where the code has no line information
  int line = 0;
  Trust trust;  ///< that the GPU makes this access
  WarpAccess access;
  std::string cure;  ///< cure_of() it
};

}  // namespace warpgauge::metrics
