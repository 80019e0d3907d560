#include "harness/gate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
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
    isolated(cases_.size(), progress, nullptr, [this](std::size_t i) {
      const std::vector<LaunchRecord> launches = dry_launches(*cases_[i]);
      for (const std::string& arch : archs_) {
        write(static_facts(*cases_[i], launches, arch, PtxasTexts::of_this_build()));
      }
      return true;
    });
  }

  void measure_runs() {
    Progress progress("run-time facts", cases_.size());
    std::optional<Meter> meter;  // only ever filled in children
    isolated(
        cases_.size(), progress,
        [this, &meter] {
          meter.emplace(options_.use_cupti);
          if (meter->device()) writer_->set_device(*meter->device());
        },
        [this, &meter](std::size_t i) {
          write(meter->run(*cases_[i], budgets_.of(cases_[i]->id)));
          return !meter->broken();
        });
  }

  /// Times and hardware counters of the cases that ran well, all in one profiling session.
  void measure_bounded() {
    const std::vector<const Case*> cases = cases_that_ran();
    if (cases.empty()) return;
    Progress progress(fmt::format("times and hardware counters of {} cases", cases.size()), 1);
    IsolatedWork work = {.count = 1,
                         .time_limit = options_.time_limit * static_cast<int>(cases.size())};
    work.begin = [this] { open_writer(); };
    work.work = [&](std::size_t) {
      Meter meter(false);
      writer_->set_device(*meter.device());
      try {
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
  void isolated(std::size_t count, Progress& progress, std::function<void()> begin,
                const std::function<bool(std::size_t)>& measure) {
    IsolatedWork work = {.count = count, .time_limit = options_.time_limit};
    work.begin = [this, begin] {
      open_writer();
      if (begin) begin();
    };
    work.work = [this, &measure](std::size_t i) {
      try {
        return measure(i);
      } catch (const std::exception& error) {
        write({error_fact(*cases_[i], error.what())});
        return true;
      }
    };
    work.done = [&](std::size_t i) { progress.done(cases_[i]->id.str()); };
    work.died = [this](const Casualty& casualty) {
      open_writer();
      write({error_fact(*cases_[casualty.item], casualty.reason)});
    };
    run_isolated(work);
  }

  std::vector<const Case*> cases_that_ran() const {
    std::set<std::string> ran;
    for (const metrics::StoredFact& stored : metrics::read_facts(facts_path())) {
      const Fact& fact = stored.fact;
      if (fact.metric == "result.correct" && fact.verdict == metrics::Verdict::pass) {
        ran.insert(fact.id.str());
      }
    }
    std::vector<const Case*> cases;
    std::ranges::copy_if(cases_, std::back_inserter(cases),
                         [&](const Case* one) { return ran.contains(one->id.str()); });
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
