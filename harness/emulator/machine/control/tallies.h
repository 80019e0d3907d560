// The counts of a worker.
#pragma once

#include <vector>

#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/memory/counters.h"

namespace warpgauge::emulator::machine::control {

/// The counts of the warps of one thread since the launch began.
struct Tallies {
  memory::Counters counters;
  std::vector<BranchWays> branches;  ///< by place in KernelCode::branches
  CodeHits hits;                     ///< empty where executions are not counted

  explicit Tallies(const KernelCode& code)
      : counters(code.counters.size()), branches(code.branches.size()) {}

  /// For the next launch of the same kernel.
  void begin_launch() {
    counters.begin_launch();
    branches.assign(branches.size(), {});
    hits.clear();
  }
};

}  // namespace warpgauge::emulator::machine::control
