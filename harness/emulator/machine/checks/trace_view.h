// How an access looks at the traces of earlier ones. For the files of the history only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "harness/emulator/machine/checks/trace.h"
#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::checks {

/// Other workers look at the same traces: of two that change one, one gets lost.
inline std::uint64_t load(const std::uint64_t& trace) {
  return __atomic_load_n(&trace, __ATOMIC_RELAXED);
}
inline void store(std::uint64_t& trace, std::uint64_t value) {
  __atomic_store_n(&trace, value, __ATOMIC_RELAXED);
}

template <typename Layout>
struct TraceView {
  std::uint64_t self;      ///< its own trace, without thread and bytes
  std::uint64_t floor;     ///< traces below are ordered before it
  std::uint64_t settled;   ///< reads below are ordered before all of its block
  std::uint64_t in_block;  ///< traces of its own block are below this one
  std::uint64_t who;       ///< bits of a trace that name its maker
  bool reads;              ///< and it matters whether something was written
  bool writes;
  bool lanes = false;                      ///< those of one warp may race with each other
  std::uint64_t exempt = Layout::kStrong;  ///< two accesses with this bit do not race
  std::uint64_t begin = 0;                 ///< traces below it were left by other launches

  /// Whether the block has told the time since `before`: a maker's read may replace its own one.
  bool is_later_than(std::uint64_t before) const {
    return Layout::time(self) != Layout::time(before);
  }

  bool tells_lanes() const { return lanes; }
  bool may_race(std::uint64_t trace, std::uint64_t own) const {
    return trace >= floor && (((trace ^ own) & who) != 0 || trace < begin) &&
           (trace & own & exempt) == 0;
  }
  /// Whether a read takes the place of the one that is kept: of one that can race no more, or with
  /// other blocks only, as this one can; of a strong one by one that can race with more; of its own
  /// one before a barrier or a fence, as what this one is ordered with that one is, too; and of its
  /// own one for has_seen().
  bool replaces(std::uint64_t read, std::uint64_t own) const {
    if (read < settled) return true;
    if (read < in_block && read >= begin && ((read ^ own) & Layout::kActorBits) == 0) return true;
    if (((read ^ own) & who) == 0 && read >= begin) {
      return Layout::time(read) < Layout::time(own) || ((read | own) & Layout::kStrong) != 0;
    }
    return (read & ~own & Layout::kStrong) != 0;
  }
  /// The same, where the last write of the word is known. Of reads by lanes of one warp, that of
  /// the lane which wrote gives way to another's: mostly that lane writes it again.
  bool replaces(std::uint64_t read, std::uint64_t own, std::uint64_t write) const {
    if (tells_lanes() && ((read ^ write) & who) == 0 && ((own ^ write) & who) != 0) return true;
    return replaces(read, own);
  }
  /// Whether an atomic leaves the write before it in its place: a weak one of its own maker, whom
  /// nobody has met since, races with all that the atomic does, and with other atomics.
  bool leaves(std::uint64_t write, std::uint64_t own) const {
    return (own & ~write & Layout::kStrong) != 0 && ((write ^ own) & who) == 0 &&
           Layout::time(write) == Layout::time(own) && (own & ~write & Layout::kByteBits) == 0;
  }
  /// Whether it has read, by a strong access, a word that was written so: a flag that it polled.
  bool has_seen(std::uint64_t read, std::uint64_t write, std::uint64_t own) const {
    const bool is_of_lanes = tells_lanes() && ((write ^ own) & Layout::kActorBits) == 0;
    return !is_of_lanes && (read & write & Layout::kStrong) != 0 && read >= begin &&
           ((read ^ own) & Layout::kActorBits) == 0 && Layout::time(read) >= Layout::time(write);
  }
};

/// Holds an access against a write and a read and puts it in their place.
/// `judge(trace, wrote)` is asked about one that may race, and says whether to put it there.
template <typename Layout, typename Judge>
[[gnu::always_inline]] inline void look(const TraceView<Layout>& view, std::uint64_t& write,
                                        std::uint64_t& read, std::uint64_t own, bool keep,
                                        Judge judge) {
  const std::uint64_t written = load(write), was_read = load(read);
  if (view.may_race(written, own) && !view.has_seen(was_read, written, own)) [[unlikely]] {
    keep &= judge(written, true);
  }
  if (view.writes) {
    if (view.may_race(was_read, own)) [[unlikely]]
      keep &= judge(was_read, false);
    if (keep && !view.leaves(written, own)) store(write, own);
  } else if (keep && view.replaces(was_read, own, written)) {
    store(read, own);
  }
}

/// The bytes of the word at `address` / 4 that an access of `width` bytes touches.
inline std::uint64_t bytes_of_word(std::uint64_t address, int width) {
  return width >= 4 ? 15 : ((std::uint64_t{1} << width) - 1) << (address % 4);
}

/// Whether the store changes nothing of what is at `to`. Who comes first does not matter then.
inline bool is_silent(const Warp& warp, const Instruction& instruction, const Access& access,
                      int lane, const std::byte* to) {
  if (!access.is_store) return false;
  const auto& detail = *static_cast<const MoveDetail*>(instruction.detail);
  for (int n = 0; n * detail.element_bytes < access.width; ++n) {
    const OperandSlot slot = detail.elements[n];
    const std::byte* const from =
        warp.bases[slot.base] + slot.offset + lane * detail.register_bytes;
    if (std::memcmp(to + n * detail.element_bytes, from, detail.element_bytes) != 0) return false;
  }
  return true;
}

}  // namespace warpgauge::emulator::machine::checks
