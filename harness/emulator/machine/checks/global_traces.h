// The traces of accesses to global memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "harness/emulator/machine/checks/earlier_launches.h"
#include "harness/emulator/machine/checks/trace.h"
#include "harness/emulator/machine/checks/trace_table.h"

namespace warpgauge::emulator::machine::checks {

/// An access stands in one of the tables, and looks at both.
class GlobalTraces {
 public:
  TraceTable<SectorTraces> sectors;
  TraceTable<WordTraces> words;
  /// Time behind all that blocks have made so far.
  std::atomic<std::uint64_t> now = 1;
  EarlierLaunches launches;  ///< changes only between launches

  /// Whether a kernel is known to have written to any of these bytes.
  bool any_written(std::uint64_t begin, std::uint64_t bytes) const {
    const auto is_written = [](const auto& traces) { return traces.write != 0; };
    return sectors.any(begin, bytes, is_written) || words.any(begin, bytes, is_written);
  }
  /// Forgets the accesses of memory that gets another use.
  void forget(std::uint64_t begin, std::uint64_t bytes) {
    sectors.forget(begin, bytes);
    words.forget(begin, bytes);
  }
  void forget_all() {
    sectors.forget_all();
    words.forget_all();
    launches.forget_all();
    now = 1;
  }
};

}  // namespace warpgauge::emulator::machine::checks
