// Runs a launch in several orders of its warps and blocks, and compares.
#include "harness/emulator/machine/schedule_check.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/emulator/machine/core/act.h"
#include "harness/emulator/machine/core/fault.h"
#include "harness/emulator/machine/core/finding.h"
#include "harness/emulator/machine/core/order.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/machine/order_reduction.h"

namespace warpgauge::emulator::machine {
namespace {

using memory::Memory;
using Changes = Memory::Changes;

bool is_in(const std::map<const std::byte*, Memory::Allocation>& allocations, const void* address) {
  const auto* const byte = static_cast<const std::byte*>(address);
  const auto behind = allocations.upper_bound(byte);
  return behind != allocations.begin() && byte < std::prev(behind)->second.end();
}

/// What a launch does in the usual order, which other orders begin without, and which is done again
/// in the end. Where the CPU can write, too, only the bytes that the launch changes in the usual
/// order are put back and compared: the CPU may change others meanwhile.
class Effects {
 public:
  explicit Effects(const LaunchHost& host) : host_(host), heap_before_(host.heap_in_use) {
    host.memory.watch_kernels();
  }
  ~Effects() {
    const Changes last = host_.memory.take_changes();
    host_.memory.settle(usual_ ? *usual_ : last);
    if (!usual_) return;
    for (const Part& part : parts_) part.set(part.after);
    host_.heap_in_use = heap_after_;
  }
  Effects(const Effects&) = delete;
  Effects& operator=(const Effects&) = delete;

  /// The usual order has run: takes back what it has done.
  void take_usual() {
    heap_after_ = host_.heap_in_use.exchange(heap_before_);
    usual_ = host_.memory.take_changes();
    for (const Memory::Written& written : usual_->written) {
      const Part& part = parts_.emplace_back(part_of(written));
      part.set(part.before);
    }
  }

  /// Another order has run: takes back what it has done. Returns its first difference from the
  /// usual order, "byte 8 of cudaMalloc #2 (400 bytes)"; empty: none.
  std::string take_other() {
    const Changes other = host_.memory.take_changes();
    host_.heap_in_use = heap_before_;
    std::vector<Part> only_here;  // the usual order wrote nothing there
    for (const Memory::Written& written : other.written) {
      if (std::ranges::binary_search(parts_, written.begin, {}, &Part::begin)) continue;
      only_here.push_back(part_of(written));
      only_here.back().after = written.before;
    }
    const std::byte* first = nullptr;
    for (const std::vector<Part>* const parts : {&parts_, &only_here}) {
      for (const Part& part : *parts) {
        if (is_in(usual_->freed, part.begin) || is_in(other.freed, part.begin)) continue;
        const std::byte* const differs = difference(part, other);
        if (differs != nullptr && (first == nullptr || differs < first)) first = differs;
      }
    }
    for (const Part& part : parts_) part.set(part.before);
    for (const Part& part : only_here) part.set(part.before);
    return first == nullptr ? "" : host_.memory.describe(first);
  }

 private:
  struct Part {
    std::byte* begin;
    std::vector<std::byte> before, after;  ///< the usual order
    bool of_cpu_too;
    bool is_of_kernel(std::size_t at) const { return !of_cpu_too || before[at] != after[at]; }
    void set(const std::vector<std::byte>& bytes) const {
      for (std::size_t at = 0; of_cpu_too && at < bytes.size(); ++at) {
        if (is_of_kernel(at)) begin[at] = bytes[at];
      }
      if (!of_cpu_too) std::memcpy(begin, bytes.data(), bytes.size());
    }
  };

  /// `after` is what is there now.
  Part part_of(const Memory::Written& written) const {
    const auto allocation = host_.memory.find(written.begin);
    using Kind = Memory::Kind;
    const bool of_cpu_too =
        allocation && (allocation->adopted || allocation->kind == Kind::managed ||
                       allocation->kind == Kind::pinned_host);
    return {written.begin,
            written.before,
            {written.begin, written.begin + written.before.size()},
            of_cpu_too};
  }

