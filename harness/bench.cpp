#include "harness/bench.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/bench_tables.h"
#include "harness/devices.h"
#include "harness/family_budgets.h"
#include "harness/provenance.h"
#include "harness/run_facts.h"
#include "harness/summary_text.h"
#include "harness/write_file.h"
#include "metrics/judge.h"

namespace warpgauge {
namespace {

namespace fs = std::filesystem;

/// The selected cases, each yardstick in front of the first case that is held against it.
std::vector<const Case*> with_yardsticks(const std::vector<const Case*>& selected) {
  std::vector<const Case*> cases;
  const auto add = [&](const Case* one) {
    if (one != nullptr && std::ranges::find(cases, one) == cases.end()) cases.push_back(one);
  };
  for (const Case* one : selected) {
    add(Registry::instance().yardstick_of(*one));
    add(one);
  }
  return cases;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

class Bench {
 public:
  explicit Bench(const BenchOptions& options)
      : options_(options),
        budgets_(Registry::instance()),
        cases_(with_yardsticks(Registry::instance().select(options.filter, options.large))),
        run_(start_run()),
        today_(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())) {}

  ExitCode run() {
    std::string why;
    run_.device = current_device(&why);
    if (!run_.device) {
      fmt::print(stderr,
                 "times need a GPU: {}\nwarpgauge-bench-emulated runs the cases without one; its "
                 "times say nothing about a GPU\n",
                 why);
      return kNotMeasured;
    }
    if (!options_.facts.empty()) {
      writer_ = std::make_unique<metrics::FactWriter>(options_.facts, run_);
    }
    peak_ = peak_bytes_per_second();
    for (const Case* one : cases_) {
      benchmark::RegisterBenchmark(one->id.str().c_str(),
                                   [this, one](benchmark::State& state) { time(*one, state); })
          ->UseManualTime()
          ->Iterations(options_.samples)
          ->Unit(benchmark::kMicrosecond);
    }
    benchmark::RunSpecifiedBenchmarks();
    if (timings_.empty() && exit_code_ == kWithinBudget) {
      throw std::invalid_argument("--benchmark_filter selects no case; `warpgauge list` shows all");
    }
    if (!options_.tables.empty()) write_tables();
    return exit_code_;
  }

 private:
  void time(const Case& one, benchmark::State& state) {
    try {
      Stopwatch watch(one, options_.cache);
      watch.time_us();  // the first run of a kernel loads its code
      std::vector<double> times;
      for ([[maybe_unused]] auto _ : state) {
        times.push_back(watch.time_us());
        state.SetIterationTime(times.back() * 1e-6);
      }
      const Timing timing = timing_of(one, watch, median(times));
      show(timing, state);
      judge(one, timing);
      timings_.push_back(timing);
    } catch (const std::exception& error) {
      state.SkipWithError(error.what());
      exit_code_ = kFault;
    }
  }

  Timing timing_of(const Case& one, const Stopwatch& watch, double median_us) const {
    const double seconds = median_us * 1e-6;
    Timing timing{.id = one.id,
                  .median_us = median_us,
                  .bytes_per_second = watch.problem().bytes() / seconds,
                  .flops_per_second = watch.problem().flops() / seconds,
                  .check_ms = watch.check_ms()};
    if (peak_ > 0 && one.counted) timing.percent_of_peak = 100 * timing.bytes_per_second / peak_;
    if (const Errors& errors = watch.errors(); errors.count > 0) {
      timing.max_error = errors.max_scaled;
      timing.mean_absolute_error = errors.mean_absolute();
      timing.mean_relative_error = errors.mean_relative();
    }
    if (const Case* yardstick = Registry::instance().yardstick_of(one)) {
      const auto known = std::ranges::find(timings_, yardstick->id, &Timing::id);
      timing.yardstick = one.yardstick;
      if (known != timings_.end()) timing.relative_to = known->median_us / median_us;
    }
    return timing;
  }

  static void show(const Timing& timing, benchmark::State& state) {
    using benchmark::Counter;
    state.counters["median_us"] = timing.median_us;
    state.counters["bytes_per_second"] =
        Counter(timing.bytes_per_second, Counter::kDefaults, Counter::kIs1000);
    if (timing.flops_per_second > 0) {
      state.counters["flops_per_second"] =
          Counter(timing.flops_per_second, Counter::kDefaults, Counter::kIs1000);
    }
    state.SetLabel(shares(timing));
  }

  /// What would not be read as a share among the counters: Google Benchmark scales them ("950m").
  static std::string shares(const Timing& timing) {
    std::vector<std::string> shares;
    if (timing.percent_of_peak > 0) {
      shares.push_back(fmt::format("{:.3g} % of peak", timing.percent_of_peak));
    }
    if (timing.relative_to > 0) {
      shares.push_back(
          fmt::format("{:.3g} times the speed of {}", timing.relative_to, timing.yardstick));
    }
    return fmt::format("{}", fmt::join(shares, ", "));
  }

  void judge(const Case& one, const Timing& timing) {
    const std::pair<const char*, double> values[] = {
        {"time.median_us", timing.median_us},
        {"throughput.bytes_per_second", timing.bytes_per_second},
        {"throughput.percent_of_peak", timing.percent_of_peak},
        {"throughput.flops_per_second", timing.flops_per_second},
        {"time.relative_to", timing.relative_to}};
    for (const auto& [metric, value] : values) {
      if (value <= 0) continue;
      metrics::Fact fact = blank_fact(one, arch_of(*run_.device));
      fact.metric = metric;
      fact.value = value;
      fact.source = "harness";
      fact.confidence = "estimate";
      fact.confidence_reason = "times differ from run to run";
      metrics::judge(fact, budgets_.of(one.id), today_);
      if (writer_) writer_->write(fact);
      if (fact.verdict != metrics::Verdict::fail) continue;
      exit_code_ = std::max(exit_code_, kOverBudget);
      fmt::print(stderr, "{}",
                 failure_text(fact, "warpgauge-bench --filter '" + one.id.str() + "'"));
    }
  }

  void write_tables() const {
    std::error_code error;  // write_file() says what is wrong
    fs::create_directories(options_.tables, error);
    const std::pair<const char*, std::string> tables[] = {
        {"times.md", times_table(timings_)},
        {"speeds.md", speeds_table(timings_)},
        {"accuracy.md", accuracy_table(timings_)}};
    for (const auto& [name, text] : tables) {
      if (text.empty()) continue;
      const fs::path path = options_.tables / name;
      write_file(path, text);
      fmt::print("table: {}\n", path.string());
    }
  }

  const BenchOptions& options_;
  FamilyBudgets budgets_;
  std::vector<const Case*> cases_;
  metrics::Run run_;
  std::chrono::year_month_day today_;
  std::unique_ptr<metrics::FactWriter> writer_;
  double peak_ = 0;  // bytes per second
  std::vector<Timing> timings_;
  ExitCode exit_code_ = kWithinBudget;
};

}  // namespace

ExitCode run_bench(const BenchOptions& options) { return Bench(options).run(); }

}  // namespace warpgauge
