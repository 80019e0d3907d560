// The result of a launch: counts by PTX instruction.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/emulator/machine/core/access_totals.h"
#include "harness/emulator/machine/core/device_work.h"
#include "harness/emulator/machine/core/instruction_record.h"
#include "metrics/base/source_line.h"

namespace warpgauge::emulator::machine {

struct Code;

struct InstructionTotals {
  int text_line = 0;                            ///< of the PTX text
  const metrics::SourceLine* source = nullptr;  ///< its file is empty if it is unknown
  AccessTotals access;                          ///< cp.async has two: shared and global_load
};

/// A branch and the ways that warps went there. A warp whose lanes are apart comes several times.
struct BranchTotals {
  int text_line = 0;                            ///< of the PTX text
  const metrics::SourceLine* source = nullptr;  ///< its file is empty if it is unknown
  std::uint64_t divided = 0;                    ///< times that lanes of a warp parted
  /// Only of watched branches: times that a warp came, and that lanes of it took the branch.
  std::uint64_t warps = 0, taken = 0;
  /// Only of watched branches: groups of 8 lanes with some that came, that took it, and that did
  /// not.
  std::uint64_t lane_groups = 0, taken_groups = 0, untaken_groups = 0;
};

/// Executions of an instruction. A warp whose lanes have diverged executes it several times.
struct InstructionHits {
  std::uint64_t warps = 0, lanes = 0;              ///< that executed it
  std::uint64_t guard_held = 0, guard_failed = 0;  ///< warps with lanes whose guard did so
};

/// The hits of a function of a launched kernel, by position in its body.
struct FunctionHits {
  const Code* code = nullptr;  ///< lives as long as the kernel
  std::vector<InstructionHits> hits;
};

struct LaunchOutcome {
  std::shared_ptr<const void> sources;  ///< holds what the members `source` of the others point to
  std::uint64_t warp_instructions = 0;
  std::uint64_t warps = 0;             ///< the grid's
  std::uint64_t lane_groups = 0;       ///< groups of 8 lanes, in these warps
  bool has_partial_warps = false;      ///< the last ones of the blocks lack lanes
  std::vector<BranchTotals> branches;  ///< where warps divided, and watched ones that they came to
  std::vector<InstructionTotals> totals;  ///< instructions that were executed and access memory
  /// The records of those of them that access shared or global memory.
  std::vector<InstructionRecord> records;
  std::vector<DeviceWork> work;  ///< to be done in this order before the launch is complete
};

}  // namespace warpgauge::emulator::machine
