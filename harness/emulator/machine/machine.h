// The machine: loads PTX modules and runs their kernels. The emulator's CUDA
// runtime is built on it; it does not use CUDA's host interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "harness/emulator/machine/core/access_plan.h"
#include "harness/emulator/machine/core/architecture.h"
#include "harness/emulator/machine/core/elsewhere.h"
#include "harness/emulator/machine/core/finding.h"
#include "harness/emulator/machine/core/launch.h"
#include "harness/emulator/machine/core/options.h"
#include "harness/emulator/machine/core/outcome.h"
#include "harness/emulator/machine/core/symbol.h"

namespace warpgauge::emulator::ptx {
struct Module;
}  // namespace warpgauge::emulator::ptx

namespace warpgauge::emulator::machine {

namespace memory {
class Memory;
}

/// A loaded module.
class Program;
/// A kernel of one.
class Kernel;
/// A launch that has begun: launcher.h.
class LaunchRun;

class Machine {
 public:
  Machine(Architecture architecture, Options options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  memory::Memory& memory();
  Options& options();  ///< may be changed between launches
  const Architecture& architecture() const;

  /// Loads a module: its variables get memory and their initial values. Functions are decoded when
  /// they are first launched. Throws ptx::PtxError for a module that makes no sense.
  Program& load(ptx::Module module);

  /// Frees its variables. Nothing of it may be running; kernels of it are no more.
  void unload(Program& program);

  /// nullptr if the program has no such kernel.
  Kernel* find_kernel(Program& program, std::string_view name);
  const KernelInfo& info(const Kernel& kernel) const;
  /// How its accesses count. Throws std::logic_error after its first launch.
  void set_access_plans(Kernel& kernel, AccessPlans plans);

  /// A module variable. Its address is nullptr if there is none of that name.
  Symbol find_symbol(Program& program, std::string_view name);

  /// Runs the kernel to its end. Throws Fault, and std::invalid_argument for a launch that no GPU
  /// of this architecture would take (too many threads, too much shared memory: the runtime has
  /// checked that before).
  LaunchOutcome run(Kernel& kernel, const Launch& launch);
  /// Tries barriers for the findings of a launch that has just ended: barrier_trial.h.
  void try_barriers(Kernel& kernel, const Launch& launch, const Elsewhere& elsewhere,
                    std::vector<Finding>& findings);
  /// Decodes a kernel, which its first launch does else. Throws ptx::PtxError.
  void prepare(Kernel& kernel);
  /// Begins a launch that runs in parts, and in the usual order of warps and blocks only. One at a
  /// time; what `launch` refers to must live as long.
  std::unique_ptr<LaunchRun> begin(Kernel& kernel, const Launch& launch);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpgauge::emulator::machine
