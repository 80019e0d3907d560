#include "harness/gate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>

#include "harness/family_budgets.h"
#include "harness/isolate.h"
#include "harness/progress.h"
#include "harness/provenance.h"
#include "harness/run_facts.h"
#include "harness/static_facts.h"
#include "harness/summary_text.h"
#include "metrics/judge.h"
#include "metrics/nearest.h"

namespace warpgauge {
namespace {

namespace fs = std::filesystem;
using metrics::Fact;

/// Throws if one of `wanted` was not compiled for.
std::vector<std::string> chosen_archs(const std::vector<std::string>& wanted) {
  const std::vector<std::string>& built = PtxasTexts::of_this_build().archs();
  for (const std::string& arch : wanted) {
    if (std::ranges::find(built, arch) != built.end()) continue;
    throw std::invalid_argument(
        fmt::format("--arch {}: the kernels were not compiled for it{}; this build has {}", arch,
                    metrics::did_you_mean(arch, built), fmt::join(built, " ")));
  }
  return wanted.empty() ? built : wanted;
}

/// One run of the gate. The parent process never touches CUDA: its children do.
class Gate {
 public:
  explicit Gate(const GateOptions& options)
      : options_(options),
        budgets_(Registry::instance()),
        archs_(chosen_archs(options.archs)),
        cases_(Registry::instance().select(options.filter)),
        run_(start_run()),
        today_(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())) {
    if (cases_.empty()) {
      throw std::invalid_argument(fmt::format(
          "--filter '{}' selects no case; `warpgauge list` shows all", options.filter));
    }
    fs::create_directories(options_.out);
    fs::remove(facts_path());  // of an earlier run: the folder describes the last one
  }

  void measure_static() {
    Progress progress(fmt::format("compile-time facts, {} architectures", archs_.size()),
                      cases_.size());
    isolated(cases_, progress, nullptr, [this](const Case& one) {
      const std::vector<LaunchRecord> launches = dry_launches(one);
      for (const std::string& arch : archs_) {
        write(static_facts(one, launches, arch, PtxasTexts::of_this_build()));
      }
      return true;
    });
  }

  /// Of the cases that launch something: the others have their error already.
  void measure_runs() {
    using enum metrics::Verdict;
    const std::vector<const Case*> cases = cases_by_result(
        [](const std::set<metrics::Verdict>& results) { return !results.contains(error); });
    Progress progress("run-time facts", cases.size());
    std::optional<Meter> meter;  // only ever filled in children
    isolated(
        cases, progress,
        [this, &meter] {
          meter.emplace(options_.use_cupti);
          if (meter->device()) writer_->set_device(*meter->device());
        },
        [this, &meter](const Case& one) {
          write(meter->run(one, budgets_.of(one.id)));
          return !meter->broken();
        });
  }

  /// Times and hardware counters of the cases that ran well, all in one profiling session.
  void measure_bounded() {
    using enum metrics::Verdict;
    const std::vector<const Case*> cases = cases_by_result(
        [](const std::set<metrics::Verdict>& results) { return results.contains(pass); });
    if (cases.empty()) return;
    Progress progress(fmt::format("times and hardware counters of {} cases", cases.size()), 1);
    IsolatedWork work = {.count = 1,
                         .time_limit = options_.time_limit * static_cast<int>(cases.size())};
    work.begin = [this] { open_writer(); };
    work.work = [&](std::size_t) {
      const Meter meter(false);  // exact counting patches kernels, which would disturb the counters
      try {
        metrics::Device device = meter.device().value();
        device.chip = metrics::current_chip();
        writer_->set_device(device);
        write(bounded_facts(cases, meter.arch()));
      } catch (const metrics::Unmeasured& unmeasured) {
        fmt::print(stderr, "[gate] no times and hardware counters: {}\n", unmeasured.what());
      }
      return true;
    };
    work.done = [&](std::size_t) { progress.done(""); };
    work.died = [](const Casualty& casualty) {
      fmt::print(stderr, "[gate] no times and hardware counters: {}\n", casualty.reason);
    };
    run_isolated(work);
  }

  ExitCode report() const {
    const std::vector<metrics::StoredFact> facts = metrics::read_facts(facts_path());
    const Summary summary(facts);
    const bool colour = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
    fmt::print("{}", terminal_text(summary, options_.demands, colour));
    const metrics::Run& run = facts.empty() ? run_ : facts.back().run;
    const fs::path path = options_.out / "summary.md", half = options_.out / ".summary.md";
    std::ofstream stream(half);
    stream << markdown_text(summary, options_.demands, run);
    stream.close();
    if (!stream) throw std::runtime_error(half.string() + ": cannot be written");
    fs::rename(half, path);
    fmt::print("facts: {}\nsummary: {}\n", facts_path().string(), path.string());
    return summary.exit_code(options_.demands);
  }

 private:
  fs::path facts_path() const { return options_.out / "facts.jsonl"; }
  void open_writer() { writer_ = std::make_unique<metrics::FactWriter>(facts_path(), run_); }

  void write(std::vector<Fact> facts) {
    for (Fact& fact : facts) {
      metrics::judge(fact, budgets_.of(fact.id), today_);
      writer_->write(fact);
    }
  }

  /// Works through the cases; what kills a child becomes an error of its case.
  void isolated(const std::vector<const Case*>& cases, Progress& progress,
                const std::function<void()>& begin,
                const std::function<bool(const Case&)>& measure) {
    IsolatedWork work = {.count = cases.size(), .time_limit = options_.time_limit};
    work.begin = [&] {
      open_writer();
      if (begin) begin();
    };
    work.work = [&](std::size_t i) {
      try {
        return measure(*cases[i]);
      } catch (const std::exception& error) {
        write({error_fact(*cases[i], error.what())});
        return true;
      }
    };
    work.done = [&](std::size_t i) { progress.done(cases[i]->id.str()); };
    work.died = [&](const Casualty& casualty) {
      open_writer();
      write({error_fact(*cases[casualty.item], casualty.reason)});
    };
    run_isolated(work);
  }

  /// The cases of which `wanted` holds, given the verdicts on their results so far.
  std::vector<const Case*> cases_by_result(
      const std::function<bool(const std::set<metrics::Verdict>&)>& wanted) const {
    std::map<std::string, std::set<metrics::Verdict>> results;
    for (const metrics::StoredFact& stored : metrics::read_facts(facts_path())) {
      const Fact& fact = stored.fact;
      if (fact.metric == "result.correct") results[fact.id.str()].insert(fact.verdict);
    }
    std::vector<const Case*> cases;
    std::ranges::copy_if(cases_, std::back_inserter(cases),
                         [&](const Case* one) { return wanted(results[one->id.str()]); });
    return cases;
  }

  const GateOptions& options_;
  FamilyBudgets budgets_;
  std::vector<std::string> archs_;
  std::vector<const Case*> cases_;
  metrics::Run run_;
  std::chrono::year_month_day today_;
  std::unique_ptr<metrics::FactWriter> writer_;  // of this process
};

}  // namespace

ExitCode run_gate(const GateOptions& options) {
  Gate gate(options);
  gate.measure_static();
  gate.measure_runs();
  if (options.use_cupti && options.bounded) gate.measure_bounded();
  return gate.report();
}

}  // namespace warpgauge
