#include "harness/emulator/counting/kernel_trust.h"

#include "harness/emulator/machine/outcome.h"

namespace warpgauge::emulator::counting {

bool KernelTrust::Condition::holds(const Ways& launch) const {
  const auto none = [](const std::set<int>& of, const std::set<int>& in) {
    return std::ranges::none_of(of, [&](int line) { return in.contains(line); });
  };
  return none(without.divided, launch.divided) && none(without.taken, launch.taken);
}

KernelTrust::Ways ways_of(const machine::LaunchOutcome& outcome) {
  KernelTrust::Ways ways;
  for (const machine::BranchTotals& branch : outcome.branches) {
    if (branch.divided > 0) ways.divided.insert(branch.text_line);
    if (branch.taken > 0) ways.taken.insert(branch.text_line);
  }
  return ways;
}

}  // namespace warpgauge::emulator::counting
