// Special registers that have another value each time they are read: clocks and timers.
#pragma once

#include <string_view>

#include "harness/emulator/machine/core/execute.h"
#include "harness/emulator/ptx/type.h"

namespace warpgauge::emulator::machine::control {

/// One of them. Instruction::offset is the shift.
struct Clock {
  std::string_view name;
  Execute execute;
  int shift;
  ptx::Type type;
};

/// nullptr if there is none of that name.
const Clock* find_clock(std::string_view name);

}  // namespace warpgauge::emulator::machine::control
