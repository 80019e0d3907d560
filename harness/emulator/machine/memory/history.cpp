// Accesses, one after the other, held against those before.
#include "harness/emulator/machine/memory/history.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "harness/emulator/machine/access_findings.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::memory {
namespace {

std::uint64_t load(const std::uint64_t& trace) { return __atomic_load_n(&trace, __ATOMIC_RELAXED); }
void store(std::uint64_t& trace, std::uint64_t value) {
  __atomic_store_n(&trace, value, __ATOMIC_RELAXED);
}

std::uint64_t now_of(GlobalTraces& traces) { return traces.now.load(std::memory_order_relaxed); }

/// Starts the time anew before it runs out.
GlobalTraces& with_time_left(Memory& memory) {
  GlobalTraces& traces = memory.traces();
  if (now_of(traces) > GlobalTrace::kMostTime / 2) memory.forget_traces();
  return traces;
}

/// Which bytes of the word at `address` / 4 an access of `width` bytes touches.
std::uint64_t bytes_of_word(std::uint64_t address, int width) {
  return width >= 4 ? 15 : ((std::uint64_t{1} << width) - 1) << (address % 4);
}

/// Whether the store changes nothing of what is there. Who comes first does not matter then.
template <typename Address>
bool is_silent(const Warp& warp, const Instruction& instruction, const Access& access, int lane,
               Address address) {
  if (!access.is_store) return false;
  const auto& detail = *static_cast<const MoveDetail*>(instruction.detail);
  const auto* to = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(address));
  if constexpr (sizeof(Address) == 4) to = warp.memory->shared + address;
  for (int n = 0; n * detail.element_bytes < access.width; ++n) {
    const Slot slot = detail.elements[n];
    const std::byte* const from =
        warp.bases[slot.base] + slot.offset + lane * detail.register_bytes;
    if (std::memcmp(to + n * detail.element_bytes, from, detail.element_bytes) != 0) return false;
  }
  return true;
}

/// How an access looks at the traces before it.
template <typename Layout>
struct View {
  std::uint64_t self;   ///< its own trace, without thread and bytes
  std::uint64_t floor;  ///< traces below are ordered before it
  std::uint64_t who;    ///< bits of a trace that name its maker
  bool reads, writes;

  bool may_race(std::uint64_t trace, std::uint64_t own) const {
    return trace >= floor && ((trace ^ own) & who) != 0 && (trace & own & Layout::kStrong) == 0;
  }
  /// Whether a read takes the place of the one that is kept: of one that can race no more, of a
  /// strong one by one that can race with more, and of its own one before, for has_seen().
  bool replaces(std::uint64_t read, std::uint64_t own) const {
    return read < floor || (read & ~own & Layout::kStrong) != 0 ||
           ((own & Layout::kStrong) != 0 && ((read ^ own) & who) == 0);
  }
  /// Whether it has read, by a strong access, a word that was written so: a flag that it polled.
  bool has_seen(std::uint64_t read, std::uint64_t write) const {
    return (read & write & Layout::kStrong) != 0 && ((read ^ self) & Layout::kActorBits) == 0 &&
           Layout::time(read) >= Layout::time(write);
  }
};

/// Goes through the words of all lanes. `traces_of(address)` finds a word's traces,
/// `thread_of(lane)` is what a trace keeps of it, `judge(lane, address, trace, own)` is asked about
/// a trace that may race and says whether the access is to be kept, `unwritten(traces)` whether
/// nothing has written the word; `nothing_written(lane, address)` is called where that is so.
template <typename Layout, typename Address, typename TracesOf, typename ThreadOf, typename Judge,
          typename Unwritten, typename NothingWritten>
