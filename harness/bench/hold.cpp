// Counts the holds of a stream, and ends a hold that the host has left too long.
#include "harness/bench/hold.h"

#include <condition_variable>
#include <mutex>

namespace warpgauge::bench {

Hold::Hold(std::uint32_t& ended, std::chrono::milliseconds limit)
    : ended_(ended), limit_(limit), watch_([this](const std::stop_token& stop) { watch(stop); }) {}

std::uint32_t Hold::begin() {
  end(begun_);  // an exception may have left it
  return ++begun_;
}

bool Hold::end() {
  const bool in_time = end(begun_);
  expired_ = in_time ? 0 : expired_ + 1;
  return in_time;
}

/// The host or the watch ends a hold, whichever comes first; the other then changes nothing.
bool Hold::end(std::uint32_t number) {
  std::uint32_t before = number - 1;
  return std::atomic_ref(ended_).compare_exchange_strong(before, number);
}

/// Ends a hold that it meets twice.
void Hold::watch(const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any woken;
  for (std::uint32_t met = 0; !stop.stop_requested();) {
    woken.wait_for(lock, stop, limit_, [] { return false; });
    const std::uint32_t now = begun_;
    if (now == met) end(now);
    met = now;
  }
}

}  // namespace warpgauge::bench
