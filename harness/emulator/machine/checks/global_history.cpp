// Accesses to global memory, one after the other, held against those before.
#include <algorithm>
#include <bit>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "harness/emulator/machine/checks/access_findings.h"
#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/checks/trace_view.h"

namespace warpgauge::emulator::machine::checks {
namespace {

constexpr std::uint64_t kWarpBits =
    GlobalTrace::kThreadBits & ~(std::uint64_t{kLanes - 1} << GlobalTrace::kThreadAt);

}  // namespace

/// One execution of an instruction.
struct History::GlobalLook {
  History& history;
  const Warp& warp;
  const Instruction& instruction;
  const Access& access;
  const LaneAddresses<std::uint64_t>& lanes;
  const TraceView<GlobalTrace> view;
  const std::uint64_t begin;  ///< traces of this launch are not below
  const int sector_lanes;     ///< so many lanes access a sector
  const Pattern pattern;      ///< how the lanes' addresses lie

  GlobalTraces& traces() const { return history.launch_.traces; }
  std::uint64_t own_trace(int lane, std::uint64_t bytes) const {
    const auto thread = warp.number * kLanes + static_cast<std::uint32_t>(lane);
    return view.self | std::uint64_t{thread} << GlobalTrace::kThreadAt |
           bytes << GlobalTrace::kBytesAt;
  }

  bool is_ordered(std::uint64_t trace) const {
    const LaunchHistory& launch = history.launch_;
    const std::uint64_t block = GlobalTrace::actor(trace), time = GlobalTrace::time(trace);
    if (time < launch.begin) {
      const LaunchHistory::Concurrent* const other = launch.concurrent_at(time);
      return other == nullptr || (other->until_wait && history.are_dependencies_over(warp.number));
    }
    if (block != history.block_) {
      return history.is_known({block, maker_of(trace), time}, history.acquired_,
                              history.acquired_in_cluster_);
    }
    return history.times_.orders(maker_of(trace), time_in_block(time), warp.number);
  }
  static std::uint32_t maker_of(std::uint64_t trace) { return GlobalTrace::thread(trace) / kLanes; }
  BlockTimes::Time time_in_block(std::uint64_t time) const {
    return static_cast<BlockTimes::Time>(time - history.launch_.begin + history.times_.began());
  }
  /// The strong read behind which a fence would order what left the trace; or none.
  std::optional<std::uint32_t> unfenced_read(std::uint64_t trace) const {
    const std::uint64_t block = GlobalTrace::actor(trace), time = GlobalTrace::time(trace);
    if (time < history.launch_.begin) return std::nullopt;
    if (block != history.block_) {
      return history.unfenced_read(warp.number, {block, maker_of(trace), time});
    }
    return history.unfenced_read_in_block(warp.number, maker_of(trace), time_in_block(time));
  }

  bool was_made_by_warp(std::uint64_t trace) const {
    return trace >= begin && GlobalTrace::actor(trace) == history.block_ &&
           maker_of(trace) == warp.number;
  }
  /// Of two accesses by this warp: whether one lane made both, or both are of one instruction.
  static bool is_of_lane_or_instruction(std::uint64_t trace, std::uint64_t own) {
    return GlobalTrace::thread(trace) == GlobalTrace::thread(own) ||
           GlobalTrace::counter(trace) == GlobalTrace::counter(own);
  }
  /// Volatile accesses put lanes in no order, where atomics do.
  bool is_volatile(std::uint64_t trace) const {
    return is_volatile_access(history.launch_.findings.kernel, GlobalTrace::counter(trace));
  }

  /// Whether another thread of the emulator, which has left its trace, stores the same just now.
  bool becomes_silent(int lane, const std::byte* to) const {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kPatience(5);
    for (const auto end = Clock::now() + kPatience; access.is_store && Clock::now() < end;) {
      std::this_thread::yield();
      if (is_silent(warp, instruction, access, lane, to)) return true;
    }
    return false;
  }

