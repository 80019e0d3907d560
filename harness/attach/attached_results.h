// The results that the processes of an attached program leave in a folder.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/attach/attached_process.h"

namespace warpgauge::attach {

/// The results of all processes that loaded the injected library, each with a warning for launches
/// that it made after its result was written. Throws what parse_attached() throws.
std::vector<AttachedProcess> results_in(const std::filesystem::path& folder);

/// The kernels that the programs waited for until they were ended (WaitLimit).
std::vector<std::string> endless_kernels_in(const std::filesystem::path& folder);

}  // namespace warpgauge::attach
