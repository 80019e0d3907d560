// Accesses to shared memory, one after the other, held against those before.
#include <algorithm>
#include <bit>
#include <span>

#include "harness/emulator/machine/checks/access_findings.h"
#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/checks/trace_view.h"

namespace warpgauge::emulator::machine::checks {

/// One execution of an instruction.
struct History::SharedLook {
  History& history;
  const Warp& warp;
  const Instruction& instruction;
  const Access& access;
  const TraceView<SharedTrace> view;
  const Pattern pattern;   ///< how the lanes' addresses lie
  const bool copies_only;  ///< nothing else is looked for

  /// False if it is not to be kept. `is_written`: a thread of the block has written the word. What
  /// else is there is by chance.
  [[gnu::noinline]] bool judge(int lane, std::uint32_t address, std::uint64_t own,
                               std::uint64_t trace, bool wrote, bool is_written) const {
    if ((SharedTrace::bytes(trace) & SharedTrace::bytes(own)) == 0) return true;
    const auto number = warp.number;
    if (is_of_copy(trace)) {
      if (history.is_ahead_of_copy(number, trace, wrote) &&
          history.is_new(SharedTrace::counter(trace), access.counters[1], wrote)) {
        history.report_ahead_of_copy(warp, instruction, access, lane, address, trace, wrote);
      }
      return true;
    }
    const auto maker = static_cast<std::uint32_t>(SharedTrace::actor(trace));
    const bool in_flight = (trace & kInFlight) != 0;
    const auto time = static_cast<BlockTimes::Time>(SharedTrace::time(trace));
    if (!in_flight && maker == number && SharedTrace::counter(trace) == access.counters[1])
      return true;
    if ((in_flight || maker != number) && !history.launch_.checks.races) return true;
    if ((trace & own & SharedTrace::kStrong) != 0 &&
        (maker != number || !(is_volatile(trace) || is_volatile(own)))) {
      return true;
    }
    if (!in_flight && history.times_.orders(maker, time, number)) return true;
    if (is_written && is_silent(warp, instruction, access, lane, history.memory_ + address)) {
      return false;
    }
    const bool is_of_warp = !in_flight && maker == number;
    if (history.is_new(SharedTrace::counter(trace), access.counters[1], wrote, is_of_warp)) {
      report_race(history.launch_.findings,
                  {act_of(warp, instruction, lane), access, Window::shared, address},
                  {.block = history.block_,
                   .thread = maker * kLanes + SharedTrace::thread(trace),
                   .counter = SharedTrace::counter(trace),
                   .wrote = wrote,
                   .in_flight = in_flight,
                   .unfenced_read = is_of_warp || in_flight
                                        ? std::nullopt
                                        : history.unfenced_read_in_block(number, maker, time)});
    }
    return true;
  }

  /// Volatile accesses put lanes in no order, where atomics do.
  bool is_volatile(std::uint64_t trace) const {
    return is_volatile_access(history.launch_.findings.kernel, SharedTrace::counter(trace));
  }

  /// Calls function(address, own trace, traces of the first word) for each lane.
  template <typename Function>
  [[gnu::always_inline]] void for_lanes(const LaneAddresses<std::uint32_t>& lanes,
                                        Function function) const {
    const std::uint64_t self = view.self;  // stores of traces cannot change the copies
    WordTraces* const shared = history.shared_.data();
    const int width = access.width;
    for (Mask rest = lanes.lanes; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const auto address = static_cast<std::uint32_t>(address_of(lanes, lane));
      const std::uint64_t own = self | static_cast<std::uint64_t>(lane) << SharedTrace::kThreadAt |
                                bytes_of_word(address, width) << SharedTrace::kBytesAt;
      function(lane, address, own, shared + address / WordTraces::kBytes);
    }
  }

