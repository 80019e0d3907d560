// Compile-time facts: registers, spills, stack, shared memory, occupancy; for every architecture of
// the build, without a GPU.
#pragma once

#include <string>
#include <vector>

#include "harness/cases/built_architectures.h"
#include "harness/cases/launch_log.h"
#include "harness/cases/registry.h"
#include "metrics/facts/fact.h"
#include "metrics/machine_code/kernel_values.h"

namespace warpgauge {

/// The launches of a case, found by a dry run. Throws std::runtime_error if it launches a grid or
/// block of nothing, or no kernel unless it may.
std::vector<LaunchRecord> dry_launches(const Case& test_case, bool may_launch_none = false);

/// The launches of a case on `arch`: as dry_launches(), and where a dry run fails because it needs
/// a device, as of the emulated program. Throws what dry_launches() throws if both fail.
std::vector<LaunchRecord> launches_on(const Case& test_case, const std::string& arch);

/// The compile-time facts of a case on `arch`, not yet judged: for each metric the value of the
/// worst of its kernels, blamed on the line of the first spill or else on the registration. They
/// are read from the machine code in this program. Throws NoMachineCode for a kernel that has none
/// there, or none with line tables, or of whose name there are several that differ.
std::vector<metrics::Fact> static_facts(const Case& test_case,
                                        const std::vector<LaunchRecord>& launches,
                                        const std::string& arch);

/// The values of a kernel that is in several cubins, as a template of several sources is: those of
/// the first, with the constants of the module that has most. Throws NoMachineCode where other
/// values differ.
metrics::KernelValues same_values(std::vector<metrics::KernelValues> copies,
                                  const std::string& kernel, const std::string& arch);

}  // namespace warpgauge
