// The facts of a case before anything is measured: the blank fact that every value starts from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/launch_log.h"
#include "harness/cases/registry.h"
#include "metrics/base/source_line.h"
#include "metrics/facts/fact.h"

namespace warpgauge {

/// The launch with the kernel's cluster size for `arch` (__cluster_dims__), if the launch sets
/// none.
LaunchRecord as_compiled(LaunchRecord record, const std::string& arch);

/// A fact of the case without metric and value, blamed on the registration.
metrics::Fact blank_fact(const Case& test_case, const std::string& arch);

/// A blank fact with the kernels that the case launches, the hashes of their machine code and
/// sources, the hash of code and launches, and the name of the device (empty: compile time).
metrics::Fact launched_fact(const Case& test_case, const std::vector<LaunchRecord>& launches,
                            const std::string& arch, const std::string& device);

/// The hash of the machine code and the launches of kernels; empty where any code is not known.
std::string code_hash(const std::vector<metrics::Kernel>& kernels);

/// `fact` blamed on a line of a kernel. A line without file keeps the blame where it was.
metrics::Fact blamed_on(metrics::Fact fact, const std::string& kernel,
                        const metrics::SourceLine& line);

/// `fact` with a metric and its value.
metrics::Fact with_value(metrics::Fact fact, std::string_view metric, metrics::Value value);

}  // namespace warpgauge
