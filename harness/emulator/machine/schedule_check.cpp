// Runs a launch in several orders of its warps and blocks, and compares.
#include "harness/emulator/machine/schedule_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/emulator/machine/core/fault.h"
#include "harness/emulator/machine/core/finding.h"
#include "harness/emulator/machine/memory/memory.h"

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

}  // namespace

LaunchOutcome run_in_orders(const Kernel& kernel, const Launch& launch, const LaunchHost& host) {
  Effects effects(host);
  const LaunchOutcome usual = run_launch(kernel, launch, host);
  effects.take_usual();
  const std::set<int> waiting = lines_that_wait(*kernel.code);
  Options quiet = host.options;
  quiet.checks = {};
  quiet.print = [](std::string_view) {};
  Launch other = launch;
  other.hits = nullptr;
  other.findings = nullptr;
  other.uses = nullptr;
  const auto report = [&](std::string what, metrics::SourceLine source, const char* rule) {
    if (launch.findings == nullptr) return;
    launch.findings->push_back({"kernel " + kernel.code->display + ": order: " + std::move(what),
                                std::move(source), rule});
  };
  bool result_differs = false, count_differs = false;
  for (int n = 1; n <= host.options.schedules && !(result_differs && count_differs); ++n) {
    other.order = static_cast<std::uint64_t>(n);
    const std::string in_order = " with the warps and blocks in order " + std::to_string(n);
    try {
      const LaunchOutcome outcome = run_launch(
          kernel, other,
          {host.architecture, quiet, host.memory, host.pool, host.heap_in_use, host.number});
      const std::string differs = effects.take_other();
      if (!differs.empty() && !std::exchange(result_differs, true)) {
        report("the result is another one" + in_order + ", first at " + differs, {}, "order");
      }
      const InstructionTotals* const totals = difference(usual, outcome, waiting);
      if (totals != nullptr && !std::exchange(count_differs, true)) {
        report("the accesses of PTX line " + std::to_string(totals->text_line) +
                   " count otherwise" + in_order,
               *totals->source, "order");
      }
    } catch (const Fault& fault) {
      effects.take_other();
      // It breaks no rule of a check, and cannot be waived.
      report(std::string("a fault") + in_order + ": " + fault.what(), fault.source(), "");
      break;
    }
  }
  return usual;
}

}  // namespace warpgauge::emulator::machine
