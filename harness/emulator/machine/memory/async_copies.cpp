// cp.async of one warp: commits, waits, and the copies themselves.
#include "harness/emulator/machine/memory/async_copies.h"

#include <bit>
#include <cstring>
#include <utility>
#include <vector>

namespace warpgauge::emulator::machine::memory {
namespace {

void copy_lane(const AsyncCopies::Copy& copy, std::size_t lane) {
  const std::size_t read = copy.source_bytes[lane];
  std::memcpy(copy.to[lane], copy.from[lane], read);
  std::memset(copy.to[lane] + read, 0, copy.bytes - read);
}

}  // namespace

template <typename Done>
void AsyncCopies::perform(Mask lanes, const Made& made, Done done) {
  for (Copy& copy : pending_) {
    for (Mask rest = copy.mask & lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      if (!done(copy, lane)) continue;
      copy_lane(copy, lane);
      if (made) made(copy, lane);
      copy.mask &= ~(Mask{1} << lane);
    }
  }
  std::erase_if(pending_, [](const Copy& copy) { return copy.mask == 0; });
}

AsyncCopies::Copy& AsyncCopies::issue(Mask lanes, int bytes) {
  is_fresh_ = false;
  Copy& copy = pending_.emplace_back();
  copy.mask = lanes;
  copy.bytes = static_cast<std::uint8_t>(bytes);
  copy.group = open_;
  return copy;
}

void AsyncCopies::commit(Mask lanes) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) open_[lane] += lanes >> lane & 1;
  is_fresh_ = false;
}

void AsyncCopies::wait_group(Mask lanes, std::uint32_t newest, const Made& made) {
  perform(lanes, made, [&](const Copy& copy, std::size_t lane) {
    return copy.group[lane] + std::uint64_t{newest} < open_[lane];
  });
}

void AsyncCopies::wait_all(Mask lanes, const Made& made) {
  perform(lanes, made, [](const Copy&, std::size_t) { return true; });
}

void AsyncCopies::reset() {
  if (std::exchange(is_fresh_, true)) return;
  pending_.clear();
  open_ = {};
}

}  // namespace warpgauge::emulator::machine::memory
