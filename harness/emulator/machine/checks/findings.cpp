// Keeps the findings of a launch and makes their texts.
#include "harness/emulator/machine/checks/findings.h"

#include <stdexcept>
#include <utility>

namespace warpgauge::emulator::machine::checks {
namespace {

bool is_race(const metrics::CheckRule& rule) { return rule.check == "races"; }

}  // namespace

void Findings::report(const Act& act, const char* rule, const std::string& other,
                      const std::string& what,
                      std::optional<Finding::MissingBarrier> missing_barrier) {
  const metrics::CheckRule* const known_rule = metrics::find_check_rule(rule);
  if (known_rule == nullptr) throw std::logic_error(std::string("a finding of no rule: ") + rule);
  const Key key{known_rule, place_of(act), other};
  const std::lock_guard lock(mutex_);
  const auto known = kept_.find(key);
  if (known != kept_.end() && act.block >= known->second.block) return;
  Finding finding = {who(act, key.first) + ": " + rule + ": " + what,
                     source_line(*act.code, act.instruction), rule, other, missing_barrier};
  kept_.insert_or_assign(key, Kept<Finding>{act.block, std::move(finding)});
}

std::vector<Finding> Findings::take(const Checks& wanted) {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> findings;
  for (auto& [key, kept] : std::exchange(kept_, {})) {
    if (wanted.races || !is_race(*key.rule)) findings.push_back(std::move(kept.what));
  }
  return findings;
}

std::vector<Finding> Findings::races() const {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> races;
  for (const auto& [key, kept] : kept_) {
    if (is_race(*key.rule)) races.push_back(kept.what);
  }
  return races;
}

void Findings::note_use(const Act& act, const std::string& what, const std::byte* used,
                        std::uint64_t address, std::uint64_t bytes) {
  const std::pair key(place_of(act), used);
  const std::lock_guard lock(mutex_);
  const auto known = uses_.find(key);
  if (known != uses_.end() && act.block >= known->second.block) return;
  const auto* const at = reinterpret_cast<const void*>(address);
  MemoryUse use = {used, who(act, key.first), what + " at " + memory.describe(at, bytes),
                   source_line(*act.code, act.instruction)};
  uses_.insert_or_assign(key, Kept<MemoryUse>{act.block, std::move(use)});
}

std::vector<MemoryUse> Findings::take_uses() {
  const std::lock_guard lock(mutex_);
  std::vector<MemoryUse> uses;
  for (auto& [key, kept] : std::exchange(uses_, {})) uses.push_back(std::move(kept.what));
  return uses;
}

std::string Findings::who(const Act& act, const std::string& place) const {
  return "kernel " + kernel.display + ", " + block_text(launch, act.block) + ", " +
         thread_and_lane_text(launch, act.thread) + ", " + place;
}

}  // namespace warpgauge::emulator::machine::checks
