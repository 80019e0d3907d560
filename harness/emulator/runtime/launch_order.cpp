// The order of launches.
#include "harness/emulator/runtime/launch_order.h"

#include <algorithm>

namespace warpgauge::emulator::runtime {
namespace {

/// Launches before the last so many are not looked at.
constexpr std::size_t kMostRecent = 32;

void join(LaunchOrder::Clock& clock, const LaunchOrder::Clock& other) {
  for (const auto& [stream, launch] : other) {
    std::uint64_t& known = clock[stream];
    known = std::max(known, launch);
  }
}

}  // namespace

LaunchOrder::Clock& LaunchOrder::clock_of(cudaStream_t stream, const WaitsFor& waits_for) {
  Clock& own = streams_[stream];
  for (const auto& [other, clock] : streams_) {
    if (other != stream && waits_for(stream, other)) join(own, clock);
  }
  return own;
}

LaunchOrder::Place LaunchOrder::launch(cudaStream_t stream, bool is_dependent,
                                       const WaitsFor& waits_for) {
  Place place{.number = ++number_, .stream = stream};
  Clock& known = clock_of(stream, waits_for);
  const auto before = last_.find(stream);
  for (const Launched& earlier : recent_) {
    const auto found = known.find(earlier.stream);
    if (found == known.end() || found->second < earlier.number) {
      place.concurrent.push_back({.number = earlier.number});
    } else if (is_dependent && before != last_.end() && before->second == earlier.number) {
      place.concurrent.push_back({.number = earlier.number, .until_wait = true});
    }
  }
  known[stream] = last_[stream] = number_;
  recent_.push_back({number_, stream});
  if (recent_.size() > kMostRecent) recent_.pop_front();
  return place;
}

LaunchOrder::Mark LaunchOrder::mark(cudaStream_t stream, const WaitsFor& waits_for) {
  clock_of(stream, waits_for)[stream] = ++number_;
  return {stream, number_};
}

bool LaunchOrder::has_ended(const Mark& work, cudaStream_t before, const WaitsFor& waits_for) {
  if (work.number <= waited_) return true;
  const Clock& known = clock_of(before, waits_for);
  const auto found = known.find(work.stream);
  return found != known.end() && found->second >= work.number;
}

LaunchOrder::Clock LaunchOrder::record(cudaStream_t stream, const WaitsFor& waits_for) {
  return clock_of(stream, waits_for);
}

void LaunchOrder::wait(cudaStream_t stream, const Clock& event) { join(streams_[stream], event); }

void LaunchOrder::wait() {
  waited_ = number_;
  streams_.clear();
  last_.clear();
  recent_.clear();
}

}  // namespace warpgauge::emulator::runtime
