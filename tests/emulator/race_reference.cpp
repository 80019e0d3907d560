// Runs a program of random steps as the machine does, and holds each access against all before it.
#include "tests/emulator/race_reference.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <ranges>
#include <span>
#include <utility>

namespace warpgauge::emulator::machine {
namespace {

using Kind = Step::Kind;
using Op = Step::Op;
using Time = std::uint64_t;
using Clock = std::vector<Time>;  // by warp of the grid: its acts before this time are known

constexpr std::uint32_t kWordBytes = 4;

void join(Clock& clock, const Clock& other) {
  for (std::size_t n = 0; n < clock.size(); ++n) clock[n] = std::max(clock[n], other[n]);
}

/// What the warps of a launch know of each other. The order is that of docs/checks.md.
class Clocks {
 public:
  Clocks(std::uint32_t blocks, std::uint32_t warps)
      : warps_(warps),
        knows_(blocks * warps, Clock(blocks * warps)),
        told_in_block_(blocks, Clock(blocks * warps)),
        told_in_grid_(blocks * warps),
        seen_(2, knows_),
        lanes_(blocks * warps) {}

  void meet(std::uint32_t block, Time now) {
    Clock all(knows_.size());
    for (std::uint32_t warp = block * warps_; warp < (block + 1) * warps_; ++warp) {
      join(all, knows_[warp]);
      all[warp] = now;
    }
    for (std::uint32_t warp = block * warps_; warp < (block + 1) * warps_; ++warp) {
      knows_[warp] = all;
      lanes_meet(warp, kAllLanes, now);
    }
  }
  void arrive(std::uint32_t warp, std::uint32_t number, Time now) {
    Clock& phase = phases_[{warp / warps_, number}];
    phase.resize(knows_.size());
    join(phase, knows_[warp]);
    phase[warp] = now;
  }
  void pass(std::uint32_t warp, std::uint32_t number) {
    const Clock& phase = phases_[{warp / warps_, number}];
    join(knows_[warp], phase);
    lanes_meet(warp, kAllLanes, phase[warp]);
  }
  void begin_phase(std::uint32_t block, std::uint32_t number) { phases_.erase({block, number}); }
  void tell(std::uint32_t warp, bool in_grid, Time now) {
    Clock known = knows_[warp];
    known[warp] = now;
    join(told_in_block_[warp / warps_], known);
    if (in_grid) join(told_in_grid_, known);
  }
  void learn(std::uint32_t warp, bool in_grid) {
    join(knows_[warp], told_in_block_[warp / warps_]);
    if (in_grid) join(knows_[warp], told_in_grid_);
  }
  /// A strong read that is no acquire: a fence behind it makes it one, as far as both reach.
  void see(std::uint32_t warp, bool in_grid) {
    join(seen_[false][warp], told_in_block_[warp / warps_]);
    if (in_grid) join(seen_[true][warp], told_in_grid_);
  }
  /// Of lanes of the warp a strong read behind a fence counts as an acquire.
  void learn_of_itself(std::uint32_t warp) {
    knows_[warp][warp] = std::max(knows_[warp][warp], told_in_block_[warp / warps_][warp]);
  }
  void fence(std::uint32_t warp, bool in_grid) {
    join(knows_[warp], seen_[false][warp]);
    if (in_grid) join(knows_[warp], seen_[true][warp]);
  }
  void lanes_meet(std::uint32_t warp, Mask lanes, Time now) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      for (std::uint32_t other = 0; other < kLanes; ++other) {
        if ((lanes >> lane & lanes >> other & 1) != 0) lanes_[warp][lane][other] = now;
      }
    }
  }

  bool knows(std::uint32_t warp, std::uint32_t other, Time time) const {
    return time < knows_[warp][other];
  }
  /// Whether some warp has told the grid what this one did then.
  bool has_told(std::uint32_t warp, Time time) const { return time < told_in_grid_[warp]; }
  bool lane_knows(std::uint32_t warp, std::uint32_t lane, std::uint32_t other, Time time) const {
    return lane == other || time < lanes_[warp][lane][other];
  }

 private:
  std::uint32_t warps_;  // of a block
  std::vector<Clock> knows_, told_in_block_;
  Clock told_in_grid_;
  std::vector<std::vector<Clock>> seen_;  // of the block, of the grid; by warp
  std::map<std::pair<std::uint32_t, std::uint32_t>, Clock> phases_;
  std::vector<std::array<std::array<Time, kLanes>, kLanes>> lanes_;
};

