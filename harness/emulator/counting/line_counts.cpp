// Counts per source line out of counts per PTX instruction.
#include "harness/emulator/counting/line_counts.h"

#include <algorithm>
#include <cstdint>
#include <ranges>

#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/machine/outcome.h"

namespace warpgauge::emulator::counting {
namespace {

using Space = machine::AccessTotals::Space;
using Spill = KernelTrust::Spill;

const metrics::Trust kPtxInstructions{
    metrics::Confidence::estimate,
    "warp instructions are those of the PTX, which ptxas turns into more or fewer"};

/// The first part of the ids of the metrics that an access to `space` counts for.
std::string group_of(Space space) {
  switch (space) {
    case Space::shared:
      return "shared";
    case Space::local:
      return "local";
    default:
      return "global";
  }
}

using Count = std::uint64_t metrics::Counts::*;

/// The counts of an access to global memory; `requests` and `sectors` are those of its kind.
metrics::Counts global(const machine::AccessTotals& access, Count requests, Count sectors) {
  metrics::Counts out;
  out.*requests = access.requests;
  out.*sectors = access.sectors;
  out.global_sectors_ideal = access.sectors_ideal;
  out.global_l1_tags = access.tags;
  return out;
}

metrics::Counts counts_of(const KernelTrust::Spill& spill, const machine::AccessTotals& beside) {
  metrics::Counts out;
  out.local_requests = beside.requests;
  out.local_sectors = beside.lane_groups * static_cast<unsigned>(std::max(1, spill.width / 4));
  return out;
}

void distrust(metrics::LineCounts& line, const std::string& group, const metrics::Trust& trust) {
  if (trust.confidence == metrics::Confidence::exact) return;
  metrics::Trust& present = line.trust[group];
  if (trust.confidence > present.confidence) present = trust;
}

}  // namespace

metrics::Counts counts_of(const machine::AccessTotals& access) {
  metrics::Counts out;
  switch (access.space) {
    case Space::none:
      break;
    case Space::shared:
      out.shared_requests = access.requests;
      out.shared_wavefronts = access.wavefronts;
      out.shared_wavefronts_ideal = access.wavefronts_ideal;
      break;
    case Space::global_load:
      return global(access, &metrics::Counts::global_load_requests,
                    &metrics::Counts::global_load_sectors);
    case Space::global_store:
      return global(access, &metrics::Counts::global_store_requests,
                    &metrics::Counts::global_store_sectors);
    case Space::global_atomic:
      return global(access, &metrics::Counts::global_atomic_requests,
                    &metrics::Counts::global_atomic_sectors);
    case Space::local:
      out.local_requests = access.requests;
      out.local_sectors = access.sectors;
      break;
  }
  return out;
}

void CountTable::add(const std::string& kernel, const machine::LaunchOutcome& outcome,
                     const KernelTrust& trust, metrics::Memory memory) {
  metrics::LineCounts& whole = lines_.at(kernel, {});
  whole.counts.instructions += outcome.warp_instructions;
  distrust(whole, "instructions", kPtxInstructions);
  distrust(whole, "branches", kPtxInstructions);
  for (const char* const group : {"shared", "global", "local"}) distrust(whole, group, trust.rest);
  const auto distrust_all = [&](const std::vector<KernelTrust::Uncounted>& uncounted) {
    for (const KernelTrust::Uncounted& one : uncounted) {
      distrust(lines_.at(kernel, one.source), one.group, one.trust);
    }
  };
  distrust_all(trust.uncounted);
  if (memory == metrics::Memory::unsettled) distrust_all(trust.unsettled.uncounted);

  for (const machine::DivergentBranch& branch : outcome.divergent_branches) {
    if (branch.count == 0) continue;
    metrics::LineCounts& at = lines_.at(kernel, branch.source);
    at.counts.divergent_branches += branch.count;
    distrust(at, "branches", kPtxInstructions);
  }
  const KernelTrust::Ways ways = ways_of(outcome);
  for (const machine::InstructionTotals& instruction : outcome.totals) {
    const machine::AccessTotals& access = instruction.access;
    const std::string group = group_of(access.space);
    metrics::LineCounts& at = lines_.at(kernel, instruction.source);
    at.counts += counts_of(access);
    const metrics::Trust& known = trust.of(instruction.text_line, ways, memory);
    distrust(at, group, known);
    if (access.estimates > 0) {
      distrust(at, group, {metrics::Confidence::estimate, std::string(access.estimate_reason)});
    }
    const auto [begin, end] =
        std::ranges::equal_range(trust.spills, instruction.text_line, {}, &Spill::text_line);
    for (const Spill& spill : std::ranges::subrange(begin, end)) {
      metrics::LineCounts& line = lines_.at(kernel, spill.source);
      line.counts += counts_of(spill, access);
      distrust(line, "local", known);
    }
  }
}

}  // namespace warpgauge::emulator::counting
