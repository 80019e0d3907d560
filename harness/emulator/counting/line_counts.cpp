// Counts per source line out of counts per PTX instruction.
#include "harness/emulator/counting/line_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/machine/core/outcome.h"

namespace warpgauge::emulator::counting {
namespace {

using CountedSpace = machine::AccessTotals::Space;
using Spill = KernelTrust::Spill;

/// The first parts of the ids of the metrics that an access to `space` counts for.
std::vector<std::string> groups_of(CountedSpace space) {
  switch (space) {
    case CountedSpace::shared:
      return {"shared"};
    case CountedSpace::local:
      return {"local"};
    case CountedSpace::bulk_load:
    case CountedSpace::bulk_store:
      return {"bulk"};
    case CountedSpace::cluster:
      return {"cluster"};
    case CountedSpace::wgmma:
      return {"wgmma", "shared"};
    default:
      return {"global"};
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

metrics::Counts counts_of(const Spill& spill, const Executions::Times& times) {
  metrics::Counts out;
  out.local_requests = times.warps;
  out.local_sectors = times.lane_groups * static_cast<unsigned>(std::max(1, spill.width / 4));
  return out;
}

void distrust(metrics::LineCounts& line, const std::string& group, const metrics::Trust& trust) {
  if (trust.confidence == metrics::Confidence::exact) return;
  metrics::Trust& present = line.trust[group];
  if (trust.confidence > present.confidence) present = trust;
}

/// How far the counts of executions are to be trusted, as the order of threads may decide them.
metrics::Trust certainty_of_order(const KernelTrust& trust, const MemoryState& memory) {
  if (trust.execution_order) return *trust.execution_order;
  if (!memory.is_unsettled()) return {};
  if (memory.decides_launches) return KernelTrust::of_launches(memory);
  if (!trust.unsettled.executions) return {};
  return KernelTrust::in_state(*trust.unsettled.executions, memory);
}

const metrics::SourceLine kWholeKernel;  ///< has no line

}  // namespace

metrics::Counts counts_of(const machine::AccessTotals& access) {
  metrics::Counts out;
  switch (access.space) {
    case CountedSpace::none:
      break;
    case CountedSpace::shared:
      out.shared_requests = access.requests;
      out.shared_wavefronts = access.wavefronts;
      out.shared_wavefronts_ideal = access.wavefronts_ideal;
      break;
    case CountedSpace::global_load:
      return global(access, &metrics::Counts::global_load_requests,
                    &metrics::Counts::global_load_sectors);
    case CountedSpace::global_store:
      return global(access, &metrics::Counts::global_store_requests,
                    &metrics::Counts::global_store_sectors);
    case CountedSpace::global_atomic:
      return global(access, &metrics::Counts::global_atomic_requests,
                    &metrics::Counts::global_atomic_sectors);
    case CountedSpace::local:
      out.local_requests = access.requests;
      out.local_sectors = access.sectors;
      break;
    case CountedSpace::bulk_load:
      out.bulk_load_instructions = access.requests;
      out.bulk_load_bytes = access.bytes;
      out.bulk_sectors = access.sectors;
      break;
    case CountedSpace::bulk_store:
      out.bulk_store_instructions = access.requests;
      out.bulk_store_bytes = access.bytes;
      out.bulk_sectors = access.sectors;
      break;
    case CountedSpace::cluster:
      out.cluster_requests = access.requests;
      break;
    case CountedSpace::wgmma:
      out.wgmma_instructions = out.shared_requests = access.requests;
      out.wgmma_wavefronts = out.shared_wavefronts = access.wavefronts;
      out.shared_wavefronts_ideal = access.wavefronts_ideal;
      break;
  }
  return out;
}

metrics::LineCounts& CountTable::KernelLines::at(const metrics::SourceLine& line) {
  metrics::LineCounts*& known = known_[line];
  if (known == nullptr) known = &all_.at(kernel_, line);
  return *known;
}

void CountTable::add_executions(KernelLines& lines, const machine::LaunchOutcome& outcome,
                                const Executions& executed, const metrics::Trust& of_order) {
  const bool known = executed.unknown.empty();
  const metrics::Trust certainty =
      known ? of_order
            : metrics::Trust{metrics::Confidence::estimate,
                             "those of the PTX are counted, of which ptxas makes more or fewer: " +
                                 executed.unknown};
  const auto add = [&](const metrics::SourceLine& source, std::uint64_t instructions,
                       std::uint64_t divided, const std::string& uncertain = {}) {
    if (instructions == 0 && divided == 0) return;
    metrics::LineCounts& at = lines.at(source);
    at.counts.instructions += instructions;
    at.counts.divergent_branches += divided;
    if (instructions > 0) distrust(at, "instructions", certainty);
    if (!uncertain.empty()) {
      distrust(at, "instructions", {metrics::Confidence::estimate, uncertain});
    }
    if (divided > 0) distrust(at, "branches", certainty);
  };
  if (known) {
    for (const Executions::Line& line : executed.lines) {
      add(*line.source, line.instructions, line.divergent_branches, line.uncertain);
    }
  } else {
    add(kWholeKernel, outcome.warp_instructions, 0);
    for (const machine::BranchTotals& branch : outcome.branches)
      add(*branch.source, 0, branch.divided);
  }
  distrust(lines.at(kWholeKernel), "branches", certainty);
  distrust(lines.at(kWholeKernel), "instructions", certainty);
}

void CountTable::add_spills(KernelLines& lines, const machine::LaunchOutcome& outcome,
                            const KernelTrust& trust, const MemoryState& memory,
                            const Executions& executed, const metrics::Trust& of_order) {
  if (trust.spills.empty() && trust.on_stack.empty()) return;
  const KernelTrust::Ways ways = ways_of(outcome);
  const auto add = [&](const Spill& spill, const Executions::Times& times,
                       const metrics::Trust& known) {
    if (times.warps == 0) return;
    metrics::LineCounts& line = lines.at(spill.source);
    line.counts += counts_of(spill, times);
    distrust(line, "local", known);
  };
  const AccessTimes accesses(outcome);
  for (const Spill& spill : trust.spills) {
    const bool has_access = spill.text_line != 0;
    metrics::Trust known;
    if (has_access) known = trust.of(spill.text_line, ways, memory);
    const bool is_exact = has_access && known.confidence == metrics::Confidence::exact;
    if (!is_exact && spill.followed && executed.followed_unknown.empty()) {
      add(spill, executed.followed[*spill.followed], of_order);
    } else if (has_access) {
      add(spill, accesses.of(spill.text_line), known);
    } else {
      distrust(lines.at(spill.source), "local",
               {metrics::Confidence::estimate,
                fmt::format("{}: {}", Spill::kReason, executed.followed_unknown)});
    }
  }
  if (!executed.followed_unknown.empty()) return;
  for (const auto& [text_line, found] : trust.on_stack) {
    for (const Spill& spill : found) add(spill, executed.followed[*spill.followed], of_order);
  }
}

void CountTable::add(const std::string& kernel, const machine::LaunchOutcome& outcome,
                     const std::shared_ptr<const KernelTrust>& its_trust,
                     const MemoryState& memory) {
  const KernelTrust& trust = *its_trust;
  KernelLines& lines = kernels_.try_emplace(kernel, lines_, kernel).first->second;
  lines.keep(outcome.sources);
  lines.keep(its_trust);
  metrics::LineCounts& whole = lines.at(kWholeKernel);
  const Executions executed = trust.executions.of(outcome);
  const metrics::Trust certainty = certainty_of_order(trust, memory);
  add_executions(lines, outcome, executed, certainty);
  add_spills(lines, outcome, trust, memory, executed, certainty);
  for (const char* const group : {"shared", "global", "local"}) distrust(whole, group, trust.rest);
  for (const KernelTrust::Uncounted& access : trust.uncounted) {
    distrust(lines.at(access.source), access.group, access.trust);
  }
  if (memory.is_unsettled()) {
    for (const KernelTrust::Uncounted& access : trust.unsettled.uncounted) {
      distrust(lines.at(access.source), access.group, KernelTrust::in_state(access.trust, memory));
    }
  }

  const KernelTrust::Ways ways = ways_of(outcome);
  for (const machine::InstructionTotals& instruction : outcome.totals) {
    // Its accesses in the machine code are counted already.
    if (executed.followed_unknown.empty() && trust.on_stack.contains(instruction.text_line))
      continue;
    const machine::AccessTotals& access = instruction.access;
    const auto moved = trust.sources.find(instruction.text_line);
    metrics::LineCounts& at =
        lines.at(moved == trust.sources.end() ? *instruction.source : moved->second);
    at.counts += counts_of(access);
    const metrics::Trust known = trust.of(instruction.text_line, ways, memory);
    for (const std::string& group : groups_of(access.space)) {
      distrust(at, group, known);
      if (access.estimates == 0) continue;
      distrust(at, group, {metrics::Confidence::estimate, std::string(access.estimate_reason)});
    }
  }
}

std::vector<metrics::LineCounts> CountTable::take() {
  kernels_.clear();
  return lines_.take();
}

}  // namespace warpgauge::emulator::counting
