// Where the addresses of a kernel's accesses to global memory come from.
#pragma once

#include "harness/emulator/machine/core/pointers.h"
#include "harness/emulator/machine/program.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::decode {

/// Follows parameters and variables to the addresses of the kernel's loads and stores, whatever way
/// the threads go. `scope`: the functions that it may reach.
Pointers pointers_of(const ptx::Function& kernel, const KernelScope& scope, const Program& program);

}  // namespace warpgauge::emulator::machine::decode
