// The doctor's checks of the GPU, its driver and the code for it. None runs a kernel.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/doctor/host_probe.h"
#include "harness/doctor/precondition.h"
#include "metrics/cupti/nvml.h"

namespace warpgauge::doctor {

/// Ids of the findings of look_at_gpu(), in its order.
inline constexpr std::string_view kGpuFindings[] = {id::kGpu, id::kDriver, id::kArchitectures,
                                                    "MIG",    "clocks",    "other processes"};

/// Asks CUDA and NVML about the current GPU; makes no context. "GPU" is ok if one can be used, a
/// warning if there is none, and a failure if it cannot be used. Errors of CUDA become
/// preconditions that failed, but a broken driver may hang or crash here.
std::vector<Precondition> look_at_gpu(const HostProbe& here);

/// Compares CUDA versions in the runtime's form (13000 for 13.0): the newest that the driver
/// supports (0 without a driver) and the toolkit of this build. `version` of the driver:
/// "580.159.04".
Precondition check_driver(int supported, int built, const std::string& version);

/// Does this program hold code for a GPU of `arch` ("sm_90"), and of which kind? `cubins` and `ptx`
/// are the architectures of its machine code and of its PTX. Without a GPU `arch` is empty.
Precondition check_architectures(std::span<const std::string> cubins,
                                 std::span<const std::string> ptx, const std::string& arch);

/// The findings "MIG", "clocks" and "other processes". `state` is from before this process had a
/// context, so its processes are others.
std::vector<Precondition> check_state(const metrics::GpuState& state);

}  // namespace warpgauge::doctor