void go_through(const View<Layout>& view, const Access& access, const LaneAddresses<Address>& lanes,
                TracesOf traces_of, ThreadOf thread_of, Judge judge, Unwritten unwritten,
                NothingWritten nothing_written) {
  const int words = std::max(1, access.width / 4);
  for (Mask rest = lanes.lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto address = static_cast<Address>(address_of(lanes, lane));
    const std::uint64_t own = view.self | std::uint64_t{thread_of(lane)} << Layout::kThreadAt |
                              bytes_of_word(address, access.width) << Layout::kBytesAt;
    int found_unwritten = 0;
    for (int n = 0; n < words; ++n) {
      WordTraces& traces = traces_of(static_cast<Address>(address + 4u * static_cast<unsigned>(n)));
      const std::uint64_t write = load(traces.write), read = load(traces.read);
      bool keep = true;
      if (view.may_race(write, own) && !view.has_seen(read, write))
        keep &= judge(lane, address, write, true, own);
      if (view.writes) {
        if (view.may_race(read, own)) keep &= judge(lane, address, read, false, own);
      }
      if (view.reads) found_unwritten += unwritten(write, read);
      if (!keep) continue;
      if (view.writes) {
        store(traces.write, own);
      } else if (view.replaces(read, own)) {
        store(traces.read, own);
      }
    }
    if (found_unwritten == words) nothing_written(lane, address);
  }
}

}  // namespace

LaunchHistory::LaunchHistory(const Checks& checks, Memory& memory, std::uint64_t blocks)
    : checks(checks), traces(with_time_left(memory)), begin(++traces.now) {
  if (blocks <= GlobalTrace::kActors) {
    fenced_ = std::make_unique<std::atomic<std::uint64_t>[]>(blocks);
  }
}

History::History(LaunchHistory& launch, std::size_t warps, std::uint64_t shared_bytes)
    : launch_(launch), shared_((shared_bytes + 3) / 4), warp_count_(warps) {}

void History::begin_block(std::uint64_t number) {
  if (now_ > kNever / 2) {
    std::ranges::fill(shared_, WordTraces());
    now_ = 0;
  }
  begin_ = ++now_;
  for (WarpTimes& times : warps_) times = {begin_, begin_, begin_, begin_};
  block_ = number;
  acquired_ = 0;
}

void History::released(bool all) {
  if (all) {
    ++now_;
    for (WarpTimes& times : warps_) times.floor = now_;
    return;
  }
  std::uint32_t fenced = kNever;
  for (std::size_t n = 0; n < warp_count_; ++n) fenced = std::min(fenced, warps_[n].fenced);
  for (std::size_t n = 0; n < warp_count_; ++n) {
    warps_[n].floor = std::min(fenced, warps_[n].acquired);
  }
}

void History::fence(std::uint32_t warp, bool of_grid) {
  warps_[warp].fenced = ++now_;
  if (of_grid) launch_.fence(block_);
}

bool History::orders_shared(std::uint32_t warp, std::uint64_t trace) const {
  const auto time = SharedTrace::time(trace), maker = SharedTrace::actor(trace);
  if (maker == warp) return time < warps_[warp].synced;
  return time < warps_[maker].fenced && time < warps_[warp].acquired;
}

bool History::orders_global(std::uint64_t trace) const {
  const auto time = GlobalTrace::time(trace);
  return time < launch_.fenced(GlobalTrace::actor(trace)) && time < acquired_;
}

template <typename Layout>
bool History::is_new(std::uint64_t trace, std::uint64_t own, bool wrote) {
  const bool of_grid = std::is_same_v<Layout, GlobalTrace>;
  return found_.insert({Layout::counter(trace), Layout::counter(own), wrote, of_grid}).second;
}

void History::observe_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                             const LaneAddresses<std::uint32_t>& lanes) {
  if (access.counters[1] >= SharedTrace::kCounters) return;
  const std::uint32_t number = warp.memory->warp;
  WarpTimes& times = warps_[number];
  if (access.is_strong) {
    if ((instruction.flags & memory_flag::kRelease) != 0) times.fenced = ++now_;
    if (access.effect != AccessEffect::write) times.acquired = now_;
  }
  const Checks& checks = launch_.checks;
  const bool races = checks.races || checks.lanes;
  const View<SharedTrace> view{
      .self = SharedTrace::at_time(now_) | std::uint64_t{number} << SharedTrace::kActorAt |
              std::uint64_t{access.counters[1]} << SharedTrace::kCounterAt |
              (access.is_strong ? SharedTrace::kStrong : 0),
      .floor = races ? SharedTrace::at_time(checks.lanes ? begin_ : times.floor) : ~0ULL,
      .who = SharedTrace::kActorBits | (checks.lanes ? SharedTrace::kThreadBits : 0),
      .reads = access.effect != AccessEffect::write && checks.uninitialised,
      .writes = access.effect != AccessEffect::read};
  const std::uint64_t begin = SharedTrace::at_time(begin_);
  const auto judge = [&](int lane, std::uint32_t address, std::uint64_t trace, bool wrote,
                         std::uint64_t own) {
    if ((SharedTrace::bytes(trace) & SharedTrace::bytes(own)) == 0) return true;
    const bool of_this_warp = SharedTrace::actor(trace) == number;
    if (of_this_warp && SharedTrace::counter(trace) == access.counters[1]) return true;
    if (!of_this_warp && !checks.races) return true;
    if (orders_shared(number, trace)) return true;
    if (is_silent(warp, instruction, access, lane, address)) return false;
    if (is_new<SharedTrace>(trace, own, wrote)) {
      report_race(warp, instruction, access, Window::shared, lane, address,
                  {.block = block_,
                   .thread = static_cast<std::uint32_t>(SharedTrace::actor(trace)) * kLanes +
                             SharedTrace::thread(trace),
                   .counter = SharedTrace::counter(trace),
                   .wrote = wrote});
    }
    return true;
  };
  go_through(
      view, access, lanes,
      [&](std::uint32_t address) -> WordTraces& { return shared_[address / 4]; },
      [](int lane) { return static_cast<std::uint32_t>(lane); }, judge,
      [&](std::uint64_t write, std::uint64_t) { return write < begin; },
      [&](int lane, std::uint32_t address) {
        report_unwritten(warp, instruction, access, Window::shared, lane, address);
      });
}

