// Adds up the counts of a memory instruction.
#include "harness/emulator/machine/core/access_totals.h"

namespace warpgauge::emulator::machine {

void add(AccessTotals& sum, const AccessTotals& more) {
  if (more.space == AccessTotals::Space::none) return;
  sum.space = more.space;
  sum.requests += more.requests;
  sum.wavefronts += more.wavefronts;
  sum.wavefronts_ideal += more.wavefronts_ideal;
  sum.sectors += more.sectors;
  sum.sectors_ideal += more.sectors_ideal;
  sum.tags += more.tags;
  sum.bytes += more.bytes;
  sum.lane_groups += more.lane_groups;
  sum.estimates += more.estimates;
  if (more.estimates > 0 && sum.estimate_reason.empty()) sum.estimate_reason = more.estimate_reason;
}

}  // namespace warpgauge::emulator::machine
