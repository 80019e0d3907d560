// The counters of one worker thread.
#include "harness/emulator/machine/memory/counters.h"

namespace warpgauge::emulator::machine::memory {

AccessTotals Counters::totals(std::size_t n) const {
  const AccessCache& cache = caches_.at(n);
  return cache.totals.space == AccessTotals::Space::none ? AccessTotals{} : cache.settled();
}

void add(AccessTotals& sum, const AccessTotals& more) {
  if (more.space == AccessTotals::Space::none) return;
  sum.space = more.space;
  sum.requests += more.requests;
  sum.wavefronts += more.wavefronts;
  sum.wavefronts_ideal += more.wavefronts_ideal;
  sum.sectors += more.sectors;
  sum.sectors_ideal += more.sectors_ideal;
  sum.tags += more.tags;
  sum.lane_groups += more.lane_groups;
  sum.estimates += more.estimates;
  if (sum.estimate_reason.empty()) sum.estimate_reason = more.estimate_reason;
}

}  // namespace warpgauge::emulator::machine::memory
