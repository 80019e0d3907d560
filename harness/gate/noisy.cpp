// Measures times and hardware counters, many cases in one profiling session.
#include "harness/gate/noisy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <set>
#include <string>
#include <utility>

#include "harness/measuring/blank_facts.h"
#include "harness/measuring/case_runner.h"
#include "harness/measuring/hardware_counter_facts.h"
#include "harness/measuring/missing_facts.h"
#include "harness/runtime.h"
#include "metrics/cupti/cupti.h"

namespace warpgauge::gate {
namespace {

/// Measures sessions of cases in a child process.
class NoisyRuns {
 public:
  NoisyRuns(const Plan& plan, FactLog& log) : plan_(plan), log_(log) {}

  /// Plans the counters of all cases together. Throws metrics::Unmeasured.
  void prepare() {
    const CaseRunner runner(false);
    arch_ = runner.arch();
    device_ = runner.device().value();
    device_.chip = chip_name();
    Cases cases = existing_on(arch_, plan_.cases);
    std::erase_if(cases, [](const Case* planned) { return !planned->counted; });
    session_ = std::make_unique<CounterSession>(cases, [this](const Case& measured) {
      return counters_of(measured, arch_, plan_.budgets.of(measured.id), plan_.options.counters);
    });
  }

  process::ItemEnd measure(const Cases& cases, bool is_again) {
    try {
      if (!session_) prepare();
      log_.add_device(device_);
      log_.write(session_->facts(cases, arch_, device_.name));
    } catch (const metrics::Unmeasured& unmeasured) {
      // This process was there while others used the GPU, and their faults can break its context.
      const bool is_lost = is_gpu_lost();
      if (!is_again && is_lost) return process::ItemEnd::again;
      fmt::print(stderr, "no times and hardware counters: {}\n", unmeasured.what());
      for (const Case* measured : cases) {
        log_.write(missing_facts({}, metrics::Source::range, unmeasured.what(),
                                 {blank_fact(*measured, arch_), plan_.budgets.of(measured->id),
                                  plan_.options.counters}));
      }
      if (is_lost) return process::ItemEnd::done_with_last;
    }
    return process::ItemEnd::done;
  }

 private:
  const Plan& plan_;
  FactLog& log_;
  std::string arch_;
  metrics::Device device_;
  std::unique_ptr<CounterSession> session_;
};

/// A profiling session costs as much as many cases.
std::vector<Cases> sessions_of(const Cases& cases) {
  constexpr std::size_t kCasesInOne = 2048;
  std::vector<Cases> sessions;
  for (std::size_t i = 0; i < cases.size(); i += kCasesInOne) {
    const auto first = cases.begin() + static_cast<std::ptrdiff_t>(i);
    sessions.emplace_back(first,
                          first + std::min<std::ptrdiff_t>(kCasesInOne, cases.end() - first));
  }
  return sessions;
}

}  // namespace

std::unique_ptr<CaseJob> start_noisy(const Plan& plan, FactLog& log) {
  const auto runs = std::make_shared<NoisyRuns>(plan, log);
  CaseWork work = {.items = sessions_of(plan.cases), .time_limit = plan.options.time_limit};
  work.begin = [runs] {
    try {
      runs->prepare();  // it takes a while, and nothing waits for it yet
    } catch (const std::exception&) {
      // An item will try again, and say what is wrong.
    }
  };
  work.measure = [runs](const Cases& cases, bool is_again) {
    return runs->measure(cases, is_again);
  };
  // Only one process at a time may use an exclusive GPU.
  const std::size_t early = plan.gpu.is_exclusive ? 0 : 1;
  return std::make_unique<CaseJob>(std::move(work), log, plan.budgets, early);
}

void measure_noisy(const Plan& plan, FactLog& log, CaseJob& started) {
  Cases passed = log.by_result(plan.cases, [](const std::set<metrics::Verdict>& results) {
    return results.contains(metrics::Verdict::pass);
  });
  std::erase_if(passed, [](const Case* planned) { return !planned->counted; });
  started.only(passed);
  started.finish("times and hardware counters", 1);
}

}  // namespace warpgauge::gate
