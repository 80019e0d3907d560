// The exit codes of every program.
#pragma once

namespace warpgauge::outcome {

/// If several hold, a fault goes before an excess before what is missing.
enum ExitCode : int {
  kWithinBudget = 0,  ///< everything that was measured is within its budget
  kOverBudget = 1,    ///< something is over its budget (with --strict: or better than it)
  kFault = 2,         ///< a build, crash, bad budget, bad option, or nothing selected
  kNotMeasured = 3,   ///< something that was required could not be measured
};

/// The worse of two.
constexpr ExitCode worse(ExitCode a, ExitCode b) {
  constexpr int kBadness[] = {0, 2, 3, 1};
  return kBadness[a] >= kBadness[b] ? a : b;
}

}  // namespace warpgauge::outcome
