// Holds a stream back while the host fills it, so that the GPU never waits for the host.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace warpgauge::bench {

/// Holds in turn, each with a number. One that lasts longer than the limit, because what is held is
/// itself waited for, ends by itself, at the latest after twice the limit.
class Hold {
 public:
  /// `ended` is 0 and becomes the number of the last hold that has ended: what is held waits for
  /// it.
  Hold(std::uint32_t& ended, std::chrono::milliseconds limit);
  ~Hold() { end(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  /// Begins the next hold and returns its number.
  std::uint32_t begin();
  /// Ends it. False if it has ended by itself.
  bool end();
  /// False once two holds in a row have ended by themselves: one alone may be a host that slept.
  bool works() const { return expired_ < 2; }
  /// Holds so far say nothing of those to come.
  void forget() { expired_ = 0; }

 private:
  bool end(std::uint32_t number);
  void watch(const std::stop_token& stop);

  std::uint32_t& ended_;
  std::chrono::milliseconds limit_;
  std::atomic<std::uint32_t> begun_ = 0;
  int expired_ = 0;  ///< holds in a row
  std::jthread watch_;
};

}  // namespace warpgauge::bench
