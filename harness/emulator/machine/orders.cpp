// Runs a launch in several orders of its warps and blocks, and compares.
#include "harness/emulator/machine/orders.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/emulator/machine/fault.h"
#include "harness/emulator/machine/memory/memory.h"

namespace warpgauge::emulator::machine {
namespace {

using Contents = std::vector<memory::Memory::Contents>;

void restore(const Contents& contents) {
  for (const auto& [begin, bytes] : contents) std::memcpy(begin, bytes.data(), bytes.size());
}

/// What differs first in memory now: "byte 8 of cudaMalloc #2 (400 bytes)"; empty: nothing.
std::string difference_from(const Contents& expected, const memory::Memory& memory) {
  for (const auto& [begin, bytes] : expected) {
    if (std::memcmp(begin, bytes.data(), bytes.size()) == 0) continue;
    const auto at = std::ranges::mismatch(bytes, std::span(begin, bytes.size())).in1;
    return memory.describe(begin + (at - bytes.begin()));
  }
  return "";
}

/// The first instruction that counts otherwise; nullptr: none.
const InstructionTotals* difference(const LaunchOutcome& usual, const LaunchOutcome& other) {
  const auto counts = [](const InstructionTotals& totals) {
    return std::tuple(totals.text_line, totals.access.requests, totals.access.wavefronts,
                      totals.access.sectors);
  };
  const auto [a, b] = std::ranges::mismatch(usual.totals, other.totals, {}, counts, counts);
  if (a != usual.totals.end()) return &*a;
  return b != other.totals.end() ? &*b : nullptr;
}

}  // namespace

LaunchOutcome run_in_orders(const Kernel& kernel, const Launch& launch, const LaunchHost& host) {
  const Contents before = host.memory.contents();
  LaunchOutcome usual = run_launch(kernel, launch, host);
  const Contents after = host.memory.contents();
  Options quiet = host.options;
  quiet.checks = {};
  quiet.print = [](std::string_view) {};
  Launch other = launch;
  other.hits = nullptr;
  const auto report = [&](std::string what, metrics::SourceLine source) {
    usual.findings.push_back(
        {"kernel " + kernel.code->display + ": order: " + std::move(what), std::move(source)});
  };
  bool result_differs = false, count_differs = false;
  for (int n = 1; n <= host.options.schedules && !(result_differs && count_differs); ++n) {
    restore(before);
    other.order = static_cast<std::uint64_t>(n);
    const std::string in_order = " with the warps and blocks in order " + std::to_string(n);
    try {
      const LaunchOutcome outcome = run_launch(
          kernel, other,
          {host.architecture, quiet, host.memory, host.pool, host.heap_in_use, host.number});
      const std::string differs = difference_from(after, host.memory);
      if (!differs.empty() && !std::exchange(result_differs, true)) {
        report("the result is another one" + in_order + ", first at " + differs, {});
      }
      const InstructionTotals* const totals = difference(usual, outcome);
      if (totals != nullptr && !std::exchange(count_differs, true)) {
        report("the accesses of PTX line " + std::to_string(totals->text_line) +
                   " count otherwise" + in_order,
               totals->source);
      }
    } catch (const Fault& fault) {
      report(std::string("a fault") + in_order + ": " + fault.what(), fault.source());
      break;
    }
  }
  restore(after);
  return usual;
}

}  // namespace warpgauge::emulator::machine
