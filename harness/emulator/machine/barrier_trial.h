// Tries whether a barrier more would cure a race.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/emulator/machine/core/elsewhere.h"
#include "harness/emulator/machine/core/finding.h"
#include "harness/emulator/machine/launcher.h"

namespace warpgauge::emulator::machine {

/// For each finding of a launch that a barrier may cure, runs the launch again with one in front of
/// the later access, behind the earlier one, or between them, elsewhere, so that memory stays as it
/// is. The first one with which that finding is gone and no other has come is told in
/// the finding's text. Nothing is told where none is, or where the launch does not find the same
/// without one, as its memory has changed since.
class BarrierTrials {
 public:
  void tell(const Kernel& kernel, const Launch& launch, const LaunchHost& host,
            const Elsewhere& elsewhere, std::vector<Finding>& findings);

 private:
  std::map<std::string, std::string> told_;  ///< by kernel and finding, each tried once
};

}  // namespace warpgauge::emulator::machine