  const std::byte* difference(const Part& part, const Changes& other) const {
    if (std::memcmp(part.begin, part.after.data(), part.after.size()) == 0) return nullptr;
    for (std::size_t at = 0; at < part.after.size(); ++at) {
      if (part.begin[at] == part.after[at] || !part.is_of_kernel(at)) continue;
      if (!holds_pointers_to_heap(part, at, other)) return part.begin + at;
    }
    return nullptr;
  }

  /// Whether the byte is of a pointer to new memory of the heap in both orders. Which thread gets
  /// which block depends on the order, as on a GPU.
  bool holds_pointers_to_heap(const Part& part, std::size_t at, const Changes& other) const {
    const std::size_t word = at / sizeof(void*) * sizeof(void*);
    if (word + sizeof(void*) > part.after.size()) return false;
    const void *usual = nullptr, *now = nullptr;
    std::memcpy(&usual, part.after.data() + word, sizeof usual);
    std::memcpy(&now, part.begin + word, sizeof now);
    return is_in(usual_->made, usual) && is_in(other.made, now);
  }

  const LaunchHost& host_;
  const std::uint64_t heap_before_;
  std::uint64_t heap_after_ = 0;
  std::optional<Changes> usual_;
  std::vector<Part> parts_;  ///< what the usual order wrote, by ascending addresses
};

/// Lines of accesses in loops that wait for memory to change, which they load as often as they have
/// to wait.
std::set<int> lines_that_wait(const KernelCode& code) {
  std::set<int> lines;
  for (const KernelCode::Counter& counter : code.counters) {
    if (!counter.waits) continue;
    lines.insert(counter.code->function->body[counter.instruction].text_line);
  }
  return lines;
}

/// The first instruction that does not wait and counts otherwise; nullptr: none.
const InstructionTotals* difference(const LaunchOutcome& usual, const LaunchOutcome& other,
                                    const std::set<int>& waiting) {
  const auto counts = [](const InstructionTotals& totals) {
    return std::tuple(totals.text_line, totals.access.requests, totals.access.wavefronts,
                      totals.access.sectors);
  };
  const auto compared = std::views::filter(
      [&](const InstructionTotals& totals) { return !waiting.contains(totals.text_line); });
  auto ours = usual.totals | compared;
  auto others = other.totals | compared;
  const auto [a, b] = std::ranges::mismatch(ours, others, {}, counts, counts);
  if (a != ours.end()) return &*a;
  return b != others.end() ? &*b : nullptr;
}

/// What another order does otherwise.
struct Breach {
  enum class Kind : std::uint8_t { result, count, fault };
  Kind kind = Kind::result;
  std::string what;  ///< "the result is another one"
  std::string where = {};
  metrics::SourceLine source = {};
  Fault::Kind fault = {};

  bool is_like(const Breach& other) const {
    return kind == other.kind && fault == other.fault &&
           (kind != Kind::fault || source == other.source);
  }
};

std::string count_switches(std::size_t n) {
  return std::to_string(n) + (n == 1 ? " switch" : " switches");
}

std::string warp_text(const Launch& launch, const WarpId& id) {
  return block_text(launch, id.block) + " warp " + std::to_string(id.warp);
}

/// A launch in the usual order, and in others.
class Orders {
 public:
  Orders(const Kernel& kernel, const Launch& launch, const LaunchHost& host)
      : kernel_(kernel),
        launch_(launch),
        host_(host),
        quiet_(host.options),
        waiting_(lines_that_wait(*kernel.code)),
        effects_(host) {
    quiet_.checks = {};
    quiet_.print = [](std::string_view) {};
    Interleaving none;
    Launch usual = launch;
    usual.interleaving = &none;
    usual_ = run_launch(kernel, usual, host);
    effects_.take_usual();
  }

