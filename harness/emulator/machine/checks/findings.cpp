// Keeps the findings of a launch and makes their texts.
#include "harness/emulator/machine/checks/findings.h"

#include <stdexcept>
#include <utility>

#include "metrics/base/check_rules.h"

namespace warpgauge::emulator::machine::checks {

void Findings::report(const Act& act, const char* rule, const std::string& other,
                      const std::string& what,
                      std::optional<Finding::MissingBarrier> missing_barrier) {
  if (metrics::find_check_rule(rule) == nullptr) {
    throw std::logic_error(std::string("a finding of no rule: ") + rule);
  }
  const Key key{rule, place_of(act), other};
  const std::lock_guard lock(mutex_);
  const auto known = kept_.find(key);
  if (known != kept_.end() && act.block >= known->second.block) return;
  Finding finding = {"kernel " + kernel.display + ", " + block_text(launch, act.block) + ", " +
                         thread_and_lane_text(launch, act.thread) + ", " + key.first + ": " + rule +
                         ": " + what,
                     source_line(*act.code, act.instruction), rule, other, missing_barrier};
  kept_.insert_or_assign(key, Kept{act.block, std::move(finding)});
}

std::vector<Finding> Findings::take() {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> findings;
  for (auto& [key, kept] : std::exchange(kept_, {})) findings.push_back(std::move(kept.finding));
  return findings;
}

}  // namespace warpgauge::emulator::machine::checks
