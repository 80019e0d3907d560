// The oracle's answer: how the accesses of a kernel count, and how far that can be trusted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/machine/core/access_plan.h"
#include "metrics/base/source_line.h"
#include "metrics/machine_code/sass.h"

namespace warpgauge::emulator::counting {

/// An access of the machine code that no instruction of the PTX explains: spilled registers,
/// registers saved around calls.
struct ExtraAccess {
  std::optional<metrics::SourceLine> source;
  metrics::MemoryInstruction instruction;
  std::string reason;
  bool is_spill = false;    ///< at one place in all lanes
  std::vector<int> beside;  ///< accesses of the PTX that it executes with, by line, and no others
};

/// How a kernel's accesses count, and how far that can be trusted.
struct OracleAnswer {
  machine::AccessPlans plans;
  KernelTrust trust;  ///< an entry for each access of the PTX
  std::vector<ExtraAccess> extras;
};

}  // namespace warpgauge::emulator::counting
