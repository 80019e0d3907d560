// The self test of a gate: two canaries with a planted defect each, which must turn red before
// anything may be called green. They go through the same code as every case (Case, then
// static_facts or CaseRunner, then the judge), but are in no registry: no list, filter or result
// shows them.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/registry.h"
#include "harness/measuring/case_runner.h"
#include "metrics/facts/fact.h"

namespace warpgauge {

/// A planted defect was missed. what() says which and what was there instead.
class SelfTestError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A kernel that writes the columns of a tile of 32 x 32 words without padding: 32 stores of a
/// warp, each to 32 words of one bank.
const Case& planted_bank_conflict();
/// The bank conflicts of planted_bank_conflict() in wavefronts: 32 instead of 1 in each of 32
/// stores.
inline constexpr double kPlantedBankConflicts = 32 * (32 - 1);

/// A kernel with more live values than a thread has registers.
const Case& planted_spill();

/// The facts of a canary, judged by the built-in budgets: `meter` counts the bank conflict, the
/// compiler reports the spill for `arch`. Throw what CaseRunner::run and static_facts throw.
std::vector<metrics::Fact> planted_bank_conflict_facts(CaseRunner& meter);
std::vector<metrics::Fact> planted_spill_facts(const std::string& arch);

/// Why the planted bank conflict could not be counted; empty if it was, and the gate would have
/// blocked it: verdict, number of wavefronts and line are right. Throws SelfTestError.
std::string check_planted_bank_conflict(const std::vector<metrics::Fact>& facts);

/// Throws SelfTestError unless the facts say that stores of spills are over budget on `arch`.
void check_planted_spill(const std::vector<metrics::Fact>& facts, const std::string& arch);

struct SelfTestOptions {
  std::vector<std::string> archs;           ///< architectures of compile-time facts
  std::vector<std::string> emulated_archs;  ///< architectures that kernels run as; empty on a GPU
  bool use_counters = true;                 ///< see CaseRunner
  std::chrono::seconds time_limit{60};      ///< for each run of a kernel
};

/// The result of a self test that passed.
struct SelfTestResult {
  std::string text;  ///< a line with the caught defects, and with what cannot be counted here
  std::string not_counted;  ///< why nothing can be counted here; empty if it can
};

/// Runs both canaries, kernels in a child process. Throws SelfTestError, also if a canary cannot be
/// run where it should.
SelfTestResult run_self_test(const SelfTestOptions& options);

/// True if the file is the source of the planted defects.
bool is_of_self_test(std::string_view file);

}  // namespace warpgauge
