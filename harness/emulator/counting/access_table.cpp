// Keeps the access of each source line that shows most.
#include "harness/emulator/counting/access_table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/machine/core/outcome.h"
#include "metrics/counting/cure.h"

namespace warpgauge::emulator::counting {

void AccessTable::add(const std::string& kernel, const machine::LaunchOutcome& outcome,
                      const KernelTrust& trust, const MemoryState& memory) {
  const KernelTrust::Ways ways = ways_of(outcome);
  Kernel& own = kernels_[kernel];
  own.lines.keep(outcome.sources);
  for (const machine::InstructionRecord& record : outcome.records) {
    const metrics::WarpAccess& access = record.access;
    const metrics::SourceLine& source = *record.source;
    if (access.is_shared()) own.widest = std::max(own.widest, access.width);
    metrics::LineAccess*& at = own.lines[source][static_cast<std::size_t>(access.space)];
    if (at == nullptr) at = &lines_[Key(kernel, source.file, source.line, access.space)];
    const bool is_new = at->access.mask == 0;
    if (!is_new && !metrics::shows_more(access, at->access)) continue;
    *at = {kernel, source.file, source.line, trust.of(record.text_line, ways, memory), access, ""};
  }
}

std::string AccessTable::cure(const metrics::LineAccess& line) const {
  const auto kernel = kernels_.find(line.kernel);
  return metrics::cure_of(line.access, kernel == kernels_.end() ? 0 : kernel->second.widest);
}

void AccessTable::add_cures(std::vector<metrics::LineCounts>& lines) const {
  for (metrics::LineCounts& line : lines) {
    // Of accesses to several spaces the one that shows most goes first: its cure stays.
    std::vector<const metrics::LineAccess*> accesses;
    const auto end = lines_.upper_bound(
        {line.kernel, line.file, line.line, metrics::WarpAccess::Space::global_atomic});
    for (auto at = lines_.lower_bound({line.kernel, line.file, line.line, {}}); at != end; ++at) {
      accesses.push_back(&at->second);
    }
    std::ranges::stable_sort(accesses, [](const auto* a, const auto* b) {
      return metrics::shows_more(a->access, b->access);
    });
    for (const metrics::LineAccess* access : accesses) {
      metrics::add_cure(line.cures, access->access.space, cure(*access));
    }
  }
}

std::vector<metrics::LineAccess> AccessTable::take() {
  std::vector<metrics::LineAccess> out;
  for (auto& [key, line] : std::exchange(lines_, {})) {
    line.cure = cure(line);
    out.push_back(std::move(line));
  }
  kernels_.clear();
  return out;
}

}  // namespace warpgauge::emulator::counting
