// Findings of a launch.
#include "harness/emulator/machine/finding.h"

#include <utility>

#include "harness/emulator/machine/code.h"
#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/fault.h"

namespace warpgauge::emulator::machine {

bool Findings::wants(const Key& key, std::uint64_t block) const {
  const std::lock_guard lock(mutex_);
  const auto known = kept_.find(key);
  return known == kept_.end() || block < known->second.block;
}

void Findings::add(const Key& key, std::uint64_t block, Finding finding) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = kept_.try_emplace(key, Kept{block, finding});
  if (!is_new && block < known->second.block) known->second = {block, std::move(finding)};
}

std::vector<Finding> Findings::take() {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> findings;
  for (auto& [key, kept] : std::exchange(kept_, {})) findings.push_back(std::move(kept.finding));
  return findings;
}

void report(const Warp& warp, const Instruction& instruction, int lane, const char* rule,
            const std::string& other, const std::string& what) {
  const control::Block& block = *warp.engine->block;
  const Code& code = *warp.engine->frame->code;
  const Findings::Key key{rule, source_place(code, instruction.index), other};
  Findings& findings = block.launch.findings;
  if (!findings.wants(key, block.number)) return;
  findings.add(key, block.number,
               {place_of(warp, instruction, Mask{1} << lane) + ": " + rule + ": " + what,
                source_line(code, instruction.index)});
}

}  // namespace warpgauge::emulator::machine
