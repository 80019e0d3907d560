#include "harness/emulator/counting/access_table.h"

#include <algorithm>
#include <utility>

#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/machine/outcome.h"
#include "metrics/cure.h"

namespace warpgauge::emulator::counting {

void AccessTable::add(const std::string& kernel, const machine::LaunchOutcome& outcome,
                      const KernelTrust& trust, metrics::Memory memory) {
  const KernelTrust::Ways ways = ways_of(outcome);
  for (const machine::InstructionRecord& record : outcome.records) {
    const metrics::WarpAccess& access = record.access;
    if (access.is_shared()) widest_[kernel] = std::max(widest_[kernel], access.width);
    const Key key(kernel, record.source->file, record.source->line, access.space);
    const auto [at, is_new] = lines_.try_emplace(key);
    if (!is_new && !metrics::shows_more(access, at->second.access)) continue;
    at->second = {kernel,
                  record.source->file,
                  record.source->line,
                  trust.of(record.text_line, ways, memory),
                  access,
                  ""};
  }
}

std::string AccessTable::cure(const metrics::LineAccess& line) const {
  const auto widest = widest_.find(line.kernel);
  return metrics::cure_of(line.access, widest == widest_.end() ? 0 : widest->second);
}

void AccessTable::add_cures(std::vector<metrics::LineCounts>& lines) const {
  for (metrics::LineCounts& line : lines) {
    // Of several spaces the access that shows most goes first: it is whose cure stays.
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
  widest_.clear();
  return out;
}

}  // namespace warpgauge::emulator::counting
