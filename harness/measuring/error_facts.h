// The facts of a case that failed.
#pragma once

#include <string>
#include <vector>

#include "harness/cases/registry.h"
#include "metrics/counting/device_fault.h"
#include "metrics/facts/fact.h"

namespace warpgauge {

namespace metrics {
class CudaError;
}

/// The fact of a case that could not be run to its end. `arch` is the architecture that ran it.
metrics::Fact error_fact(const Case& test_case, std::string reason, const std::string& arch = "");

/// The cure of a wrong result on the emulator where no check looked for races.
inline constexpr const char* kLookForRaces =
    "If nothing else explains it, look for races: --check races,uninitialised";
/// The fact of a kernel's fault, blamed on its line.
metrics::Fact error_fact(const Case& test_case, const metrics::DeviceFault& fault,
                         const std::string& arch = "");
/// The fact of a CUDA error, blamed on the kernel's fault behind it, the last of `faults`, if there
/// is any.
metrics::Fact error_fact(const Case& test_case, const metrics::CudaError& error,
                         const std::vector<metrics::DeviceFault>& faults, const std::string& arch);

}  // namespace warpgauge
