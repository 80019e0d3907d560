// Keeps the findings of a launch and makes their texts.
#include "harness/emulator/machine/checks/findings.h"

#include <utility>

namespace warpgauge::emulator::machine::checks {

bool Findings::wants(const Key& key, std::uint64_t block) const {
  const std::lock_guard lock(mutex_);
  const auto known = kept_.find(key);
  return known == kept_.end() || block < known->second.block;
}

void Findings::report(const Act& act, const char* rule, const std::string& other,
                      const std::string& what) {
  const Key key{rule, place_of(act), other};
  if (!wants(key, act.block)) return;
  Finding finding = {"kernel " + kernel.display + ", " + block_text(launch, act.block) + ", " +
                         thread_text(launch, act.thread) + ", " + key.first + ": " + rule + ": " +
                         what,
                     source_line(*act.code, act.instruction), rule};
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = kept_.try_emplace(key, Kept{act.block, finding});
  if (!is_new && act.block < known->second.block) known->second = {act.block, std::move(finding)};
}

std::vector<Finding> Findings::take() {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> findings;
  for (auto& [key, kept] : std::exchange(kept_, {})) findings.push_back(std::move(kept.finding));
  return findings;
}

}  // namespace warpgauge::emulator::machine::checks
