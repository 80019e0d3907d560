// The counters of one worker thread.
#include "harness/emulator/machine/memory/counters.h"

#include "harness/emulator/machine/memory/access_pattern.h"

namespace warpgauge::emulator::machine::memory {

AccessTotals Counters::totals(std::size_t n) const {
  const AccessCache& cache = caches_.at(n);
  return cache.totals.space == AccessTotals::Space::none ? AccessTotals{} : cache.settled();
}

void Counters::begin_launch() {
  for (std::size_t n = 0; n < caches_.size(); ++n) {
    AccessCache& cache = caches_[n];
    if (cache.repeats == 0 && cache.totals.requests == 0) continue;  // it has not executed
    if (cache.totals.space == AccessTotals::Space::shared) put_aside(cache);
    cache.now.mask = 0;  // the recorder is to see its next access
    cache.repeats = 0;
    cache.totals = {.space = cache.totals.space, .estimate_reason = cache.totals.estimate_reason};
    cache.shown_rank = 0;
    records_[n].mask = 0;
  }
}

}  // namespace warpgauge::emulator::machine::memory
