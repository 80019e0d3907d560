// Facts of a case before anything is measured: the blank fact that every value starts from, and
// facts that say that a case failed or that a value is missing.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/launch_log.h"
#include "harness/cases/registry.h"
#include "metrics/budgets/budget.h"
#include "metrics/counting/device_fault.h"
#include "metrics/facts/catalog.h"
#include "metrics/facts/fact.h"

namespace warpgauge {

namespace metrics {
class CudaError;
}

/// The name with "_" in place of characters that an id must not contain.
std::string id_word(std::string_view name);

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

/// The fact of a case that could not be run to its end. `arch` is the architecture that ran it.
metrics::Fact error_fact(const Case& test_case, std::string reason, const std::string& arch = "");
/// The fact of a kernel's fault, blamed on its line.
metrics::Fact error_fact(const Case& test_case, const metrics::DeviceFault& fault,
                         const std::string& arch = "");
/// The fact of a CUDA error, blamed on the kernel's fault behind it, the last of `faults`, if there
/// is any.
metrics::Fact error_fact(const Case& test_case, const metrics::CudaError& error,
                         const std::vector<metrics::DeviceFault>& faults, const std::string& arch);

/// Reasons why counted kernels have no value of a metric.
inline constexpr std::string_view kOnlyEmulated =
    "no counter of a GPU has it; the emulator counts it";
inline constexpr std::string_view kNoSuchAccess = "the kernels made no such access";

/// `fact` with a metric and its value.
metrics::Fact with_value(metrics::Fact fact, std::string_view metric, metrics::Value value);

/// Hardware counters by their names (metrics::is_counter).
using Counters = std::vector<const metrics::Metric*>;

/// Unmeasured facts for the metrics of `source` that have a budget or are `asked` for and for which
/// `is_there` is false: a metric must never be missing in silence. `blank` has the case.
std::vector<metrics::Fact> unmeasured_facts(
    const std::function<bool(std::string_view metric)>& is_there, metrics::Source source,
    const metrics::Fact& blank, const std::string& reason, const metrics::Budgets& budgets,
    const Counters& asked = {});
/// The unmeasured facts for metrics that are not among `facts`.
std::vector<metrics::Fact> missing_facts(const std::vector<metrics::Fact>& facts,
                                         metrics::Source source, const metrics::Fact& blank,
                                         const std::string& reason, const metrics::Budgets& budgets,
                                         const Counters& asked = {});
/// missing_facts() for the metrics that CUPTI or the emulator counts.
std::vector<metrics::Fact> missing_counts(const std::vector<metrics::Fact>& facts,
                                          const metrics::Fact& blank, const std::string& reason,
                                          const metrics::Budgets& budgets);

}  // namespace warpgauge