  /// The narrower scope of this access and another strong one.
  Scope scope_of_both(std::uint64_t trace, const LaunchHistory::Concurrent* other) const {
    const KernelCode& kernel =
        other == nullptr ? history.launch_.findings.kernel : *other->launch->kernel;
    return std::max(memory_flag::scope_in(instruction.flags),
                    scope_of_access(kernel, GlobalTrace::counter(trace)));
  }

  /// False if the access is not to be kept. Traces are of words here.
  [[gnu::noinline]] bool judge(int lane, std::uint64_t address, std::uint64_t own,
                               std::uint64_t trace, bool wrote) const {
    if ((GlobalTrace::bytes(trace) & GlobalTrace::bytes(own)) == 0) return true;
    const bool is_of_warp = was_made_by_warp(trace);
    if (is_of_warp ? is_of_lane_or_instruction(trace, own) : !history.launch_.checks.races) {
      return true;
    }
    const std::uint64_t time = GlobalTrace::time(trace);
    const auto* const other =
        time < history.launch_.begin ? history.launch_.concurrent_at(time) : nullptr;
    if (time < history.launch_.begin && other == nullptr) return true;  // of one before this
    Scope scope = Scope::grid;
    if ((trace & own & GlobalTrace::kStrong) != 0) {
      if (is_of_warp && !is_volatile(trace) && !is_volatile(own)) return true;
      if (!is_of_warp) scope = scope_of_both(trace, other);
      const bool is_within = other == nullptr ? history.is_within(scope, GlobalTrace::actor(trace))
                                              : scope == Scope::grid;
      if (!is_of_warp && is_within) return true;
    }
    if (is_ordered(trace)) return true;
    const auto* const to = reinterpret_cast<const std::byte*>(address);
    if (is_silent(warp, instruction, access, lane, to)) return false;
    const std::uint64_t counter = GlobalTrace::counter(trace);
    const std::uint64_t of_launch = other == nullptr ? 0 : other->launch->begin;
    const std::uint64_t first = of_launch * GlobalTrace::kCounters + counter;
    if (!history.was_found(first, access.counters[0], wrote, is_of_warp)) {
      if (wrote && !is_of_warp && becomes_silent(lane, to)) return false;
      history.is_new(first, access.counters[0], wrote, is_of_warp);
      report_race(history.launch_.findings,
                  {act_of(warp, instruction, lane), access, Window::global, address},
                  {.block = GlobalTrace::actor(trace),
                   .thread = GlobalTrace::thread(trace),
                   .counter = counter,
                   .wrote = wrote,
                   .launch = other == nullptr ? nullptr : other->launch,
                   .until_wait = other != nullptr && other->until_wait,
                   .scope = scope,
                   .unfenced_read = is_of_warp ? std::nullopt : unfenced_read(trace)});
    }
    return true;
  }

  /// Calls function(offset, lane, address) for each word of a sector that lanes from `lane` on
  /// access, and for each lane's bytes of it where that is less; `address` is that of the lane.
  template <typename Function>
  void for_words(int lane, std::uint64_t address, Function function) const {
    const auto step = std::min<std::uint64_t>(access.width, WordTraces::kBytes);
    for (std::uint64_t at = 0; at < SectorTraces::kBytes; at += step) {
      const std::uint64_t lanes_on = at / access.width;
      function(at, lane + static_cast<int>(lanes_on), address + lanes_on * access.width);
    }
  }

  /// The same of traces of a sector.
  [[gnu::noinline]] bool judge_sector(int lane, std::uint64_t address, std::uint64_t trace,
                                      bool wrote) const {
    bool keep = true;
    for_words(lane, address, [&](std::uint64_t at, int of, std::uint64_t its_address) {
      const std::uint64_t own = own_trace(of, bytes_of_word(its_address, access.width));
      keep &= judge(of, its_address, own, trace_of_word(trace, at), wrote);
    });
    return keep;
  }

