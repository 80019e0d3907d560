#include "harness/emulator/counting/access_table.h"

#include <utility>

#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/machine/outcome.h"

namespace warpgauge::emulator::counting {

void AccessTable::add(const std::string& kernel, const machine::LaunchOutcome& outcome,
                      const KernelTrust& trust) {
  for (const machine::InstructionRecord& record : outcome.records) {
    const Key key(kernel, record.source.file, record.source.line, !record.access.is_shared());
    const auto [at, is_new] = lines_.try_emplace(key);
    if (!is_new && !metrics::shows_more(record.access, at->second.access)) continue;
    at->second = {kernel, record.source.file, record.source.line, trust.of(record.text_line),
                  record.access};
  }
}

std::vector<metrics::LineAccess> AccessTable::take() {
  std::vector<metrics::LineAccess> out;
  for (auto& [key, line] : std::exchange(lines_, {})) out.push_back(std::move(line));
  return out;
}

}  // namespace warpgauge::emulator::counting
