// Sums of the counters of one worker thread, which begin anew with each launch.
#include "harness/emulator/machine/memory/counters.h"

#include "harness/emulator/machine/memory/access_pattern.h"

namespace warpgauge::emulator::machine::memory {

AccessTotals Counters::totals(std::size_t counter) const {
  const AccessCache& cache = caches_.at(counter);
  const bool counts = cache.totals.space != AccessTotals::Space::none;
  return counts ? cache.settled() : AccessTotals{};
}

void Counters::begin_launch() {
  for (std::size_t counter = 0; counter < caches_.size(); ++counter) {
    AccessCache& cache = caches_[counter];
    if (!cache.has_executed()) continue;
    if (cache.totals.space == AccessTotals::Space::shared) put_aside(cache);
    cache.forget_executions();
    records_[counter].mask = 0;  // nothing is recorded
  }
}

}  // namespace warpgauge::emulator::machine::memory
