// A mistake that a check has found. A kernel goes on after it, as it would on a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "metrics/base/source_line.h"

namespace warpgauge::emulator::machine {

struct Finding {
  /// Between these instructions of the kernel's body, by their positions.
  struct MissingBarrier {
    std::uint32_t earlier, later;
    bool of_warp;  ///< __syncwarp(), else __syncthreads()
  };
  std::string text;  ///< as Fault::what(): kernel, block, thread, line, and what is wrong
  metrics::SourceLine source;
  std::string rule;   ///< the rule that is broken: "race"
  std::string other;  ///< the other line, "f.cu:12"; empty where the finding is of one line
  std::optional<MissingBarrier> missing_barrier = {};  ///< what may cure it
};

}  // namespace warpgauge::emulator::machine