/// An access of a lane to a word.
struct Past {
  std::size_t launch = 0;
  std::uint32_t block = 0, warp = 0, lane = 0;  // the warp in the grid
  int line = 0;
  unsigned bytes = 0;
  bool writes = false, is_strong = false, is_volatile = false, is_atomic = false;
  bool is_of_block = false;    // strong, and of scope .cta
  bool is_silent = false;      // it changes nothing
  bool may_be_silent = false;  // it may, as some of what was there before is there by chance
  std::uint32_t meetings = 0;  // of its block before
  Time time = 0;
};

class Run {
 public:
  explicit Run(const RaceProgram& program) : program_(program), global_(kRegionBytes / kWordBytes) {
    memory_[1].resize(kRegionBytes);
  }

  Verdicts all() {
    for (launch_ = 0; launch_ < program_.launches.size(); ++launch_) run_launch();
    verdicts_.memory = memory_[1];
    return std::move(verdicts_);
  }

 private:
  struct WarpRun {
    std::size_t next = 0;
    std::uint32_t waits_at = 0;  // a named barrier
    bool waits = false;
  };
  using Words = std::vector<std::vector<Past>>;

  const RaceProgram::Launch& launch() const { return program_.launches[launch_]; }

  void run_launch() {
    exact_ = Clocks(program_.blocks, program_.warps);
    generous_ = exact_;
    memory_[0].assign(kRegionBytes, 0);
    learnt_.assign(program_.blocks, 0);
    has_seen_.assign(program_.blocks, false);
    waited_.assign(program_.blocks * program_.warps, 0);
    any_waited_ = false;
    for (block_ = 0; block_ < program_.blocks; ++block_) run_block();
    lets_dependents_ = lets_dependents_now_;
    lets_dependents_now_ = false;
  }

  void run_block() {
    shared_.assign(kRegionBytes / kWordBytes, {});
    warps_.assign(program_.warps, {});
    arrived_.clear();
    synced_.assign(program_.warps, 0);
    meetings_ = 0;
    written_.assign(kRegionBytes, false);
    for (bool any_left = true; any_left;) {
      any_left = false;
      for (std::uint32_t n = 0; n < program_.warps; ++n) {
        WarpRun& warp = warps_[n];
        while (!warp.waits && warp.next < launch().steps.size()) execute(n);
        any_left |= warp.next < launch().steps.size();
      }
    }
  }

  void execute(std::uint32_t n) {
    WarpRun& warp = warps_[n];
    const Step& step = launch().steps[warp.next];
    warp_ = block_ * program_.warps + n;
    const Mask lanes = step.lanes & program_.live_lanes(n);
    if ((step.warps >> warp_ & 1) == 0 || lanes == 0) {
      ++warp.next;
      return;
    }
    ++now_;
    switch (step.kind) {
      case Kind::access:
        access(step, lanes);
        break;
      case Kind::barrier:
      case Kind::named_barrier:
      case Kind::named_arrival:
        return come_to_barrier(step, warp);
      case Kind::lane_barrier:
        exact_.lanes_meet(warp_, lanes, now_);
        synced_[n] = now_;
        break;
      case Kind::fence:
        both([&](Clocks& order) { order.fence(warp_, !step.of_block); });
        if (!step.of_block && has_seen_[block_]) learnt_[block_] = now_;
        tell(!step.of_block);
        break;
      case Kind::let_dependents:
        lets_dependents_now_ = true;
        break;
      case Kind::wait_for_others:
        waited_[warp_] = now_;
        any_waited_ = true;
        break;
    }
    ++warp.next;
  }

  void come_to_barrier(const Step& step, WarpRun& warp) {
    const bool of_all = step.kind == Kind::barrier;
    if (!of_all) both([&](Clocks& order) { order.arrive(warp_, step.number, now_); });
    ++warp.next;
    if (step.kind != Kind::named_arrival) {
      warp.waits = true;
      warp.waits_at = step.number;
    }
    const std::uint32_t wanted = of_all ? program_.warps : step.warps_that_meet;
    if (++arrived_[step.number] < wanted) return;
    arrived_[step.number] = 0;
    for (std::uint32_t n = 0; n < program_.warps; ++n) {
      WarpRun& other = warps_[n];
      if (!other.waits || other.waits_at != step.number) continue;
      other.waits = false;
      if (of_all) continue;
      both([&](Clocks& order) { order.pass(block_ * program_.warps + n, step.number); });
    }
    if (of_all) {
      ++meetings_;
      both([&](Clocks& order) { order.meet(block_, now_); });
    } else {
      both([&](Clocks& order) { order.begin_phase(block_, step.number); });
    }
  }

