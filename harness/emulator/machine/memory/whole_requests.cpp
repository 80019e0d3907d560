// Counts of requests whose cost no distances of lanes decide.
#include "harness/emulator/machine/memory/whole_requests.h"

namespace warpgauge::emulator::machine::memory {

void count_wgmma(const Warp& warp, std::uint32_t counter, std::uint64_t operand_bytes) {
  constexpr std::uint64_t kWarps = 4, kWavefrontBytes = 128;
  const std::uint64_t all = operand_bytes / kWavefrontBytes, warp_of_group = warp.number % kWarps;
  const std::uint64_t wavefronts =
      all * (warp_of_group + 1) / kWarps - all * warp_of_group / kWarps;
  count(warp, counter,
        {.space = AccessTotals::Space::wgmma,
         .requests = 1,
         .wavefronts = wavefronts,
         .wavefronts_ideal = wavefronts});
}

}  // namespace warpgauge::emulator::machine::memory