  /// The step after a look at all lanes' words.
  enum class Next : std::uint8_t {
    nothing,  // the traces stay as they are
    put,      // nothing that was seen may race: the traces take their places
    examine,  // lane by lane
  };
  template <int kWords>
  Next look_at_all(const LaneAddresses<std::uint32_t>& lanes) const {
    const std::uint64_t begin =
        view.reads ? SharedTrace::at_time(history.times_.began()) : std::uint64_t{0};
    const std::uint64_t self = view.self;
    // It names no lane: among lanes any trace may be another's.
    const std::uint64_t who = view.tells_lanes() ? ~std::uint64_t{0} : view.who;
    const auto of_another = [&](std::uint64_t trace) {
      return ((trace ^ self) & who) != 0 ? trace : 0;
    };
    std::uint64_t last_write = 0, first_write = ~std::uint64_t{0};
    std::uint64_t last_read = 0, first_read = ~std::uint64_t{0}, bits = 0;
    for_lanes(lanes, [&](int, std::uint32_t, std::uint64_t, const WordTraces* first) {
      for (const WordTraces& word : std::span<const WordTraces, kWords>(first, kWords)) {
        const std::uint64_t write = word.write, read = word.read;
        last_write = std::max(last_write, of_another(write));
        first_write = std::min(first_write, write);
        if (view.writes) {
          last_read = std::max(last_read, of_another(read));
        } else {
          first_read = std::min(first_read, read);
          bits |= read;
        }
      }
    });
    if (std::max(last_write, last_read) >= view.floor || first_write < begin) return Next::examine;
    const bool keeps_reads = first_read >= view.floor && (bits & SharedTrace::kStrong) == 0 &&
                             !view.tells_lanes() && !view.is_later_than(view.floor);
    return !view.writes && keeps_reads ? Next::nothing : Next::put;
  }
  template <int kWords>
  bool go_through_fast(const LaneAddresses<std::uint32_t>& lanes) const {
    const Next next = look_at_all<kWords>(lanes);
    if (next == Next::put) {
      const TraceView<SharedTrace> view = this->view;
      for_lanes(lanes, [&](int, std::uint32_t, std::uint64_t own, WordTraces* word) {
        for (int n = 0; n < kWords; ++n) {
          if (view.writes) {
            word[n].write = own;
          } else if (view.replaces(word[n].read, own, word[n].write)) {
            word[n].read = own;
          }
        }
      });
    }
    return next != Next::examine;
  }

  /// The same where only copies are looked for, and most traces are older than what matters.
  template <int kWords, bool kWrites>
  bool pass_copies(const LaneAddresses<std::uint32_t>& lanes) const {
    const std::uint64_t floor = view.floor;
    std::uint64_t newest = 0;
    for_lanes(lanes, [&](int, std::uint32_t, std::uint64_t own, WordTraces* word) {
      for (int n = 0; n < kWords; ++n) {
        newest = std::max(newest, word[n].write);
        if constexpr (kWrites) {
          newest = std::max(newest, word[n].read);
        } else {
          word[n].read = word[n].read < floor ? own : word[n].read;
        }
      }
    });
    if (newest >= floor) return false;
    if constexpr (kWrites) {
      for_lanes(lanes, [&](int, std::uint32_t, std::uint64_t own, WordTraces* word) {
        for (int n = 0; n < kWords; ++n) word[n].write = own;
      });
    }
    return true;
  }
  template <int kWords>
  bool go_through_words(const LaneAddresses<std::uint32_t>& lanes) const {
    if (copies_only &&
        (view.writes ? pass_copies<kWords, true>(lanes) : pass_copies<kWords, false>(lanes))) {
      return true;
    }
    return go_through_fast<kWords>(lanes);
  }

  bool is_run(const LaneAddresses<std::uint32_t>& lanes) const {
    return lanes.lanes == kAllLanes && access.width >= static_cast<int>(WordTraces::kBytes) &&
           pattern == Pattern::contiguous;
  }
  RunOfWords run_of(const LaneAddresses<std::uint32_t>& lanes) const {
    const std::uint64_t address = address_of(lanes, 0);
    return {.first = history.shared_.data() + address / WordTraces::kBytes,
            .words_of_lane = access.width / static_cast<int>(WordTraces::kBytes),
            .own = view.self | bytes_of_word(address, access.width) << SharedTrace::kBytesAt,
            .begin = view.reads ? SharedTrace::at_time(history.times_.began()) : 0,
            .floor = view.floor,
            .who = view.who,
            .writes = view.writes};
  }

  void go_through(const LaneAddresses<std::uint32_t>& lanes, LookAtRun look_at_run) const {
    if (!access.is_strong) {
      const int words = access.width / static_cast<int>(WordTraces::kBytes);
      if (look_at_run != nullptr && is_run(lanes) && !view.tells_lanes()) {
        if (look_at_run(run_of(lanes))) return;
      } else if (words == 4) {
        if (go_through_words<4>(lanes)) return;
      } else if (words == 2) {
        if (go_through_words<2>(lanes)) return;
      } else if (words <= 1) {
        if (go_through_words<1>(lanes)) return;
      }
    }
    examine(lanes);
  }