void History::observe_global(const Warp& warp, const Instruction& instruction, const Access& access,
                             const LaneAddresses<std::uint64_t>& lanes) {
  if (access.space == AccessSpace::constant) return;
  if (access.counters[0] >= GlobalTrace::kCounters) return;
  if (access.is_strong) {
    if ((instruction.flags & memory_flag::kRelease) != 0) launch_.fence(block_);
    if (access.effect != AccessEffect::write) acquired_ = now_of(launch_.traces);
  }
  const Checks& checks = launch_.checks;
  const bool races = checks.races && launch_.orders_blocks();
  const View<GlobalTrace> view{
      .self = GlobalTrace::at_time(now_of(launch_.traces)) |
              (block_ % GlobalTrace::kActors) << GlobalTrace::kActorAt |
              std::uint64_t{access.counters[0]} << GlobalTrace::kCounterAt |
              (access.is_strong ? GlobalTrace::kStrong : 0),
      .floor = races ? GlobalTrace::at_time(launch_.begin) : ~0ULL,
      .who = GlobalTrace::kActorBits,
      .reads = access.effect != AccessEffect::write && checks.uninitialised,
      .writes = access.effect != AccessEffect::read};
  const auto judge = [&](int lane, std::uint64_t address, std::uint64_t trace, bool wrote,
                         std::uint64_t own) {
    if ((GlobalTrace::bytes(trace) & GlobalTrace::bytes(own)) == 0) return true;
    if (orders_global(trace)) return true;
    if (is_silent(warp, instruction, access, lane, address)) return false;
    if (is_new<GlobalTrace>(trace, own, wrote)) {
      report_race(warp, instruction, access, Window::global, lane, address,
                  {.block = GlobalTrace::actor(trace),
                   .thread = GlobalTrace::thread(trace),
                   .counter = GlobalTrace::counter(trace),
                   .wrote = wrote});
    }
    return true;
  };
  std::uint64_t chunk_number = ~0ULL;
  WordTraces* chunk = nullptr;
  const auto traces_of = [&](std::uint64_t address) -> WordTraces& {
    if (address >> GlobalTraces::kChunkShift != chunk_number) {
      chunk_number = address >> GlobalTraces::kChunkShift;
      chunk = launch_.traces.chunk(address);
    }
    return chunk[GlobalTraces::word(address)];
  };
  const std::uint32_t first_thread = warp.memory->warp * kLanes;
  go_through(
      view, access, lanes, traces_of,
      [&](int lane) { return first_thread + static_cast<std::uint32_t>(lane); }, judge,
      [](std::uint64_t write, std::uint64_t read) { return (write | read) == 0; },
      [&](int lane, std::uint64_t address) {
        if (address >= written_.begin && address < written_.end) return;
        const Memory::Range range = warp.memory->memory->written_range(address, access.width);
        if (range.begin != range.end) {
          written_ = range;
          return;
        }
        report_unwritten(warp, instruction, access, Window::global, lane, address);
      });
}

}  // namespace warpgauge::emulator::machine::memory
