// What the history keeps of an access: 64 bits for each word of memory that it touched.
#pragma once

#include <cstdint>

namespace warpgauge::emulator::machine::memory {

/// How an access of a word is packed. From the highest bits on: the time, so that traces compare as
/// their times do; who made it (a warp or a block: those that a check tells apart); the counter of
/// its instruction; its thread (a lane, or the thread's number in its block); which bytes of the
/// word; and whether it is strong (atomic or volatile), as strong accesses do not race with each
/// other. 0 is no access.
template <int kTime, int kActor, int kCounter, int kThread>
struct TraceLayout {
  static constexpr int kBytesAt = 1, kThreadAt = 5, kCounterAt = kThreadAt + kThread;
  static constexpr int kActorAt = kCounterAt + kCounter, kTimeAt = kActorAt + kActor;
  static_assert(kTimeAt + kTime == 64);
  static constexpr std::uint64_t kStrong = 1;
  static constexpr std::uint64_t kMostTime = (std::uint64_t{1} << kTime) - 2;
  static constexpr std::uint64_t kActors = std::uint64_t{1} << kActor;
  static constexpr std::uint64_t kCounters = std::uint64_t{1} << kCounter;
  static constexpr std::uint64_t kActorBits = (kActors - 1) << kActorAt;
  static constexpr std::uint64_t kThreadBits = ((std::uint64_t{1} << kThread) - 1) << kThreadAt;

  static std::uint64_t at_time(std::uint64_t time) { return time << kTimeAt; }
  static std::uint64_t time(std::uint64_t trace) { return trace >> kTimeAt; }
  static std::uint64_t actor(std::uint64_t trace) { return (trace & kActorBits) >> kActorAt; }
  static std::uint64_t counter(std::uint64_t trace) {
    return (trace >> kCounterAt) & (kCounters - 1);
  }
  static std::uint32_t thread(std::uint64_t trace) {
    return static_cast<std::uint32_t>((trace & kThreadBits) >> kThreadAt);
  }
  static std::uint64_t bytes(std::uint64_t trace) { return (trace >> kBytesAt) & 15; }
};

using SharedTrace = TraceLayout<32, 5, 17, 5>;
using GlobalTrace = TraceLayout<18, 20, 11, 10>;

/// The accesses of a word that later ones may race with.
struct WordTraces {
  std::uint64_t write = 0;  ///< the last one
  std::uint64_t read = 0;   ///< the first one that may still race
};

}  // namespace warpgauge::emulator::machine::memory
