// Runs a launch in several orders of its warps and blocks, and compares.
#include "harness/emulator/machine/schedule_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
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

using Contents = std::vector<memory::Memory::Contents>;
using memory::Memory;
using HeapChanges = Memory::HeapChanges;

/// The heap of kernels, which every order finds as the launch found it.
class Heap {
 public:
  explicit Heap(const LaunchHost& host) : host_(host), in_use_(host.heap_in_use) {
    host.memory.watch_heap();
  }
  ~Heap() {
    const HeapChanges last = host_.memory.put_heap_back();
    host_.memory.settle_heap(usual_ ? *usual_ : last);
    if (usual_) host_.heap_in_use = usual_in_use_;
  }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// Takes back what the usual order has done, which is done again in the end.
  const HeapChanges& put_usual_back() {
    usual_in_use_ = host_.heap_in_use;
    usual_ = host_.memory.put_heap_back();
    host_.heap_in_use = in_use_;
    return *usual_;
  }
  void put_back() {
    host_.memory.put_heap_back();
    host_.heap_in_use = in_use_;
  }

 private:
  const LaunchHost& host_;
  const std::uint64_t in_use_;
  std::optional<HeapChanges> usual_;
  std::uint64_t usual_in_use_ = 0;
};

/// The changes that a launch makes in memory. Where the CPU can write, too, only the bytes that it
/// changes in the usual order are put back and compared: the CPU may change others meanwhile.
class Effects {
 public:
  /// `heap`: what the launch did to the heap, which is as before again. What it made there has no
  /// counterpart in another order, and what it freed is put back, and not compared.
  Effects(const Contents& before, const Contents& after, const HeapChanges& heap,
          const Memory& memory)
      : heap_(heap), memory_(memory) {
    for (const auto& [begin, bytes] : before) {
      const auto now = std::ranges::lower_bound(after, begin, {}, &Memory::Contents::begin);
      if (now != after.end() && now->begin == begin) {
        parts_.push_back({begin, bytes, now->bytes, cpu_writes(begin)});
      } else if (heap.freed.contains(begin)) {
        parts_.push_back({begin, bytes, bytes, false, true});
      }
    }
  }

  void undo() const { set(&Part::before); }
  void redo() const { set(&Part::after); }

  /// The first difference in memory now: "byte 8 of cudaMalloc #2 (400 bytes)"; empty: nothing.
  std::string difference() const {
    for (const Part& part : parts_) {
      if (part.is_freed) continue;
      if (std::memcmp(part.begin, part.after.data(), part.after.size()) == 0) continue;
      for (std::size_t at = 0; at < part.after.size(); ++at) {
        if (part.begin[at] == part.after[at] || !part.is_of_kernel(at)) continue;
        if (holds_pointers_to_heap(part, at)) continue;
        return memory_.describe(part.begin + at);
      }
    }
    return "";
  }

 private:
  struct Part {
    std::byte* begin;
    std::vector<std::byte> before, after;
    bool of_cpu_too;
    bool is_freed = false;  ///< by the launch
    bool is_of_kernel(std::size_t at) const { return !of_cpu_too || before[at] != after[at]; }
  };

  /// Whether the byte is of a pointer to the heap in both orders. Which thread gets which block
  /// depends on the order, as on a GPU.
  bool holds_pointers_to_heap(const Part& part, std::size_t at) const {
    const std::size_t word = at / sizeof(void*) * sizeof(void*);
    if (word + sizeof(void*) > part.after.size()) return false;
    const std::byte *usual = nullptr, *now = nullptr;
    std::memcpy(&usual, part.after.data() + word, sizeof usual);
    std::memcpy(&now, part.begin + word, sizeof now);
    const auto found = memory_.find(now);
    const auto behind = heap_.made.upper_bound(usual);
    return found && found->kind == Memory::Kind::heap && behind != heap_.made.begin() &&
           usual < std::prev(behind)->second.end();
  }

  bool cpu_writes(const std::byte* begin) const {
    const auto allocation = memory_.find(begin);
    using Kind = Memory::Kind;
    return allocation && (allocation->adopted || allocation->kind == Kind::managed ||
                          allocation->kind == Kind::pinned_host);
  }
  void set(std::vector<std::byte> Part::*contents) const {
    for (const Part& part : parts_) {
      const std::vector<std::byte>& bytes = part.*contents;
      for (std::size_t at = 0; part.of_cpu_too && at < bytes.size(); ++at) {
        if (part.is_of_kernel(at)) part.begin[at] = bytes[at];
      }
      if (!part.of_cpu_too) std::memcpy(part.begin, bytes.data(), bytes.size());
    }
  }

  std::vector<Part> parts_;
  const HeapChanges& heap_;
  const Memory& memory_;
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
  const Contents before = host.memory.contents();
  Heap heap(host);
  const LaunchOutcome usual = run_launch(kernel, launch, host);
  const Contents after = host.memory.contents();
  const Effects effects(before, after, heap.put_usual_back(), host.memory);
  const std::set<int> waiting = lines_that_wait(*kernel.code);
  Options quiet = host.options;
  quiet.checks = {};
  quiet.print = [](std::string_view) {};
  Launch other = launch;
  other.hits = nullptr;
  other.findings = nullptr;
  const auto report = [&](std::string what, metrics::SourceLine source, const char* rule) {
    if (launch.findings == nullptr) return;
    launch.findings->push_back({"kernel " + kernel.code->display + ": order: " + std::move(what),
                                std::move(source), rule});
  };
  bool result_differs = false, count_differs = false;
  for (int n = 1; n <= host.options.schedules && !(result_differs && count_differs); ++n) {
    heap.put_back();
    effects.undo();
    other.order = static_cast<std::uint64_t>(n);
    const std::string in_order = " with the warps and blocks in order " + std::to_string(n);
    try {
      const LaunchOutcome outcome = run_launch(
          kernel, other,
          {host.architecture, quiet, host.memory, host.pool, host.heap_in_use, host.number});
      const std::string differs = effects.difference();
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
      // It breaks no rule of a check, and cannot be waived.
      report(std::string("a fault") + in_order + ": " + fault.what(), fault.source(), "");
      break;
    }
  }
  heap.put_back();
  effects.redo();
  return usual;
}

}  // namespace warpgauge::emulator::machine