  /// Runs the launch in an order that is drawn, and reduces that if the launch breaks in a new way.
  void try_drawn(int seed) {
    std::vector<Switch> made;
    Interleaving drawn{.order = {.switches = {}, .late_stores = true},
                       .seed = static_cast<std::uint64_t>(seed),
                       .longest = longest_turn(seed),
                       .made = &made};
    for (const Breach& breach : run(drawn)) {
      if (std::exchange(found(breach.kind), true)) continue;
      const std::string in_order = " in order " + std::to_string(seed);
      if (made.size() == kMostSwitches) {
        report(breach, in_order, ", which has too many switches to be reduced", {}, nullptr);
      } else {
        explain(breach, in_order, reduced({made, true}, breach));
      }
    }
  }
  bool goes_on() {
    using Kind = Breach::Kind;
    return !found(Kind::fault) && !(found(Kind::result) && found(Kind::count));
  }

  void replay(const Order& order) {
    Interleaving kept_to{.order = order};
    for (const Breach& breach : run(kept_to)) {
      explain(breach, " in the order replayed", {order, 0, true});
    }
  }

  LaunchOutcome take_usual() { return std::move(usual_); }

 private:
  /// Short turns find more, and take longer: much work has longer ones.
  unsigned longest_turn(int seed) const {
    const std::uint64_t steps = usual_.warp_instructions / usual_.warps;
    const auto of_all = static_cast<unsigned>(std::bit_width(steps));
    const unsigned shares[] = {of_all / 2, of_all * 3 / 4, of_all};
    const auto least = static_cast<unsigned>(std::bit_width(usual_.warp_instructions >> 16));
    return std::clamp(shares[seed % 3], std::clamp(least, 2U, 10U), 10U);
  }

