// The trace that an access leaves in the history: 64 bits for each word of memory that it touched.
#pragma once

#include <cstdint>

namespace warpgauge::emulator::machine::checks {

/// How an access of a word is packed. From the highest bits on: the time, so that traces compare as
/// their times do; who made it (a warp or a block); the counter of its instruction; its thread (a
/// lane, or the thread's number in its block); which bytes of the word; and whether it is strong
/// (atomic or volatile), as strong accesses do not race with each other. 0 is no access.
template <int kTime, int kActor, int kCounter, int kThread>
struct TraceLayout {
  static constexpr int kBytesAt = 1, kThreadAt = 5, kCounterAt = kThreadAt + kThread;
  static constexpr int kActorAt = kCounterAt + kCounter, kTimeAt = kActorAt + kActor;
  static_assert(kTimeAt + kTime == 64);
  static constexpr std::uint64_t kStrong = 1;
  static constexpr std::uint64_t kByteBits = std::uint64_t{15} << kBytesAt;
  static constexpr std::uint64_t kMostTime = (std::uint64_t{1} << kTime) - 2;
  static constexpr std::uint64_t kActors = std::uint64_t{1} << kActor;
  static constexpr std::uint64_t kCounters = std::uint64_t{1} << kCounter;
  static constexpr std::uint64_t kActorBits = (kActors - 1) << kActorAt;
  static constexpr std::uint64_t kThreadBits = ((std::uint64_t{1} << kThread) - 1) << kThreadAt;

  static constexpr std::uint64_t at_time(std::uint64_t time) { return time << kTimeAt; }
  static constexpr std::uint64_t time(std::uint64_t trace) { return trace >> kTimeAt; }
  static constexpr std::uint64_t actor(std::uint64_t trace) {
    return (trace & kActorBits) >> kActorAt;
  }
  static constexpr std::uint64_t counter(std::uint64_t trace) {
    return (trace >> kCounterAt) & (kCounters - 1);
  }
  static constexpr std::uint32_t thread(std::uint64_t trace) {
    return static_cast<std::uint32_t>((trace & kThreadBits) >> kThreadAt);
  }
  static constexpr std::uint64_t bytes(std::uint64_t trace) {
    return (trace & kByteBits) >> kBytesAt;
  }
};

using SharedTrace = TraceLayout<32, 5, 17, 5>;
/// In the time of a copy of cp.async that nothing has waited for: no barrier orders it.
inline constexpr std::uint64_t kInFlight = std::uint64_t{1} << 63;
/// Traces of copies of the async proxy have the number of their place in the code in place of a
/// counter, from this one on.
inline constexpr std::uint64_t kCopyPlaces = 1024;
inline constexpr std::uint64_t kFirstCopyPlace = SharedTrace::kCounters - kCopyPlaces;
constexpr bool is_of_copy(std::uint64_t shared_trace) {
  return SharedTrace::counter(shared_trace) >= kFirstCopyPlace;
}
using GlobalTrace = TraceLayout<18, 20, 11, 10>;

/// The accesses of a word that later ones may race with.
struct WordTraces {
  static constexpr std::uint64_t kBytes = 4;
  std::uint64_t write = 0;  ///< the last one
  std::uint64_t read = 0;   ///< the first one that may still race
};

/// An access of all words one behind the other, lane by lane.
struct RunOfWords {
  WordTraces* first;
  int words_of_lane;    ///< 1, 2 or 4
  std::uint64_t own;    ///< the trace of lane 0
  std::uint64_t begin;  ///< writes below are none, and 0 where that does not matter
  std::uint64_t floor;  ///< times below it are ordered before
  std::uint64_t who;    ///< bits of a trace that name its maker
  bool writes;
};
/// Looks at a run and puts its traces in their places. False if something may race or was not
/// written: then nothing is changed.
using LookAtRun = bool (*)(const RunOfWords& run);

/// The traces of a sector of global memory, where a warp accesses all words of it by lanes in their
/// order. One trace stands for all words: that of the first one in WordTraces, with log2 of the
/// bytes of a lane in place of the bytes of a word. Most accesses are of this kind.
struct SectorTraces {
  static constexpr std::uint64_t kBytes = 32;
  std::uint64_t write = 0, read = 0;
  std::uint64_t write_of_word = 0, read_of_word = 0;  ///< one of the launch in its WordTraces
};

/// The trace of the word at byte `offset` of the sector.
constexpr std::uint64_t trace_of_word(std::uint64_t sector_trace, std::uint64_t offset) {
  const std::uint64_t lane = offset >> GlobalTrace::bytes(sector_trace);
  return (sector_trace | GlobalTrace::kByteBits) + (lane << GlobalTrace::kThreadAt);
}

}  // namespace warpgauge::emulator::machine::checks
