// Rules about mbarriers, and about what is still under way when threads and blocks end.
#include "harness/emulator/machine/control/async_checks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

#include "harness/emulator/machine/async_rules.h"
#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/cluster.h"
#include "harness/emulator/machine/memory/context.h"
#include "harness/emulator/machine/memory/history.h"

namespace warpgauge::emulator::machine::control {
namespace {

bool looks(const Block& block) {
  return block.history != nullptr && block.history->looks_at_copies();
}

/// The rule that a use breaks, if one.
std::optional<AsyncRule> broken_rule(const Warp& warp, const Block& block,
                                     const Mbarriers::Use& use, bool by_proxy) {
  const Block& user = *warp.engine->block;
  const std::uint32_t maker = use.init.thread / kLanes, warp_number = warp.engine->index;
  if (&user != &block) {
    // Of threads of two blocks only that they have met since is known.
    const bool has_met = user.cluster.memory.parts[user.rank].met > use.init_in_cluster;
    return has_met ? std::nullopt : std::optional(AsyncRule::unordered_mbarrier);
  }
  memory::History& history = *block.history;
  if (maker != warp_number && !history.times().orders(maker, use.init_time, warp_number)) {
    return AsyncRule::unordered_mbarrier;
  }
  if (by_proxy && !history.is_mbarrier_fenced(maker, use.init_time, warp_number)) {
    return AsyncRule::unfenced_mbarrier;
  }
  return std::nullopt;
}

bool is_under_way(const Block& block, std::uint32_t barrier) {
  return std::ranges::any_of(block.mbarriers.in_flight, [&](const Mbarriers::InFlight& bytes) {
    return bytes.barrier == barrier;
  });
}

/// Warps may give and take registers in any order: what is known at the end is whether all have
/// what they asked for last.
void check_registers(const Block& block) {
  constexpr std::uint32_t kUnit = 8;  // registers of a thread are given so many at a time
  const std::uint32_t at_launch = (block.launch.launch.registers + kUnit - 1) / kUnit * kUnit;
  if (at_launch == 0 || block.register_change.code == nullptr) return;
  std::uint64_t asked = 0;
  for (const WarpState& state : block.warps) {
    asked += (state.engine.registers == 0 ? at_launch : state.engine.registers) * kLanes;
  }
  const std::uint64_t given = std::uint64_t{at_launch} * kLanes * block.warps.size();
  if (asked <= given) return;
  report(block.launch, block.register_change, AsyncRule::unavailable_registers, "",
         "by the last setmaxnreg of each warp the block needs " + std::to_string(asked) +
             " registers, of " + std::to_string(given) + " that it was given (" +
             std::to_string(at_launch) + " a thread)");
}

}  // namespace

void check_mbarrier(const Warp& warp, const Instruction& instruction, int lane, Block& block,
                    std::uint32_t offset, bool by_proxy) {
  const auto found = block.mbarriers.uses.find(offset);
  if (!looks(block) || found == block.mbarriers.uses.end()) return;
  Mbarriers::Use& use = found->second;
  if (use.is_reported) return;
  if (const auto rule = broken_rule(warp, block, use, by_proxy)) {
    use.is_reported = true;
    report(warp, instruction, lane, *rule, place_of(use.init),
           "mbarrier at byte " + std::to_string(offset) + " of shared memory, which " +
               thread_of(warp, use.init) + " has initialised at " + place_of(use.init));
  }
}

void check_exit(const Warp& warp, Mask lanes) {
  Block& block = *warp.engine->block;
  if (!looks(block)) return;
  for (const Act& act : block.history->reads_in_flight(warp.engine->index, lanes)) {
    report(block.launch, act, AsyncRule::unawaited_copy, "",
           "the thread ends before its shared memory has been read");
  }
  for (const ProductGroups::Unawaited& known : warp.engine->products.unawaited) {
    report(block.launch, act_of(warp, *known.product, std::countr_zero(lanes)),
           AsyncRule::unawaited_copy, "", "the warp ends before its tiles have been read");
  }
}

void check_bytes(Block& block) {
  if (!looks(block)) return;
  for (const auto& [offset, use] : block.mbarriers.uses) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, block.shared.data() + offset, sizeof(bits));
    const auto barrier = memory::mbarrier_of(bits);
    if (!barrier || barrier->bytes == 0 || is_under_way(block, offset)) continue;
    const bool has_copy = use.arriver.code != nullptr, has_wish = use.expecter.code != nullptr;
    const Act& act = has_wish ? use.expecter : has_copy ? use.arriver : use.init;
    std::string text = phase_text(block, offset);
    if (has_wish && has_copy) text += ", the last by the copy at " + place_of(use.arriver);
    report(block.launch, act, AsyncRule::wrong_bytes, has_copy ? place_of(use.arriver) : "", text);
  }
}

void check_end(Block& block) {
  if (block.launch.options.checks.async) check_registers(block);
  if (!looks(block)) return;
  for (const Act& act : block.history->writes_in_flight()) {
    report(block.launch, act, AsyncRule::unawaited_copy, "",
           "block " + index_text(block.index) + " ends before the copy into its memory");
  }
  check_bytes(block);
  const memory::ClusterMemory::Part& part = block.cluster.memory.parts[block.rank];
  for (const memory::ClusterMemory::Use& use : part.uses) {
    if (use.time <= part.met) continue;
    report(block.launch, use.act, AsyncRule::ended_block, "",
           "uses shared memory of block " + index_text(block.index));
  }
}

}  // namespace warpgauge::emulator::machine::control