  /// Of a reduction: launches, and the time for all of them where a launch has no limit.
  static constexpr int kMostLaunches = 300;
  static constexpr std::chrono::milliseconds kMostTime{60'000};
  static constexpr std::size_t kMostShown = 4;  ///< switches in a text

  bool& found(Breach::Kind kind) { return found_[static_cast<std::size_t>(kind)]; }

  /// Runs the launch, and takes back what it has done.
  std::vector<Breach> run(Interleaving& interleaving) {
    Launch other = launch_;
    other.hits = nullptr;
    other.findings = nullptr;
    other.races = nullptr;
    other.uses = nullptr;
    other.interleaving = &interleaving;
    const LaunchHost host{host_.architecture, quiet_,      host_.memory, host_.pool,
                          host_.heap_in_use,  host_.number};
    std::vector<Breach> breaches;
    try {
      const LaunchOutcome outcome = run_launch(kernel_, other, host);
      const std::string differs = effects_.take_other();
      if (!differs.empty()) {
        breaches.push_back(
            {Breach::Kind::result, "the result is another one", ", first at " + differs});
      }
      if (const InstructionTotals* const totals = difference(usual_, outcome, waiting_)) {
        breaches.push_back(
            {Breach::Kind::count,
             "the accesses of PTX line " + std::to_string(totals->text_line) + " count otherwise",
             "", *totals->source});
      }
    } catch (const Fault& fault) {
      effects_.take_other();
      breaches.push_back({Breach::Kind::fault, "a fault", std::string(": ") + fault.what(),
                          fault.source(), fault.kind()});
    }
    return breaches;
  }

  /// The breach that is like this one, in the order that is kept to; nothing if there is none.
  std::optional<Breach> run_again(const Breach& breach, Interleaving& interleaving) {
    for (Breach& again : run(interleaving)) {
      if (again.is_like(breach)) return std::move(again);
    }
    return std::nullopt;
  }

  Reduction reduced(Order order, const Breach& breach) {
    const std::string all = count_switches(order.switches.size());
    const auto begin = std::chrono::steady_clock::now();
    const auto most =
        host_.options.time_limit.count() == 0 ? kMostTime : host_.options.time_limit / 2;
    const auto goes_on = [&](const Reduction& so_far) {
      if (host_.options.progress) {
        host_.options.progress("reducing an order of " + kernel_.code->display + ": " +
                               std::to_string(so_far.order.switches.size()) + " of " + all +
                               " left after " + std::to_string(so_far.launches) + " launches");
      }
      return so_far.launches < kMostLaunches && std::chrono::steady_clock::now() - begin < most;
    };
    return reduce(std::move(order), goes_on, [&](const Order& tried) -> std::optional<Order> {
      std::vector<Switch> made;
      Interleaving kept_to{.order = tried, .made = &made};
      if (!run_again(breach, kept_to)) return std::nullopt;
      return Order{std::move(made), tried.late_stores};
    });
  }

  /// Runs the launch once more, to see where the switches are.
  void explain(const Breach& breach, const std::string& in_order, const Reduction& reduction) {
    std::vector<SwitchPlaces> places;
    std::vector<Switch> made;
    Interleaving kept_to{.order = reduction.order, .made = &made, .places = &places};
    const std::optional<Breach> again = run_again(breach, kept_to);
    if (!again) {
      return report(breach, in_order, ", but not each time: it depends on more than the order", {},
                    nullptr);
    }
    auto order = std::make_shared<BreakingOrder>();
    order->order = {made, reduction.order.late_stores};
    std::string text = ", with " + (made.empty() ? "no switch" : count_switches(made.size()));
    if (reduction.order.late_stores) {
      text += ", as asynchronous stores are made when their thread waits for them";
    } else if (made.empty()) {
      text +=
          ", but when the launch is run again, as if it read a clock, or memory that nothing wrote";
    }
    const auto line = [](const Act& act) { return act.code == nullptr ? "" : place_of(act); };
    for (std::size_t n = 0; n < made.size(); ++n) {
      order->from.push_back(line(places[n].from));
      order->to.push_back(line(places[n].to));
      if (n >= kMostShown) continue;
      text += n == 0 ? ": " : "; ";
      text += order->from[n].empty()
                  ? "before " + warp_text(launch_, made[n].from) + " begins"
                  : "after " + order->from[n] + " by " + warp_text(launch_, made[n].from);
      text += ", " + warp_text(launch_, made[n].to) + " goes on" +
              (order->to[n].empty() ? "" : " to " + order->to[n]);
    }
    if (made.size() > kMostShown) {
      text += "; and " + std::to_string(made.size() - kMostShown) + " more";
    }
    if (!reduction.is_least) {
      text += " (perhaps fewer would do: the search ended after " +
              std::to_string(reduction.launches) + " launches)";
    }
    report(*again, in_order, text, places, std::move(order));
  }

  void report(const Breach& breach, const std::string& in_order, const std::string& why,
              const std::vector<SwitchPlaces>& places, std::shared_ptr<const BreakingOrder> order) {
    if (launch_.findings == nullptr) return;
    Finding finding{.text = "kernel " + kernel_.code->display + ": order: " + breach.what +
                            in_order + why + breach.where,
                    .source = breach.source,
                    // A fault breaks no rule of a check, and cannot be waived.
                    .rule = breach.kind == Breach::Kind::fault ? "" : "order",
                    .other = ""};
    const auto interrupted = std::ranges::find_if(
        places, [](const SwitchPlaces& at) { return at.from.code != nullptr; });
    if (breach.kind == Breach::Kind::result && interrupted != places.end()) {
      const auto& [from, to] = *interrupted;
      finding.source = source_line(*from.code, from.instruction);
      if (to.code != nullptr) finding.other = place_of(to);
    } else if (breach.kind == Breach::Kind::result && !places.empty()) {
      const Act& first = places.front().to;
      if (first.code != nullptr) finding.source = source_line(*first.code, first.instruction);
    }
    finding.order = std::move(order);
    launch_.findings->push_back(std::move(finding));
  }

  const Kernel& kernel_;
  const Launch& launch_;
  const LaunchHost& host_;
  Options quiet_;
  const std::set<int> waiting_;
  Effects effects_;
  LaunchOutcome usual_;
  std::array<bool, 3> found_{};  ///< by Breach::Kind
};

}  // namespace

LaunchOutcome run_in_orders(const Kernel& kernel, const Launch& launch, const LaunchHost& host) {
  Orders orders(kernel, launch, host);
  if (launch.replayed != nullptr) orders.replay(*launch.replayed);
  for (int n = 1; n <= host.options.schedules && orders.goes_on(); ++n) orders.try_drawn(n);
  return orders.take_usual();
}

}  // namespace warpgauge::emulator::machine