  /// Whether the lanes from this one on access a whole sector.
  bool is_sector(int lane, std::uint64_t address) const {
    if (address % SectorTraces::kBytes != 0 || lane + sector_lanes > kLanes) return false;
    if (access.is_strong) return false;
    const Mask all = kAllLanes >> (kLanes - sector_lanes) << lane;
    if ((lanes.lanes & all) != all) return false;
    if (pattern == Pattern::contiguous) return true;
    std::uint64_t gaps = 0;
    for (int n = 1; n < sector_lanes; ++n) {
      gaps |=
          (address_of(lanes, lane + n) - address) ^ static_cast<std::uint64_t>(n * access.width);
    }
    return gaps == 0;
  }

  /// Whether no access of this launch that is known has written to the sector.
  static bool is_only_read(const TraceView<GlobalTrace>& view, const SectorTraces& sector) {
    return load(sector.write) < view.floor && load(sector.write_of_word) < view.floor;
  }

  /// Whether a read that is not strong leaves all traces of a lane's words as they are. Most reads
  /// of memory that is read again and again do.
  [[gnu::always_inline]] bool is_settled(const TraceView<GlobalTrace>& view,
                                         const SectorTraces& sector, const WordTraces* word,
                                         std::uint64_t own) const {
    if (view.tells_lanes() || !is_only_read(view, sector)) return false;
    for (int n = 0; n < access.width; n += static_cast<int>(WordTraces::kBytes), ++word) {
      if (view.replaces(load(word->read), own)) return false;
    }
    return true;
  }

  void look_at_sector(int lane, std::uint64_t address, SectorTraces& sector) const {
    TraceView<GlobalTrace> view = this->view;  // stores of traces cannot change the copy
    const std::uint64_t own =
        own_trace(lane, static_cast<std::uint64_t>(std::countr_zero(unsigned{access.width})));
    const bool keeps_read =
        !view.writes && !view.replaces(load(sector.read), own, load(sector.write));
    if (keeps_read && is_only_read(view, sector)) return;
    // The lanes of two accesses are the same if the first ones and the widths are.
    if (view.tells_lanes()) view.who |= GlobalTrace::kByteBits;
    bool keep = true;
    const bool words_written = load(sector.write_of_word) >= view.floor;
    if (words_written || (view.writes && load(sector.read_of_word) >= view.floor)) [[unlikely]] {
      keep = look_at_words(lane, address);
    }
    if (view.reads && (load(sector.write) | load(sector.read)) == 0) [[unlikely]] {
      find_unwritten(lane, address, sector);
    }
    look(view, sector.write, sector.read, own, keep, [&](std::uint64_t trace, bool wrote) {
      const bool keeps = is_ordered(trace) || judge_sector(lane, address, trace, wrote);
      keep &= keeps;
      return keeps;
    });
    if (!keep) [[unlikely]]
      look_at_lanes(lane, address, sector);
  }

  /// Some lanes of a sector store what is there already: the others' words are kept one by one.
  [[gnu::noinline]] void look_at_lanes(int lane, std::uint64_t address,
                                       SectorTraces& sector) const {
    for (int n = 0; n < sector_lanes; ++n) {
      const auto* const to = reinterpret_cast<const std::byte*>(address);
      if (!is_silent(warp, instruction, access, lane + n, to)) {
        look_at_lane(lane + n, address, sector, &traces().words.at(address));
      }
      address += access.width;
    }
  }

  /// Holds an access of a whole sector against the traces of its words.
  [[gnu::noinline]] bool look_at_words(int lane, std::uint64_t address) const {
    bool keep = true;
    for_words(lane, address, [&](std::uint64_t at, int of, std::uint64_t its_address) {
      const WordTraces& word = traces().words.at(address + at);
      const std::uint64_t own_word = own_trace(of, bytes_of_word(its_address, access.width));
      const auto judged = [&](std::uint64_t trace, bool wrote) {
        return !view.may_race(trace, own_word) || judge(of, its_address, own_word, trace, wrote);
      };
      const std::uint64_t write = load(word.write), read = load(word.read);
      if (!view.has_seen(read, write, own_word)) keep &= judged(write, true);
      if (view.writes) keep &= judged(read, false);
    });
    return keep;
  }

