// The access of a source line that is drawn, with its cure.
#pragma once

#include <string>

#include "metrics/counting/warp_access.h"
#include "metrics/facts/confidence.h"

namespace warpgauge::metrics {

/// The access with the highest rank of a source line: shows_more().
struct LineAccess {
  std::string kernel;  ///< mangled name
  std::string file;    ///< empty where the code has no line information
  int line = 0;
  Trust trust;  ///< how sure it is that a GPU makes this access
  WarpAccess access;
  std::string cure;  ///< cure_of() the access
};

}  // namespace warpgauge::metrics
