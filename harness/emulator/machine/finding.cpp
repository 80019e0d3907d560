// Findings of a launch.
#include "harness/emulator/machine/finding.h"

#include <array>
#include <utility>

#include "harness/emulator/machine/code.h"
#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/fault.h"

namespace warpgauge::emulator::machine {
namespace {

/// "(x,y,z)" of what has this linear number.
std::string text_in(const std::array<std::uint32_t, 3>& size, std::uint64_t number) {
  return control::index_text({static_cast<std::uint32_t>(number % size[0]),
                              static_cast<std::uint32_t>(number / size[0] % size[1]),
                              static_cast<std::uint32_t>(number / size[0] / size[1])});
}

std::string thread_text(const control::LaunchContext& launch, const Act& act) {
  return "thread " + text_in(launch.launch.block, act.thread);
}

}  // namespace

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

Act act_of(const Warp& warp, const Instruction& instruction, int lane) {
  return {warp.engine->frame->code, instruction.index,
          warp.engine->index * kLanes + static_cast<std::uint32_t>(lane),
          warp.engine->block->number};
}

std::string place_of(const Act& act) { return source_place(*act.code, act.instruction); }

std::string thread_of(const Warp& warp, const Act& act) {
  return thread_text(warp.engine->block->launch, act);
}

void report(const Warp& warp, const Instruction& instruction, int lane, const char* rule,
            const std::string& other, const std::string& what) {
  report(warp.engine->block->launch, act_of(warp, instruction, lane), rule, other, what);
}

void report(control::LaunchContext& launch, const Act& act, const char* rule,
            const std::string& other, const std::string& what) {
  const Findings::Key key{rule, place_of(act), other};
  if (!launch.findings.wants(key, act.block)) return;
  launch.findings.add(
      key, act.block,
      {"kernel " + launch.code.display + ", block " + text_in(launch.launch.grid, act.block) +
           ", " + thread_text(launch, act) + ", " + key.first + ": " + rule + ": " + what,
       source_line(*act.code, act.instruction)});
}

}  // namespace warpgauge::emulator::machine
