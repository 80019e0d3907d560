// Accesses to shared memory, one after the other, held against those before.
#include <algorithm>
#include <bit>

#include "harness/emulator/machine/access_findings.h"
#include "harness/emulator/machine/memory/history.h"
#include "harness/emulator/machine/memory/trace_view.h"

namespace warpgauge::emulator::machine::memory {

/// One execution of an instruction.
struct History::SharedLook {
  History& history;
  const Warp& warp;
  const Instruction& instruction;
  const Access& access;
  const TraceView<SharedTrace> view;

  /// False if it is not to be kept.
  [[gnu::noinline]] bool judge(int lane, std::uint32_t address, std::uint64_t own,
                               std::uint64_t trace, bool wrote) const {
    if ((SharedTrace::bytes(trace) & SharedTrace::bytes(own)) == 0) return true;
    const auto number = warp.memory->warp;
    const auto maker = static_cast<std::uint32_t>(SharedTrace::actor(trace));
    const bool in_flight = (trace & kInFlight) != 0;
    const auto time = static_cast<BlockTimes::Time>(SharedTrace::time(trace));
    if (!in_flight && maker == number && SharedTrace::counter(trace) == access.counters[1])
      return true;
    if ((in_flight || maker != number) && !history.launch_.checks.races) return true;
    if (!in_flight && history.times_.orders(maker, time, number)) return true;
    if (is_silent(warp, instruction, access, lane, address)) return false;
    if (history.is_new(true, SharedTrace::counter(trace), access.counters[1], wrote)) {
      report_race(warp, instruction, access, Window::shared, lane, address,
                  {.block = history.block_,
                   .thread = maker * kLanes + SharedTrace::thread(trace),
                   .counter = SharedTrace::counter(trace),
                   .wrote = wrote,
                   .in_flight = in_flight});
    }
    return true;
  }

  void go_through(const LaneAddresses<std::uint32_t>& lanes) const {
    // Stores of traces cannot change the copies.
    const TraceView<SharedTrace> view = this->view;
    WordTraces* const shared = history.shared_.data();
    const int width = access.width;
    const std::uint64_t begin = SharedTrace::at_time(history.times_.began());
    const int words = std::max(1, width / 4);
    std::uint32_t last = ~std::uint32_t{0};
    for (Mask rest = lanes.lanes; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const auto address = static_cast<std::uint32_t>(address_of(lanes, lane));
      if (!view.writes && address == last) continue;  // it leaves the same trace
      last = address;
      const std::uint64_t own = view.self |
                                static_cast<std::uint64_t>(lane) << SharedTrace::kThreadAt |
                                bytes_of_word(address, width) << SharedTrace::kBytesAt;
      WordTraces* const traces = shared + address / 4;
      int unwritten = 0;
      for (int n = 0; n < words; ++n) {
        if (view.reads) unwritten += traces[n].write < begin;
        look(view, traces[n].write, traces[n].read, own, true,
             [&](std::uint64_t trace, bool wrote) {
               return judge(lane, address, own, trace, wrote);
             });
      }
      if (unwritten == words) [[unlikely]] {
        report_unwritten(warp, instruction, access, Window::shared, lane, address);
      }
    }
  }
};

void History::observe_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                             const LaneAddresses<std::uint32_t>& lanes, bool copies) {
  if (access.counters[1] >= SharedTrace::kCounters) return;
  const std::uint32_t number = warp.memory->warp;
  if (access.is_strong) {
    if ((instruction.flags & memory_flag::kRelease) != 0) times_.fence(number);
    if (access.effect != AccessEffect::write) times_.acquire(number);
  }
  const Checks& checks = launch_.checks;
  const auto floor = checks.lanes ? times_.began() : times_.floor(number);
  const SharedLook look{
      *this,
      warp,
      instruction,
      access,
      {.self = SharedTrace::at_time(times_.now()) | (copies ? kInFlight : 0) |
               std::uint64_t{number} << SharedTrace::kActorAt |
               std::uint64_t{access.counters[1]} << SharedTrace::kCounterAt |
               (access.is_strong ? SharedTrace::kStrong : 0),
       .floor = checks.races || checks.lanes ? SharedTrace::at_time(floor) : ~std::uint64_t{0},
       .in_block = 0,
       .who = SharedTrace::kActorBits | kInFlight | (checks.lanes ? SharedTrace::kThreadBits : 0),
       .reads = access.effect != AccessEffect::write && checks.uninitialised,
       .writes = access.effect != AccessEffect::read}};
  look.go_through(lanes);
  any_in_flight_ |= copies;
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

}  // namespace warpgauge::emulator::machine::memory
