// Finds the launches of a case on an architecture that this machine lacks, with the emulated
// program beside this one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cases/launch_log.h"

namespace warpgauge {

/// The launches of the case `id` in a dry run on an emulated device of `arch`; nullopt where the
/// emulated program is missing or its dry run fails.
std::optional<std::vector<LaunchRecord>> emulated_launches(const std::string& id,
                                                           const std::string& arch);

}  // namespace warpgauge
