// The counts of an attached program's processes, by kernel.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/attach/attached_process.h"
#include "harness/programs/program_case.h"

namespace warpgauge::attach {

inline constexpr programs::Counter kCounter{.command = "attach",
                                            .kind = metrics::CaseKind::attached,
                                            .source = "cupti",
                                            .compile = "cubin"};

/// The kernels of all processes, by model of GPU. `folder` has the cubins.
std::vector<programs::CountedKernel> attached_kernels(const std::vector<AttachedProcess>& processes,
                                                      const std::filesystem::path& folder);

}  // namespace warpgauge::attach
