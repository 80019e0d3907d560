// The access of a memory instruction that shows most.
#pragma once

#include "metrics/base/source_line.h"
#include "metrics/counting/warp_access.h"

namespace warpgauge::emulator::machine {

/// The execution of a PTX instruction that shows most, by metrics::shows_more().
struct InstructionRecord {
  int text_line = 0;
  const metrics::SourceLine* source = nullptr;  ///< see LaunchOutcome::sources
  metrics::WarpAccess access;
};

}  // namespace warpgauge::emulator::machine