  [[gnu::noinline]] void examine(const LaneAddresses<std::uint32_t>& lanes) const {
    const TraceView<SharedTrace> view = this->view;
    const std::uint64_t begin = SharedTrace::at_time(history.times_.began());
    const int words = std::max(1, access.width / static_cast<int>(WordTraces::kBytes));
    for_lanes(lanes, [&](int lane, std::uint32_t address, std::uint64_t own, WordTraces* traces) {
      int unwritten = 0;
      for (WordTraces* word = traces; word != traces + words; ++word) {
        const bool is_written = word->write >= begin;
        if (view.reads && !is_written) ++unwritten;
        look(view, word->write, word->read, own, true, [&](std::uint64_t trace, bool wrote) {
          return judge(lane, address, own, trace, wrote, is_written);
        });
      }
      if (unwritten == words) [[unlikely]] {
        report_unwritten(history.launch_.findings,
                         {act_of(warp, instruction, lane), access, Window::shared, address});
      }
    });
  }
};

void History::observe_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                             const LaneAddresses<std::uint32_t>& lanes, Pattern pattern,
                             LookAtRun look_at_run) {
  look_at_shared(warp, instruction, access, lanes, pattern, 0, look_at_run);
}

void History::observe_async(const Warp& warp, const Instruction& instruction, const Access& access,
                            const LaneAddresses<std::uint32_t>& lanes) {
  look_at_shared(warp, instruction, access, lanes, Pattern::general, kInFlight, nullptr);
  any_in_flight_ = true;
}

/// `in_flight` is that bit of its traces.
void History::look_at_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                             const LaneAddresses<std::uint32_t>& lanes, Pattern pattern,
                             std::uint64_t in_flight, LookAtRun look_at_run) {
  if (access.counters[1] >= kFirstCopyPlace) return;
  const std::uint32_t number = warp.number;
  if (access.is_strong) {
    // No thread outside of the cluster sees shared memory.
    const Scope scope = std::max(memory_flag::scope_in(instruction.flags), Scope::cluster);
    order_by(warp, instruction, access, scope, access.counters[1]);
  }
  const Checks& checks = launch_.checks;
  const bool races = checks.races || checks.lanes;
  auto floor = checks.lanes ? times_.began() : times_.floor(number);
  // Copies are looked for only: what the warp has learnt of is over.
  if (!races) floor = std::max(floor, times_.acquired(number));
  // A barrier ends no product.
  if (looks_at_copies()) floor = product_waits_.before_products_under_way(number, times_, floor);
  const SharedLook look{
      *this,
      warp,
      instruction,
      access,
      {.self = SharedTrace::at_time(times_.now()) | in_flight |
               std::uint64_t{number} << SharedTrace::kActorAt |
               std::uint64_t{access.counters[1]} << SharedTrace::kCounterAt |
               (access.is_strong ? SharedTrace::kStrong : 0),
       .floor = races || checks.async ? SharedTrace::at_time(floor) : ~std::uint64_t{0},
       .settled = SharedTrace::at_time(checks.lanes ? times_.floor_of_all() : floor),
       .in_block = 0,
       .who = SharedTrace::kActorBits | kInFlight | (checks.lanes ? SharedTrace::kThreadBits : 0),
       .reads = access.depends_on_memory() && checks.uninitialised,
       .writes = access.effect != AccessEffect::read,
       .lanes = checks.lanes,
       .exempt = checks.lanes ? 0 : SharedTrace::kStrong},
      pattern,
      !races && !checks.uninitialised};
  look.go_through(lanes, look_at_run);
}

void History::note_written(std::uint64_t offset, std::uint64_t bytes) {
  for (std::uint64_t at = offset; at < offset + bytes; at += WordTraces::kBytes) {
    shared_[at / WordTraces::kBytes].write =
        SharedTrace::at_time(times_.began()) | SharedTrace::kByteBits;
  }
}

void History::copied(std::uint32_t warp, int lane, std::uint64_t offset, std::uint64_t bytes) {
  constexpr std::uint64_t kMakerBits =
      SharedTrace::kActorBits | SharedTrace::kThreadBits | kInFlight;
  const std::uint64_t maker = kInFlight | std::uint64_t{warp} << SharedTrace::kActorAt |
                              static_cast<std::uint64_t>(lane) << SharedTrace::kThreadAt;
  for (std::uint64_t at = offset; at < offset + bytes; at += WordTraces::kBytes) {
    std::uint64_t& write = shared_[at / WordTraces::kBytes].write;
    if ((write & kMakerBits) != maker) continue;
    constexpr std::uint64_t kRest = SharedTrace::at_time(1) - 1;
    write = (write & kRest) | SharedTrace::at_time(times_.now());
  }
}

}  // namespace warpgauge::emulator::machine::checks