  /// Looks for lanes of the sector of which no word was written.
  [[gnu::noinline]] void find_unwritten(int lane, std::uint64_t address,
                                        const SectorTraces& sector) const {
    if (history.knows_written(address, SectorTraces::kBytes)) return;
    const bool any_word = (load(sector.write_of_word) | load(sector.read_of_word)) != 0;
    int unwritten = 0;
    for_words(lane, address, [&](std::uint64_t at, int of, std::uint64_t its_address) {
      if (address + at == its_address) unwritten = 0;
      if (any_word) {
        const WordTraces& word = traces().words.at(address + at);
        if ((load(word.write) | load(word.read)) != 0) return;
      }
      unwritten += static_cast<int>(WordTraces::kBytes);
      if (unwritten >= access.width) check_written(of, its_address);
    });
  }

  /// No kernel has written what the lane reads.
  void check_written(int lane, std::uint64_t address) const {
    if (history.knows_written(address, access.width)) return;
    const WatchedMemory::Range range = history.launch_.memory.written_range(address, access.width);
    if (range.begin != range.end) {
      history.written_[history.next_written_++ % history.written_.size()] = range;
    } else {
      report_unwritten(history.launch_.findings,
                       {act_of(warp, instruction, lane), access, Window::global, address});
    }
  }

  [[gnu::always_inline]] void look_at_lane(int lane, std::uint64_t address, SectorTraces& sector,
                                           WordTraces* word) const {
    const TraceView<GlobalTrace> view = this->view;  // stores of traces cannot change the copy
    const std::uint64_t own = own_trace(lane, bytes_of_word(address, access.width));
    // A lane's words lie in one sector.
    const std::uint64_t written = load(sector.write), was_read = load(sector.read);
    const auto may_race_in_sector = [&](std::uint64_t trace) {
      return view.may_race(trace, own) || (view.tells_lanes() && trace >= view.floor);
    };
    const bool sector_may_race =
        may_race_in_sector(written) || (view.writes && may_race_in_sector(was_read));
    std::uint64_t first_ones = written | was_read;  // 0 where a word has no trace
    for (int n = 0; n < access.width; n += static_cast<int>(WordTraces::kBytes), ++word) {
      const std::uint64_t write = load(word->write), read = load(word->read);
      first_ones |= write | read;
      if (sector_may_race || view.may_race(write, own) || (view.writes && view.may_race(read, own)))
          [[unlikely]] {
        look_at_word(lane, address, own, sector, *word,
                     (address + static_cast<unsigned>(n)) % SectorTraces::kBytes);
      } else if (view.writes) {
        if (!view.leaves(write, own)) store(word->write, own);
      } else if (view.replaces(read, own, write)) {
        store(word->read, own);
      }
    }
    std::uint64_t& of_word = view.writes ? sector.write_of_word : sector.read_of_word;
    if (load(of_word) < begin) store(of_word, own);
    if (view.reads && first_ones == 0) [[unlikely]]
      check_written(lane, address);
  }

  /// Holds an access of a word against traces that it may race with.
  [[gnu::noinline]] void look_at_word(int lane, std::uint64_t address, std::uint64_t own,
                                      const SectorTraces& sector, WordTraces& word,
                                      std::uint64_t offset) const {
    const std::uint64_t written = trace_of_word(load(sector.write), offset);
    const std::uint64_t was_read = trace_of_word(load(sector.read), offset);
    const auto judge_word = [&](std::uint64_t trace, bool wrote) {
      return judge(lane, address, own, trace, wrote);
    };
    bool keep = true;
    if (view.may_race(written, own)) keep &= judge_word(written, true);
    if (view.writes && view.may_race(was_read, own)) keep &= judge_word(was_read, false);
    look(view, word.write, word.read, own, keep, judge_word);
  }

