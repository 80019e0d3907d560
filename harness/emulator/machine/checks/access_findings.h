// The texts of what the history of accesses finds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/emulator/machine/checks/earlier_launches.h"
#include "harness/emulator/machine/checks/findings.h"
#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/core/act.h"
#include "harness/emulator/machine/core/lanes.h"
#include "harness/emulator/machine/core/scope.h"
#include "harness/emulator/machine/core/window.h"

namespace warpgauge::emulator::machine::checks {

/// An access that was made before. `counter` is that of its instruction.
struct EarlierAccess {
  std::uint64_t block = 0;
  std::uint32_t thread = 0;  ///< in its block
  std::uint64_t counter = 0;
  bool wrote = false;
  bool in_flight = false;                 ///< cp.async that its thread has not waited for
  const EarlierLaunch* launch = nullptr;  ///< whose it is; nullptr: the same as the later one
  bool until_wait = false;                ///< a griddepcontrol.wait would order it
  Scope scope = Scope::grid;  ///< of two strong ones the narrower scope, if one is left out by it
  std::optional<std::uint32_t> unfenced_read;  ///< a fence behind this instruction would order it
};

/// An access of one lane.
struct LaneAccess {
  const Act& act;
  const Access& access;
  Window window;
  std::uint64_t address;
};

/// "f.cu:12": the instruction with this counter.
std::string place_of_counter(const KernelCode& kernel, std::uint64_t counter);
/// Whether it is a cp.async.
bool is_async_copy(const KernelCode& kernel, std::uint64_t counter);
/// Whether it is volatile.
bool is_volatile_access(const KernelCode& kernel, std::uint64_t counter);
Scope scope_of_access(const KernelCode& kernel, std::uint64_t counter);

/// The access races with an earlier one of its block, or (global memory) of another or of another
/// launch.
void report_race(Findings& findings, const LaneAccess& access, const EarlierAccess& earlier);
void report_unwritten(Findings& findings, const LaneAccess& access);
/// A read-only load (ld.global.nc) of what the instruction of a counter has written in this launch.
void report_read_only(Findings& findings, const LaneAccess& access, std::uint64_t counter);
/// Thread `other`, of the same warp, stores another value to the word.
void report_stores(Findings& findings, const LaneAccess& access, std::uint32_t other);
/// The lane takes a value from lane `from`, which does not take part.
void report_shuffle(Findings& findings, const Act& act, int from);
/// The lane executes an instruction whose member mask does not name it.
void report_mask(Findings& findings, const Act& act, Mask members);
/// Lanes of a warp come to the barrier, for which others of it wait in another place.
void report_parted_barrier(Findings& findings, const Act& act, std::uint32_t number, Mask lanes,
                           Mask others, const std::string& place);
/// Threads come to the barrier with one number of threads, and others came with another.
void report_barrier_counts(Findings& findings, const Act& act, std::uint32_t number,
                           std::uint32_t threads, std::uint32_t before);

}  // namespace warpgauge::emulator::machine::checks
