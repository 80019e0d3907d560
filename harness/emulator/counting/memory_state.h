// What launches have found and left in memory since the counts were taken.
#pragma once

#include <string>

#include "metrics/machine_code/order_dependence.h"

namespace warpgauge::emulator::counting {

struct MemoryState {
  metrics::Memory memory = metrics::Memory::settled;
  std::string race;               ///< that has unsettled it, "f.cu:12 and f.cu:20"; empty: none has
  bool decides_counts = false;    ///< what a kernel loaded can have decided its counts
  bool decides_launches = false;  ///< the host may have decided on launches by what it holds

  bool is_unsettled() const { return memory == metrics::Memory::unsettled; }
};

}  // namespace warpgauge::emulator::counting