  /// Traces of one lane after the other.
  class Traces {
   public:
    explicit Traces(GlobalTraces& traces) : sectors_(traces.sectors), words_(traces.words) {}
    SectorTraces& sector(int, std::uint64_t address) { return sectors_.at(address); }
    WordTraces* words(int, std::uint64_t address) { return &words_.at(address); }

   private:
    TraceTable<SectorTraces>::Finder sectors_;
    TraceTable<WordTraces>::Finder words_;
  };
  /// The traces of lanes that lie far apart, all loaded at the same time.
  class TracesOfAll {
   public:
    TracesOfAll(GlobalTraces& traces, const LaneAddresses<std::uint64_t>& lanes) {
      Traces one_by_one(traces);
      for (Mask rest = lanes.lanes; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        const std::uint64_t address = address_of(lanes, lane);
        sectors_[lane] = &one_by_one.sector(lane, address);
        words_[lane] = one_by_one.words(lane, address);
        __builtin_prefetch(sectors_[lane], 1);
        __builtin_prefetch(words_[lane], 1);
      }
    }
    SectorTraces& sector(int lane, std::uint64_t) const { return *sectors_[lane]; }
    WordTraces* words(int lane, std::uint64_t) const { return words_[lane]; }

   private:
    SectorTraces* sectors_[kLanes];
    WordTraces* words_[kLanes];
  };

  template <typename Found>
  void look_at_all(Found traces) const {
    const TraceView<GlobalTrace> view = this->view;
    const bool may_be_settled = !view.writes && !access.is_strong;
    std::uint64_t last = 0;
    for (int lane = std::countr_zero(lanes.lanes); lane < kLanes;) {
      const std::uint64_t address = address_of(lanes, lane);
      SectorTraces& sector = traces.sector(lane, address);
      if (is_sector(lane, address)) {
        look_at_sector(lane, address, sector);
        lane += sector_lanes;
      } else {
        // A lane that reads the same word leaves the same trace.
        if (view.writes || view.tells_lanes() || address != last) {
          WordTraces* const word = traces.words(lane, address);
          if (!may_be_settled || !is_settled(view, sector, word, own_trace(lane, 0))) {
            look_at_lane(lane, address, sector, word);
          }
        }
        last = address;
        ++lane;
      }
      lane += lane < kLanes ? std::countr_zero(lanes.lanes >> lane) : 0;
    }
  }

  /// is_settled() of all lanes' words.
  template <int kWords>
  bool all_settled(const TracesOfAll& traces) const {
    std::uint64_t written = 0, oldest_read = ~std::uint64_t{0}, bits = 0;
    for (Mask rest = lanes.lanes; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const SectorTraces& sector = traces.sector(lane, 0);
      written = std::max({written, load(sector.write), load(sector.write_of_word)});
      for (int n = 0; n < kWords; ++n) {
        const std::uint64_t read = load(traces.words(lane, 0)[n].read);
        oldest_read = std::min(oldest_read, read);
        bits |= read;
      }
    }
    return written < view.floor && oldest_read >= std::max(view.floor, view.in_block) &&
           (bits & GlobalTrace::kStrong) == 0;
  }
  bool all_settled(const TracesOfAll& traces) const {
    if (view.writes || view.tells_lanes() || access.is_strong) return false;
    if (view.is_later_than(view.in_block)) return false;
    switch (access.width / static_cast<int>(WordTraces::kBytes)) {
      case 4:
        return all_settled<4>(traces);
      case 2:
        return all_settled<2>(traces);
      default:
        return access.width <= static_cast<int>(WordTraces::kBytes) && all_settled<1>(traces);
    }
  }

