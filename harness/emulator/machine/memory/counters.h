// The counters of one worker thread: sums for each memory instruction of a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/emulator/machine/core/access_totals.h"
#include "harness/emulator/machine/memory/access_cache.h"
#include "metrics/counting/warp_access.h"

namespace warpgauge::emulator::machine::memory {

/// The counters of one worker, for one launch after the other. They are numbered by
/// Decoder::counter over a kernel and all functions it calls; an instruction that may access
/// several spaces has several.
class Counters {
 public:
  explicit Counters(std::size_t count) : caches_(count), records_(count) {}

  AccessCache* caches() { return caches_.data(); }            ///< for MemoryContext
  metrics::WarpAccess* records() { return records_.data(); }  ///< by counter
  std::size_t size() const { return caches_.size(); }

  /// The sums of a counter since the launch began. Space::none if it was never executed, or counts
  /// nothing.
  AccessTotals totals(std::size_t counter) const;

  /// All sums are 0 again, and no access is recorded. What accesses cost is still known.
  void begin_launch();

 private:
  std::vector<AccessCache> caches_;
  std::vector<metrics::WarpAccess> records_;
};

}  // namespace warpgauge::emulator::machine::memory
