// Where lanes of a warp that part at a branch do not meet again.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "metrics/machine_code/sass_code.h"
#include "metrics/machine_code/sass_flow.h"

namespace warpgauge::metrics {

/// A branch, and the instructions that lanes which part at it may come to apart: on several of its
/// ways before a BSYNC or a WARPSYNC gathers them, or behind a BSYNC that one way leaves out.
struct Parting {
  std::size_t branch = 0;   ///< index into the code
  std::vector<bool> apart;  ///< by instruction
};

/// Only branches between a BSSY and its BSYNC: lanes part at no other, all of a warp go one way.
///
/// A BSYNC gathers no lanes where a YIELD has released some. A function that calls itself gathers
/// none: lanes that wait in one call go on with those of another. Functions that the code calls
/// return the lanes together if they do not part in them.
///
/// `flow` steps over calls.
std::vector<Parting> partings(std::span<const SassWord> code, const SassFlow& flow, int sm);

}  // namespace warpgauge::metrics