  /// Looks for lanes that read, by a read-only load, what this launch has written.
  [[gnu::noinline]] void check_read_only() const {
    for (Mask rest = lanes.lanes; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const std::uint64_t address = address_of(lanes, lane);
      const SectorTraces& sector = traces().sectors.at(address);
      const bool words_written = load(sector.write_of_word) >= begin;
      const std::uint64_t own = own_trace(lane, bytes_of_word(address, access.width));
      std::uint64_t write = load(sector.write);
      for (std::uint64_t n = 0; words_written && n < access.width; n += WordTraces::kBytes) {
        const std::uint64_t of_word = load(traces().words.at(address + n).write);
        if ((of_word & own & GlobalTrace::kByteBits) != 0) write = std::max(write, of_word);
      }
      if (write < begin) continue;
      const std::uint64_t counter = GlobalTrace::counter(write);
      if (!history.is_new(counter, access.counters[0], true)) continue;
      report_read_only(history.launch_.findings,
                       {act_of(warp, instruction, lane), access, Window::global, address}, counter);
    }
  }

  void go_through() const {
    const int first = std::countr_zero(lanes.lanes);
    if (pattern != Pattern::general || is_sector(first, address_of(lanes, first))) {
      return look_at_all(Traces(traces()));
    }
    const TracesOfAll found(traces(), lanes);
    if (!all_settled(found)) look_at_all<const TracesOfAll&>(found);
  }
};

void History::observe_global(const Warp& warp, const Instruction& instruction, const Access& access,
                             const LaneAddresses<std::uint64_t>& lanes, Pattern pattern) {
  if (access.space == AccessSpace::constant) return;
  if (access.counters[0] >= GlobalTrace::kCounters) return;
  const std::uint32_t number = warp.number;
  end_strong_read();
  if (access.is_strong) {
    const Scope scope = memory_flag::scope_in(instruction.flags);
    order_by(warp, instruction, access, scope, access.counters[0]);
  }
  const Checks& checks = launch_.checks;
  if (!checks.history(false) || launch_.is_settled_read(access.counters[0])) return;
  const bool has_time = global_time() <= GlobalTrace::kMostTime;
  const bool races = (checks.races || checks.lanes) && launch_.tells_blocks() && has_time;
  // An access that has no time is kept as one before the launch.
  const std::uint64_t time = has_time ? global_time() : launch_.begin - 1;
  const auto floor_of_block = checks.lanes ? times_.floor_of_all() : times_.floor(number);
  const std::uint64_t in_block = global_time(floor_of_block);
  const std::uint64_t floor = races ? GlobalTrace::at_time(launch_.floor()) : ~std::uint64_t{0};
  const GlobalLook look{
      *this,
      warp,
      instruction,
      access,
      lanes,
      {.self = GlobalTrace::at_time(time) |
               (block_ % GlobalTrace::kActors) << GlobalTrace::kActorAt |
               std::uint64_t{access.counters[0]} << GlobalTrace::kCounterAt |
               (access.is_strong ? GlobalTrace::kStrong : 0),
       .floor = floor,
       .settled = floor,
       .in_block = GlobalTrace::at_time(in_block),
       .who = GlobalTrace::kActorBits | (checks.lanes ? GlobalTrace::kThreadBits : kWarpBits),
       .reads = access.depends_on_memory() && checks.uninitialised,
       .writes = access.effect != AccessEffect::read,
       .lanes = checks.lanes,
       .exempt = checks.lanes || launch_.has_narrow_scope() ? 0 : GlobalTrace::kStrong,
       .begin = launch_.is_concurrent() ? GlobalTrace::at_time(launch_.begin) : 0},
      GlobalTrace::at_time(launch_.begin),
      static_cast<int>(SectorTraces::kBytes) >> std::countr_zero(unsigned{access.width}),
      pattern};
  if (access.is_read_only && races && checks.races) look.check_read_only();
  look.go_through();
}

}  // namespace warpgauge::emulator::machine::checks
