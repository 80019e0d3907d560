// Bulk copies out of shared memory: commits, waits, and the copies themselves.
#include "harness/emulator/machine/control/bulk_groups.h"

#include <utility>

namespace warpgauge::emulator::machine::control {

template <typename Done>
void BulkGroups::perform(Mask lanes, Done done) {
  std::erase_if(pending_, [&](const Copy& copy) {
    if ((lanes >> copy.lane & 1) == 0 || !done(copy)) return false;
    if (copy.make) copy.make();
    copy.note();
    return true;
  });
}

void BulkGroups::issue(int lane, bool lazy, std::function<void()> make,
                       std::function<void()> note) {
  if (!lazy) std::exchange(make, nullptr)();
  pending_.push_back(
      {lane, open_[static_cast<std::size_t>(lane)], std::move(make), std::move(note)});
}

void BulkGroups::commit(Mask lanes) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) open_[lane] += lanes >> lane & 1;
}

void BulkGroups::wait(Mask lanes, std::uint32_t newest) {
  perform(lanes, [&](const Copy& copy) {
    return copy.group + std::uint64_t{newest} < open_[static_cast<std::size_t>(copy.lane)];
  });
}

void BulkGroups::finish(Mask lanes) {
  if (!pending_.empty()) perform(lanes, [](const Copy&) { return true; });
}

void BulkGroups::reset() {
  pending_.clear();
  open_ = {};
}

}  // namespace warpgauge::emulator::machine::control