  template <typename Function>
  void both(Function function) {
    function(exact_);
    function(generous_);
  }

  void tell(bool in_grid) {
    both([&](Clocks& order) { order.tell(warp_, in_grid, now_); });
  }

  // Accesses.

  std::uint32_t thread_of(std::uint32_t warp, std::uint32_t lane) const {
    return warp % program_.warps * kLanes + lane;
  }
  std::uint32_t number_in_grid(std::uint32_t lane) const {
    return block_ * program_.threads + thread_of(warp_, lane);
  }

  void access(const Step& step, Mask lanes) {
    const bool sees = step.is_strong() && step.op != Op::store;
    const bool learns = sees && step.acquires();
    const bool in_grid = step.is_global && !step.of_block;
    if (step.releases()) tell(in_grid);
    if (sees) generous_.learn_of_itself(warp_);
    if (learns) generous_.learn(warp_, in_grid);
    const Mask silent = silent_lanes(step, lanes);
    for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
      look(step, static_cast<std::uint32_t>(std::countr_zero(rest)), silent);
    }
    for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
      change_memory(step, static_cast<std::uint32_t>(std::countr_zero(rest)));
    }
    if (sees) both([&](Clocks& order) { order.see(warp_, in_grid); });
    if (sees && in_grid) has_seen_[block_] = true;
    if (!learns) return;
    exact_.learn(warp_, in_grid);
    if (in_grid) learnt_[block_] = now_;
  }

  std::uint64_t stored(const Step& step, std::uint32_t lane) const {
    const std::uint32_t value = step.value + (step.adds_thread ? number_in_grid(lane) : 0);
    if (step.is_atomic()) return value;
    return std::uint64_t{value} << 32 | value;
  }
  std::span<std::uint8_t> at(const Step& step, std::uint32_t lane) {
    return std::span(memory_[step.is_global]).subspan(step.offset_of(lane), step.width);
  }

  Mask silent_lanes(const Step& step, Mask lanes) {
    Mask silent = 0;
    if (step.op != Op::store) return silent;
    for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::uint64_t value = stored(step, lane);
      const std::span<std::uint8_t> bytes = at(step, lane);
      bool same = true;
      for (std::size_t n = 0; n < bytes.size(); n += 8) {
        same &= std::memcmp(&bytes[n], &value, std::min<std::size_t>(8, bytes.size())) == 0;
      }
      if (same) silent |= Mask{1} << lane;
    }
    return silent;
  }

  void change_memory(const Step& step, std::uint32_t lane) {
    if (step.is_load()) return;
    const std::span<std::uint8_t> bytes = at(step, lane);
    if (!step.is_global) {
      const std::uint32_t offset = step.offset_of(lane);
      const bool is_known_now = step.op != Op::add || is_known(step, offset);
      std::fill_n(written_.begin() + offset, step.width, is_known_now);
    }
    std::uint64_t value = stored(step, lane);
    const std::size_t size = std::min<std::size_t>(8, bytes.size());
    if (step.op == Op::add) {
      std::uint64_t old = 0;
      std::memcpy(&old, bytes.data(), size);
      value += old;
    }
    for (std::size_t n = 0; n < bytes.size(); n += 8) std::memcpy(&bytes[n], &value, size);
  }

  void look(const Step& step, std::uint32_t lane, Mask silent) {
    const std::uint32_t offset = step.offset_of(lane);
    Words& words = step.is_global ? global_ : shared_;
    Past own{.launch = launch_,
             .block = block_,
             .warp = warp_,
             .lane = lane,
             .line = step.line,
             .writes = !step.is_load(),
             .is_strong = step.is_strong(),
             .is_volatile = step.order == ".volatile",
             .is_atomic = step.is_atomic(),
             .is_of_block = step.is_strong() && step.is_global && step.of_block,
             .is_silent = (silent >> lane & 1) != 0 && is_known(step, offset),
             .meetings = meetings_,
             .time = now_};
    const std::uint32_t first = offset / kWordBytes;
    const std::uint32_t end = (offset + step.width + kWordBytes - 1) / kWordBytes;
    if (step.op != Op::store && step.op != Op::exchange)
      look_for_unwritten(step, words, first, end);
    for (std::uint32_t word = first; word < end; ++word) {
      // What is in shared memory that the block has not written is there by chance.
      own.may_be_silent = step.op == Op::store && !is_known(step, offset) &&
                          std::ranges::any_of(words[word], &Past::writes);
      own.bytes = step.width >= kWordBytes ? 15 : ((1U << step.width) - 1) << offset % kWordBytes;
      look_at_word(step, own, offset, words[word]);
    }
    for (std::uint32_t word = first; word < end; ++word) words[word].push_back(own);
  }

  /// Whether it is known what is in the memory that is accessed.
  bool is_known(const Step& step, std::uint32_t offset) const {
    const auto begin = written_.begin() + offset;
    return step.is_global || std::all_of(begin, begin + step.width, std::identity());
  }

  void look_for_unwritten(const Step& step, const Words& words, std::uint32_t first,
                          std::uint32_t end) {
    if (step.is_global && !program_.is_unwritten) return;
    for (std::uint32_t word = first; word < end; ++word) {
      // Of global memory the first read alone is found.
      if (std::ranges::any_of(words[word],
                              [&](const Past& p) { return step.is_global || p.writes; })) {
        return;
      }
    }
    verdicts_.unwritten.insert(step.line);
  }

  bool conflict(const Past& past, const Past& own) const {
    if ((past.bytes & own.bytes) == 0 || (!past.writes && !own.writes)) return false;
    const bool of_warp = past.launch == own.launch && past.warp == own.warp;
    if (of_warp && (!program_.has_lanes || past.line == own.line)) return false;
    if (!past.is_strong || !own.is_strong) return true;
    if (of_warp) return past.is_volatile || own.is_volatile;
    const bool of_block = past.launch == own.launch && past.block == own.block;
    return (past.is_of_block || own.is_of_block) && !of_block;
  }

  bool is_behind_launch(const Past& past, bool generous) const {
    const auto& concurrent = launch().concurrent;
    if (std::ranges::find(concurrent, past.launch) == concurrent.end()) return true;
    if (!launch().until_wait) return false;
    if (!lets_dependents_) return true;
    for (std::uint32_t warp = 0; warp < waited_.size(); ++warp) {
      if (waited_[warp] == 0) continue;
      if (warp == warp_ || exact_.knows(warp_, warp, waited_[warp])) return true;
      if (generous && warp / program_.warps == block_ &&
          generous_.knows(warp_, warp, waited_[warp])) {
        return true;
      }
    }
    return generous && any_waited_ && has_learnt(0);
  }

  /// Whether a thread of the block has learnt what others have told after that time.
  bool has_learnt(Time) const { return learnt_[block_] != 0; }

  bool is_ordered(const Past& past, std::uint32_t lane, bool generous) const {
    if (past.launch != launch_) return is_behind_launch(past, generous);
    const Clocks& order = generous ? generous_ : exact_;
    if (past.warp == warp_) {
      if (generous &&
          (past.time < synced_[warp_ % program_.warps] || order.knows(warp_, warp_, past.time))) {
        return true;
      }
      return exact_.lane_knows(warp_, lane, past.lane, past.time);
    }
    if (order.knows(warp_, past.warp, past.time)) return true;
    return generous && past.block != block_ && generous_.has_told(past.warp, past.time) &&
           has_learnt(0);
  }

  void look_at_word(const Step& step, const Past& own, std::uint32_t offset,
                    const std::vector<Past>& word) {
    for (std::size_t n = 0; n < word.size(); ++n) {
      const Past& past = word[n];
      if (step.op == Op::read_only_load && past.writes && past.launch == launch_ &&
          (past.bytes & own.bytes) != 0) {
        verdicts_.read_only.insert({past.line, own.line});
      }
      if (own.is_silent || !conflict(past, own)) continue;
      if (is_ordered(past, own.lane, false)) continue;
      verdicts_.races.insert({.later = named(own),
                              .earlier = named(past),
                              .is_global = step.is_global,
                              .wrote = past.writes,
                              .offset = offset});
    }
    if (own.is_silent || own.may_be_silent) return;
    promise_of_write(step, own, word);
    if (own.writes) promise_of_reads(step, own, word);
  }

  NamedAccess named(const Past& past) const {
    return {past.line, past.block, thread_of(past.warp, past.lane)};
  }

  bool races(const Past& past, const Past& own) const {
    return conflict(past, own) && !is_ordered(past, own.lane, true);
  }

  /// Of the writes of a word the last one is kept. One that changes nothing may be, or not.
  void promise_of_write(const Step& step, const Past& own, const std::vector<Past>& word) {
    Verdicts::Promise promise{.earlier = {}, .later = own.line};
    bool is_read_only = step.op == Op::read_only_load;
    // A flag that the warp, or in global memory its block, has polled. Its times are coarse.
    const bool has_polled = std::ranges::any_of(word, [&](const Past& past) {
      const bool is_own = step.is_global ? past.block == block_ : past.warp == warp_;
      return !past.writes && past.is_strong && is_own;
    });
    if (has_polled) return;
    for (const Past& past : std::views::reverse(word)) {
      if (!past.writes) continue;
      promise.earlier.insert(past.line);
      is_read_only &= (past.bytes & own.bytes) != 0 && past.launch == launch_;
      if (past.may_be_silent) break;
      if (!past.is_silent) {
        for (const Past& before : word) {
          if (may_stay(before, past)) promise.earlier.insert(before.line);
        }
        if (races(past, own)) verdicts_.promises.insert(promise);
        if (is_read_only) verdicts_.promised_read_only.insert(own.line);
        break;
      }
      if (past.is_strong || past.bytes != 15 || !conflict(past, own)) break;
    }
  }

  /// Whether a weak write may be kept in place of a strong one behind it.
  static bool may_stay(const Past& earlier, const Past& later) {
    return earlier.writes && !earlier.is_strong && later.is_strong &&
           earlier.launch == later.launch && earlier.warp == later.warp;
  }

  /// Of the reads of a word one is kept: the first that may still race.
  void promise_of_reads(const Step& step, const Past& own, const std::vector<Past>& word) {
    std::set<int> racing;
    for (const Past& past : word) {
      if (!past.writes && races(past, own)) racing.insert(past.line);
    }
    bool are_kept = !racing.empty();
    for (std::size_t n = 0; n < word.size(); ++n) {
      if (word[n].writes || !races(word[n], own)) continue;
      for (std::size_t other = 0; other < word.size(); ++other) {
        if (word[other].writes || races(word[other], own)) continue;
        are_kept &= other < n ? gives_way(word[other], word[n], step.is_global)
                              : !takes_place(word[other], word[n]);
      }
    }
    if (are_kept) verdicts_.promises.insert({.earlier = racing, .later = own.line});
  }
  /// Whether a later read takes the place of an earlier one that is kept.
  bool gives_way(const Past& earlier, const Past& later, bool is_global) const {
    if (earlier.is_strong && !later.is_strong) return true;
    if (earlier.launch == later.launch) {
      return earlier.block == later.block && earlier.meetings < later.meetings;
    }
    const auto& concurrent = program_.launches[later.launch].concurrent;
    return is_global && (concurrent.empty() || earlier.launch < concurrent.front());
  }
  /// Whether a later read may take the place of one that can race with more.
  bool takes_place(const Past& later, const Past& earlier) const {
    return program_.has_lanes || later.is_strong != earlier.is_strong ||
           later.is_of_block != earlier.is_of_block || (earlier.bytes & ~later.bytes) != 0;
  }

  const RaceProgram& program_;
  Verdicts verdicts_;
  Words global_, shared_;
  std::array<std::vector<std::uint8_t>, 2> memory_;  // shared, global
  std::size_t launch_ = 0;
  std::uint32_t block_ = 0, warp_ = 0, meetings_ = 0;
  Time now_ = 0;
  std::vector<bool> written_;  // bytes of shared memory, by the block
  Clocks exact_{0, 1}, generous_{0, 1};
  std::vector<WarpRun> warps_;
  std::map<std::uint32_t, std::uint32_t> arrived_;  // warps at a barrier
  std::vector<Time> synced_;                        // by warp of the block
  std::vector<Time> learnt_;                        // by block: when it has last learnt of others
  std::vector<bool> has_seen_;  // by block: a strong read has seen what others have told
  std::vector<Time> waited_;    // by warp: for the launches before
  bool any_waited_ = false, lets_dependents_ = false, lets_dependents_now_ = false;
};

}  // namespace

Verdicts verdicts_on(const RaceProgram& program) { return Run(program).all(); }

}  // namespace warpgauge::emulator::machine
