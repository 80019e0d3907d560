// Runs a launch in several orders of its warps and blocks.
#pragma once

#include "harness/emulator/machine/launcher.h"

namespace warpgauge::emulator::machine {

/// The launch in the usual order, whose effects stay, and in Options::schedules other ones, each
/// from the same contents of memory. Findings tell what depends on the order: what the launch
/// leaves in memory, what its accesses count, and faults.
LaunchOutcome run_in_orders(const Kernel& kernel, const Launch& launch, const LaunchHost& host);

}  // namespace warpgauge::emulator::machine
