// Facts of a case, apart from what a run counts: what every value of it says, that it failed, and
// that something was not measured.
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

/// A name with "_" for each character that an id must not contain.
std::string id_word(std::string_view name);

/// The launch with the clusters that the kernel's code for `arch` is made for (__cluster_dims__),
/// where it asks for none itself.
LaunchRecord as_compiled(LaunchRecord record, const std::string& arch);

/// A fact of the case without metric and value, blamed on the registration.
metrics::Fact blank_fact(const Case& one, const std::string& arch);

/// The same with all kernels that the case launches, the hashes of their machine code and sources,
/// the hash of code and launches, and the name of the device that runs it (empty: compile time).
metrics::Fact launched_fact(const Case& one, const std::vector<LaunchRecord>& launches,
                            const std::string& arch, const std::string& device);

/// The hash of the machine code and the launches of kernels; empty where code is not known.
std::string code_hash(const std::vector<metrics::Kernel>& kernels);

/// `fact` with the blame put on a line of a kernel; code without line information leaves it where
/// it was.
metrics::Fact blamed_on(metrics::Fact fact, const std::string& kernel,
                        const metrics::SourceLine& line);

/// The fact that says that a case could not be run to its end; `arch` where it was run.
metrics::Fact error_fact(const Case& one, std::string reason, const std::string& arch = "");
/// The same of a kernel's fault, blamed on its line.
metrics::Fact error_fact(const Case& one, const metrics::DeviceFault& fault,
                         const std::string& arch = "");
/// The same of an error of CUDA, and of the fault behind it, the last of take_faults(), if there is
/// one.
metrics::Fact error_fact(const Case& one, const metrics::CudaError& error,
                         const std::vector<metrics::DeviceFault>& faults, const std::string& arch);

/// Why counted kernels have no value of a metric.
inline constexpr std::string_view kOnlyEmulated =
    "no counter of a GPU has it; the emulator counts it";
inline constexpr std::string_view kNoSuchAccess = "the kernels made no such access";

/// `fact` with a metric and its value.
metrics::Fact with_value(metrics::Fact fact, std::string_view metric, metrics::Value value);

/// Hardware counters by their names (metrics::is_counter).
using Counters = std::vector<const metrics::Metric*>;

/// The metrics of `source` that have a budget, or are `asked` for, and `is_there` does not know, as
/// unmeasured facts: they must never be missing in silence. `blank` has the case.
std::vector<metrics::Fact> unmeasured_facts(
    const std::function<bool(std::string_view metric)>& is_there, metrics::Source source,
    const metrics::Fact& blank, const std::string& reason, const metrics::Budgets& budgets,
    const Counters& asked = {});
/// Those that are not among `facts`.
std::vector<metrics::Fact> missing_facts(const std::vector<metrics::Fact>& facts,
                                         metrics::Source source, const metrics::Fact& blank,
                                         const std::string& reason, const metrics::Budgets& budgets,
                                         const Counters& asked = {});
/// The same of all that is counted, on a GPU or by the emulator.
std::vector<metrics::Fact> missing_counts(const std::vector<metrics::Fact>& facts,
                                          const metrics::Fact& blank, const std::string& reason,
                                          const metrics::Budgets& budgets);

}  // namespace warpgauge
