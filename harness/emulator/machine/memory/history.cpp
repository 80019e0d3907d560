// The history of one block after the other.
#include "harness/emulator/machine/memory/history.h"

#include <algorithm>

#include "harness/emulator/machine/memory/cluster_memory.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::memory {

History::History(LaunchHistory& launch, std::size_t warps, std::uint64_t shared_bytes)
    : launch_(launch), times_(warps), shared_((shared_bytes + 3) / 4) {}

History::~History() { launch_.reached(global_time()); }

void History::begin_block(std::uint64_t number) {
  launch_.reached(global_time());
  any_in_flight_ |= !flights_.empty();
  flights_.clear();
  proxy_fences_.begin();
  mbarrier_fences_.begin();
  product_waits_.begin();
  if (any_in_flight_ || times_.is_running_out()) {
    std::ranges::fill(shared_, WordTraces());
    any_in_flight_ = false;
    times_.restart();
  }
  times_.begin();
  block_ = number;
  acquired_ = 0;
  acquires_ = false;
}

void History::sync_lanes(std::uint32_t warp) {
  if (launch_.checks.lanes) times_.sync_lanes(warp);
}

void History::fence(std::uint32_t warp, bool of_grid) {
  times_.fence(warp);
  if (of_grid) launch_.fence(block_, global_time());
}

void History::acquire(const Warp& warp) {
  times_.acquire(warp.memory->warp);
  warp.memory->cluster->note_met(warp.memory->rank);
}

bool History::is_new(bool of_shared, std::uint64_t first, std::uint64_t second, bool wrote) {
  return found_.insert({of_shared, first, second, wrote}).second;
}

}  // namespace warpgauge::emulator::machine::memory
