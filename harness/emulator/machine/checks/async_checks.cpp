// Rules about mbarriers, and about what is still under way when threads and blocks end.
#include "harness/emulator/machine/checks/async_checks.h"

#include <optional>

#include "harness/emulator/machine/checks/async_rules.h"

namespace warpgauge::emulator::machine::checks {
namespace {

/// The rule that a use breaks, if there is such a rule.
std::optional<AsyncRule> broken_rule(History& history, const Warp& user, std::uint32_t user_rank,
                                     const MbarrierUse& use, bool by_proxy) {
  const std::uint32_t maker = use.init.thread / kLanes;
  if (user.block != history.block()) {
    const bool has_met = history.cluster().has_met_since(user_rank, use.init_in_cluster);
    return has_met ? std::nullopt : std::optional(AsyncRule::unordered_mbarrier);
  }
  if (maker != user.number && !history.times().orders(maker, use.init_time, user.number)) {
    return AsyncRule::unordered_mbarrier;
  }
  if (by_proxy && !history.is_mbarrier_fenced(maker, use.init_time, user.number)) {
    return AsyncRule::unfenced_mbarrier;
  }
  return std::nullopt;
}

}  // namespace

void check_mbarrier(History& history, const Maker& user, std::uint32_t user_rank, MbarrierUse& use,
                    std::uint32_t offset, bool by_proxy) {
  if (!history.looks_at_copies() || use.is_reported) return;
  const auto rule = broken_rule(history, user.warp, user_rank, use, by_proxy);
  if (!rule) return;
  use.is_reported = true;
  Findings& findings = history.findings();
  report(findings, act_of(user.warp, user.instruction, user.lane), *rule, place_of(use.init),
         "mbarrier at byte " + std::to_string(offset) + " of shared memory, which " +
             thread_and_lane_text(findings.launch, use.init.thread) + " has initialised at " +
             place_of(use.init));
}

void check_exit(History& history, const Warp& warp, Mask lanes) {
  if (!history.looks_at_copies()) return;
  for (const Act& act : history.reads_in_flight(warp.number, lanes)) {
    report(history.findings(), act, AsyncRule::unawaited_copy, "",
           "the thread ends before its shared memory has been read");
  }
}

void report_unawaited_product(Findings& findings, const Act& product) {
  report(findings, product, AsyncRule::unawaited_copy, "",
         "the warp ends before its tiles have been read");
}

void report_wrong_bytes(Findings& findings, const MbarrierUse& use, const std::string& phase) {
  const bool has_copy = use.arriver.code != nullptr, has_wish = use.expecter.code != nullptr;
  const Act& act = has_wish ? use.expecter : has_copy ? use.arriver : use.init;
  const std::string copier = has_copy ? place_of(use.arriver) : "";
  const std::string last = has_wish && has_copy ? ", the last by the copy at " + copier : "";
  report(findings, act, AsyncRule::wrong_bytes, copier, phase + last);
}

void report_registers(Findings& findings, const Act& last_change, const RegisterNeed& need) {
  report(findings, last_change, AsyncRule::unavailable_registers, "",
         "by the last setmaxnreg of each warp the block needs " + std::to_string(need.asked) +
             " registers, of " + std::to_string(need.given) + " that it was given (" +
             std::to_string(need.at_launch) + " a thread)");
}

void check_end(History& history) {
  if (!history.looks_at_copies()) return;
  Findings& findings = history.findings();
  const std::string block = block_text(findings.launch, history.block());
  for (const Act& act : history.writes_in_flight()) {
    report(findings, act, AsyncRule::unawaited_copy, "",
           block + " ends before the copy into its memory");
  }
  for (const Act& act : history.unordered_uses()) {
    report(findings, act, AsyncRule::ended_block, "", "uses shared memory of " + block);
  }
}

}  // namespace warpgauge::emulator::machine::checks
