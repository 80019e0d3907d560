// The table of architectures, and the calls that configured old GPUs, for people.
#pragma once

#include <string>

namespace warpgauge::commands {

/// The architectures with their limits and new features.
std::string describe_generations();

/// All architectures since 1.0, with the toolkits that compile for them, the limits that changed,
/// and what each brought.
std::string describe_history();

/// Makes the calls that configured the shared memory and the L1 cache of old GPUs on the current
/// device and one of its kernels, and returns the status and effect of each. Says so where there is
/// no device.
std::string describe_shared_configuration();

}  // namespace warpgauge::commands
