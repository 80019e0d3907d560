// Explains a case line by line: where its requests, wavefronts and sectors come from.
#pragma once

#include <string>

#include "harness/registry.h"

namespace warpgauge {

/// Runs the case and returns a table of its source lines, worst first, behind its compile-time
/// values. Throws metrics::Unmeasured where nothing can be counted (after which the compile-time
/// values alone can be had with `explain_static`).
std::string explain(const Case& one);

/// The compile-time values of the case, a line per architecture of the build.
std::string explain_static(const Case& one);

}  // namespace warpgauge
