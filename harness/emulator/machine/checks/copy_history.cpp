// Copies and products of the async proxy in the history: what they read and write while they are
// under way, held against the accesses before, and later accesses held against them.
#include <algorithm>
#include <string>

#include "harness/emulator/machine/checks/access_findings.h"
#include "harness/emulator/machine/checks/async_rules.h"
#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/checks/trace.h"
#include "harness/emulator/machine/core/access_text.h"

namespace warpgauge::emulator::machine::checks {
namespace {

constexpr std::uint64_t kTimeBits = ~(SharedTrace::at_time(1) - 1);

BlockTimes::Time time_of(std::uint64_t trace) {
  return static_cast<BlockTimes::Time>(SharedTrace::time(trace));
}
std::uint32_t warp_of(std::uint64_t trace) {
  return static_cast<std::uint32_t>(SharedTrace::actor(trace));
}
bool is_in_flight(std::uint64_t trace) { return (trace & kInFlight) != 0; }

/// Whether both are of the same instruction, warp and time: what holds of one holds of the other.
bool is_alike(std::uint64_t a, std::uint64_t b) { return (a ^ b) >> SharedTrace::kCounterAt == 0; }

std::string byte_text(std::uint64_t offset) {
  return "byte " + std::to_string(offset) + " of shared memory";
}

}  // namespace

template <typename Function>
void History::for_words(Bytes bytes, Function function) {
  const std::uint64_t end = (std::uint64_t{bytes.offset} + bytes.count + 3) / WordTraces::kBytes;
  for (std::uint64_t n = bytes.offset / WordTraces::kBytes; n < end; ++n) function(n, shared_[n]);
}

/// The place of the copy in the code, as traces name it.
std::uint64_t History::place_of_copy(const Act& act, bool is_product) {
  const auto known = std::ranges::find_if(copy_places_, [&](const CopyPlace& place) {
    return place.act.code == act.code && place.act.instruction == act.instruction;
  });
  const auto number = static_cast<std::uint64_t>(known - copy_places_.begin());
  if (known != copy_places_.end()) {
    known->act = act;
  } else if (copy_places_.size() < kCopyPlaces) {
    copy_places_.emplace_back(act, is_product);
  }
  return kFirstCopyPlace + std::min(number, kCopyPlaces - 1);
}

std::uint64_t History::trace_of(const Maker& maker, const Act& act, bool is_product) {
  return SharedTrace::at_time(times_.now()) |
         std::uint64_t{maker.warp.number} << SharedTrace::kActorAt |
         place_of_copy(act, is_product) << SharedTrace::kCounterAt |
         static_cast<std::uint64_t>(maker.lane) << SharedTrace::kThreadAt | SharedTrace::kByteBits;
}

History::Flight& History::take_off(const Maker& maker, Bytes bytes) {
  const Act act = act_of(maker.warp, maker.instruction, maker.lane);
  const std::uint64_t trace = kInFlight | trace_of(maker, act, false);
  return flights_.emplace_back(++last_copy_, trace, bytes, act, false, false);
}

History::Flight History::land(CopyNumber copy) {
  const auto found =
      std::ranges::find_if(flights_, [&](const Flight& flight) { return flight.number == copy; });
  if (found == flights_.end()) return {};
  const Flight flight = *found;
  flights_.erase(found);
  return flight;
}

History::CopyNumber History::begin_read(const Maker& maker, Bytes bytes, bool in_group) {
  if (looks_at_copies()) check_source(maker, {&bytes, 1}, "copies from");
  Flight& flight = take_off(maker, bytes);
  flight.in_group = in_group;
  for_words(bytes, [&](auto, WordTraces& word) { word.read = flight.trace; });
  return flight.number;
}

void History::has_read(CopyNumber copy) {
  const Flight flight = land(copy);
  // Who waits for a copy of a group is its own thread; of others it is not known.
  const std::uint64_t trace =
      flight.in_group ? (flight.trace & ~kTimeBits) | SharedTrace::at_time(times_.now()) : 0;
  for_words(flight.bytes, [&](auto, WordTraces& word) {
    if (word.read == flight.trace) word.read = trace;
  });
}

void History::multiply(const Maker& maker, std::span<const Bytes> bytes) {
  if (!looks_at_copies()) return;
  check_source(maker, bytes, "multiplies");
  const std::uint64_t trace =
      trace_of(maker, act_of(maker.warp, maker.instruction, maker.lane), true);
  for (const Bytes part : bytes) {
    for_words(part, [&](auto, WordTraces& word) { word.read = trace; });
  }
}

History::CopyNumber History::begin_write(const Maker& maker, Bytes bytes, bool reduces) {
  if (looks_at_copies()) check_destination(maker, bytes, reduces);
  Flight& flight = take_off(maker, bytes);
  flight.writes = true;
  for_words(bytes, [&](auto, WordTraces& word) { word.write = flight.trace; });
  return flight.number;
}

void History::has_written(CopyNumber copy, std::uint32_t knower) {
  const Flight flight = land(copy);
  const std::uint64_t trace = (flight.trace & ~(kTimeBits | SharedTrace::kActorBits)) |
                              SharedTrace::at_time(times_.now()) |
                              std::uint64_t{knower} << SharedTrace::kActorAt;
  for_words(flight.bytes, [&](auto, WordTraces& word) {
    if (word.write == flight.trace) word.write = trace;
  });
}

std::vector<Act> History::reads_in_flight(std::uint32_t warp, Mask lanes) const {
  std::vector<Act> acts;
  for (const Flight& flight : flights_) {
    const bool is_of_lanes =
        warp_of(flight.trace) == warp && (lanes >> SharedTrace::thread(flight.trace) & 1) != 0;
    if (flight.in_group && is_of_lanes) acts.push_back(flight.act);
  }
  return acts;
}

std::vector<Act> History::writes_in_flight() const {
  std::vector<Act> acts;
  for (const Flight& flight : flights_) {
    if (flight.writes) acts.push_back(flight.act);
  }
  return acts;
}

bool History::is_of_product(std::uint64_t trace) const {
  return is_of_copy(trace) &&
         copy_places_[SharedTrace::counter(trace) - kFirstCopyPlace].is_product;
}

bool History::is_ordered(std::uint64_t trace, std::uint32_t warp) const {
  const std::uint32_t actor = warp_of(trace);
  const BlockTimes::Time time = time_of(trace);
  const bool is_plain = !is_of_product(trace);
  if (is_plain && (actor == warp || orders(actor, time, warp))) return true;
  return product_waits_.between(actor, time, warp, times_);
}

bool History::is_ahead_of_copy(std::uint32_t warp, std::uint64_t trace, bool wrote) const {
  if (!looks_at_copies()) return false;
  if (is_in_flight(trace)) return true;
  if (!wrote) return !is_ordered(trace, warp);
  if (warp_of(trace) == warp) return false;
  return time_of(trace) >= std::max(times_.floor(warp), times_.acquired(warp));
}

std::string History::place_text(std::uint64_t trace) const {
  if (is_of_copy(trace)) {
    return place_of(copy_places_[SharedTrace::counter(trace) - kFirstCopyPlace].act);
  }
  return place_of_counter(launch_.findings.kernel, SharedTrace::counter(trace));
}

/// "thread (1,0,0) has written at f.cu:12", "the copy at f.cu:12 reads"
std::string History::act_text(std::uint64_t trace, const char* did) const {
  if (is_of_copy(trace)) {
    return (is_of_product(trace) ? "the product at " : "the copy at ") + place_text(trace) + " " +
           did;
  }
  const std::uint32_t thread = warp_of(trace) * kLanes + SharedTrace::thread(trace);
  return thread_and_lane_text(launch_.findings.launch, thread) + " has " + did + " at " +
         place_text(trace);
}

void History::report_ahead_of_copy(const Warp& warp, const Instruction& instruction,
                                   const Access& access, int lane, std::uint32_t address,
                                   std::uint64_t trace, bool wrote) const {
  const AsyncRule rule = wrote ? AsyncRule::early_access : AsyncRule::overwritten_source;
  report(launch_.findings, act_of(warp, instruction, lane), rule, place_text(trace),
         title(access, Window::shared, address) + ", which " +
             act_text(trace, wrote ? "writes" : "reads"));
}

void History::check_source(const Maker& maker, std::span<const Bytes> bytes, const char* reads) {
  std::uint64_t last = 0;
  for (const Bytes part : bytes) {
    bool is_right = true;
    for_words(part, [&](std::uint64_t n, const WordTraces& word) {
      if (is_alike(word.write, last) || !is_right) return;
      last = word.write;
      is_right = check_source_word(maker, n * WordTraces::kBytes, last, reads);
    });
    if (!is_right) return;
  }
}

/// False if something was reported.
bool History::check_source_word(const Maker& maker, std::uint64_t offset, std::uint64_t write,
                                const char* reads) {
  const std::uint32_t reader = maker.warp.number, writer = warp_of(write);
  const bool by_copy = is_of_copy(write);
  if (time_of(write) <= times_.began() || (!by_copy && is_in_flight(write))) return true;
  AsyncRule rule = AsyncRule::unfenced_source;
  if (by_copy) {
    if (!is_ahead_of_copy(reader, write, true)) return true;
    rule = AsyncRule::early_access;
  } else if (writer != reader && !orders(writer, time_of(write), reader)) {
    rule = AsyncRule::unordered_source;
  } else if (is_fenced(proxy_fences_, writer, time_of(write), reader) ||
             (!launch_.checks.proxies &&
              is_async_copy(launch_.findings.kernel, SharedTrace::counter(write)))) {
    return true;
  }
  report(launch_.findings, act_of(maker.warp, maker.instruction, maker.lane), rule,
         place_text(write),
         std::string(reads) + " " + byte_text(offset) + ", which " +
             act_text(write, by_copy ? "writes" : "written"));
  return false;
}

void History::check_destination(const Maker& maker, Bytes bytes, bool reduces) {
  bool is_right = true;
  std::uint64_t last_read = 0, last_write = 0;
  for_words(bytes, [&](std::uint64_t n, const WordTraces& word) {
    if ((is_alike(word.read, last_read) && is_alike(word.write, last_write)) || !is_right) return;
    last_read = word.read;
    last_write = word.write;
    const std::uint64_t offset = n * WordTraces::kBytes;
    is_right = check_destination_word(maker, offset, last_read, false, reduces) &&
               check_destination_word(maker, offset, last_write, true, reduces);
  });
}

/// False if something was reported.
bool History::check_destination_word(const Maker& maker, std::uint64_t offset, std::uint64_t trace,
                                     bool wrote, bool reduces) {
  if (time_of(trace) <= times_.began()) return true;
  const bool is_local = maker.warp.block == block_;
  const std::uint32_t copier = maker.warp.number;
  AsyncRule rule = AsyncRule::refilled_buffer;
  if (is_in_flight(trace)) {
    if (!is_of_copy(trace) || (wrote && reduces)) return true;
  } else if (!is_local) {
    // The order of threads of several blocks is not known.
    if (!is_of_product(trace) || product_waits_.is_done(warp_of(trace), time_of(trace)))
      return true;
  } else if (is_ordered(trace, copier)) {
    const bool is_right = is_of_copy(trace) || !launch_.checks.proxies ||
                          is_fenced(proxy_fences_, warp_of(trace), time_of(trace), copier);
    if (is_right) return true;
    rule = AsyncRule::unfenced_refill;
  } else if (is_of_copy(trace) && wrote && !is_ahead_of_copy(copier, trace, true)) {
    return true;
  }
  if (is_of_copy(trace) && !wrote) rule = AsyncRule::overwritten_source;
  const char* const did =
      is_of_copy(trace) ? (wrote ? "writes" : "reads") : (wrote ? "written" : "read");
  report(launch_.findings, act_of(maker.warp, maker.instruction, maker.lane), rule,
         place_text(trace), "copies to " + byte_text(offset) + ", which " + act_text(trace, did));
  return false;
}

}  // namespace warpgauge::emulator::machine::checks
