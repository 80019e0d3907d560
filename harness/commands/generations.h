// What each compute capability brought, and what it allows: a table for people.
#pragma once

#include <string>

namespace warpgauge {

/// The compute capabilities that occupancy is known of, with their limits and what was new in them.
std::string describe_generations();

/// What the runtime does with the calls that configured the shared memory and the L1 cache of old
/// GPUs: each is made on the current device, and its status and effect are told. Says so where
/// there is no device.
std::string describe_shared_configuration();

}  // namespace warpgauge
