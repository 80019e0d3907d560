// Times cases as benchmarks, judges the times, and writes facts and tables.
#include "harness/bench/bench.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/bench/bench_counters.h"
#include "harness/bench/bench_tables.h"
#include "harness/cases/built_architectures.h"
#include "harness/cases/family_budgets.h"
#include "harness/cases/gpu_only.h"
#include "harness/cases/selected_cases.h"
#include "harness/ctest_device.h"
#include "harness/devices.h"
#include "harness/files/colour.h"
#include "harness/files/error_text.h"
#include "harness/files/write_file.h"
#include "harness/measuring/blank_facts.h"
#include "harness/measuring/compile_time_facts.h"
#include "harness/measuring/error_facts.h"
#include "harness/measuring/gpu_monitor.h"
#include "harness/measuring/missing_facts.h"
#include "harness/measuring/provenance.h"
#include "harness/outcome/finding_text.h"
#include "harness/outcome/outcome_text.h"
#include "harness/outcome/recorded_run.h"
#include "harness/process/fork_guard.h"
#include "harness/process/prints_to_stderr.h"
#include "harness/process/program.h"
#include "harness/process/program_name.h"
#include "harness/runtime.h"
#include "metrics/budgets/judge.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Times are there to be looked at, with a budget or without one.
constexpr outcome::Requirements kRequirements = {.judged = false};

/// The selected cases and those that their limits are multiples of, each yardstick in front of the
/// first case that is held against it.
std::vector<const Case*> with_yardsticks(const FamilyBudgets& budgets, const Selection& selection) {
  std::vector<const Case*> cases;
  const auto add = [&](const Case* timed) {
    if (timed == nullptr || selection.is_excluded(timed->id.str())) return;
    if (std::ranges::find(cases, timed) == cases.end()) cases.push_back(timed);
  };
  for (const Case* timed : selected_cases(Registry::instance(), budgets, selection)) {
    add(Registry::instance().yardstick_of(*timed));
    add(timed);
  }
  return cases;
}

class Bench {
 public:
  explicit Bench(const BenchOptions& options)
      : options_(options),
        budgets_(Registry::instance()),
        cases_(with_yardsticks(budgets_, options.selection)),
        run_(start_run("bench", {.filter = options.selection.filter,
                                 .exclude = options.selection.exclude,
                                 .large = options.selection.large})),
        today_(metrics::today()) {}

  outcome::ExitCode run() {
    if (!is_emulated() && !process::has_gpu()) {
      fmt::print(stderr,
                 "times need a GPU: {}\n{}-emulated runs the cases without one; its times say "
                 "nothing about a GPU\n",
                 why_no_device(), process::program_name());
      return outcome::kNotMeasured;
    }
    count();
    machine_.emplace(assigned_device());
    use_assigned_device();
    device_ = current_device();
    if (device_) run_.devices = {*device_};
    if (!machine_->why_not().empty() && !is_emulated()) {
      fmt::print(stderr, "GPU state unknown: {}\n", machine_->why_not());
    }
    recorded_ = std::make_unique<outcome::RecordedRun>(run_, options_.facts);
    peak_ = peak_bytes_per_second(assigned_device());
    if (!is_emulated()) measured_peak_ = measured_peak_bytes_per_second();
    for (const char* type : {"f32", "f64"}) {
      arithmetic_peaks_[type] = peak_flops_per_second(assigned_device(), type);
    }
    for (const Case* timed : cases_) {
      if (const std::string why = why_not_run(*timed, running_arch(*device_)); !why.empty()) {
        judge(*timed,
              missing_facts({}, metrics::Source::run, why,
                            {blank_fact(*timed, running_arch(*device_)), budgets_.of(timed->id)}));
        continue;
      }
      benchmark::RegisterBenchmark(timed->id.str().c_str(),
                                   [this, timed](benchmark::State& state) { time(*timed, state); })
          ->UseManualTime()
          ->Iterations(1)  // an iteration is many runs: their median is its time
          ->Unit(benchmark::kMicrosecond);
    }
    benchmark::RunSpecifiedBenchmarks();
    if (!something_ran_) {
      throw std::invalid_argument(
          fmt::format("no case was timed: --benchmark_filter selects no case, or all need a GPU; "
                      "`{} list --json` shows all",
                      process::gauge_name()));
    }
    if (!options_.tables.empty()) write_tables();
    for (const std::string& disturbance : disturbances_) {
      fmt::print(stderr, "disturbed: {}: these times are not fit for budgets\n", disturbance);
    }
    const auto outcome = recorded_->end(
        {.requirements = kRequirements,
         .left_out = Registry::instance().left_out(options_.selection),
         .repeat = [](const outcome::JudgedValue& value) { return repeat(*value.fact); }},
        options_.results);
    fmt::print(stderr, "{}",
               outcome::terminal_text(*outcome, files::may_be_coloured(STDERR_FILENO)));
    return outcome->exit_code();
  }

 private:
  void count() {
    if (!options_.counters) return;
    std::vector<const Case*> counted;
    std::ranges::copy_if(cases_, std::back_inserter(counted), &Case::counted);
    auto [counts, why_not] = count_cases(counted);
    counts_ = std::move(counts);
    if (!why_not.empty()) fmt::print(stderr, "the counts are incomplete: {}\n", why_not);
  }

  void time(const Case& timed, benchmark::State& state) {
    something_ran_ = true;
    try {
      Timing timing;
      std::optional<metrics::MachineState> machine;
      process::with_fork_guard("the case", [&] {
        const process::PrintsToStderr prints;  // stdout is for the report
        if (!stream_) stream_.emplace(options_.cache);
        Stopwatch watch(timed, *stream_);
        machine_->begin();
        const metrics::MedianEstimate estimate =
            sample(options_.sampling.after(Clock::now() - idle_since_),
                   [&watch] { return watch.time_us(); });
        idle_since_ = Clock::now();
        machine = machine_->end();
        timing = timing_of(timed, watch, estimate);
        if (!options_.tables.empty()) timing.sequential_ms = watch.sequential_ms();
      });
      for ([[maybe_unused]] auto _ : state) state.SetIterationTime(timing.estimate.median * 1e-6);
      show(timing, state);
      judge(timed, facts_of(timed, timing, machine));
      timings_.push_back(timing);
      if (machine && !machine->disturbance.empty()) disturbances_.insert(machine->disturbance);
    } catch (const metrics::CudaError& error) {
      state.SkipWithError(error.what());
      judge(timed, {error_fact(timed, error, take_faults(), running_arch(*device_))});
    } catch (const std::exception& error) {
      const std::string text = files::error_text(error);
      state.SkipWithError(text.c_str());
      judge(timed, {error_fact(timed, text, running_arch(*device_))});
    }
  }

  Timing timing_of(const Case& timed, const Stopwatch& watch,
                   const metrics::MedianEstimate& estimate) const {
    const double seconds = estimate.median * 1e-6;
    Timing timing{.id = timed.id,
                  .estimate = estimate,
                  .why_not_held = watch.why_not_held(),
                  .bytes_per_second = watch.problem().bytes() / seconds,
                  .flops_per_second = watch.problem().flops() / seconds};
    const auto share_of = [&](double peak) {
      return peak > 0 && timed.counted ? 100 * timing.bytes_per_second / peak : 0;
    };
    timing.percent_of_peak = share_of(peak_);
    timing.percent_of_measured_peak = share_of(measured_peak_);
    const std::string arithmetic =
        timed.id.type.substr(0, timed.id.type.find('_'));  // "f64" of "f64_huge"
    const auto peak = arithmetic_peaks_.find(arithmetic);
    if (peak != arithmetic_peaks_.end() && peak->second > 0 && timed.counted) {
      timing.percent_of_arithmetic_peak = 100 * timing.flops_per_second / peak->second;
    }
    if (const Errors& errors = watch.errors(); errors.count > 0) {
      timing.max_error = errors.max_scaled;
      timing.mean_absolute_error = errors.mean_absolute();
      timing.mean_relative_error = errors.mean_relative();
    }
    if (const Case* yardstick = Registry::instance().yardstick_of(timed)) {
      const auto known = std::ranges::find(timings_, yardstick->id, &Timing::id);
      timing.yardstick = timed.yardstick;
      timing.yardstick_held = known == timings_.end() || known->why_not_held.empty();
      if (known != timings_.end()) timing.relative_to = known->estimate.median / estimate.median;
    }
    return timing;
  }

  void show(const Timing& timing, benchmark::State& state) const {
    using benchmark::Counter;
    state.counters["median_us"] = timing.estimate.median;
    state.counters["median_low_us"] = timing.estimate.interval.low;
    state.counters["median_high_us"] = timing.estimate.interval.high;
    state.counters["samples"] = timing.estimate.samples;
    if (!timing.why_not_held.empty()) state.counters["gpu_waited_for_host"] = 1;
    state.counters["bytes_per_second"] =
        Counter(timing.bytes_per_second, Counter::kDefaults, Counter::kIs1000);
    if (timing.flops_per_second > 0) {
      state.counters["flops_per_second"] =
          Counter(timing.flops_per_second, Counter::kDefaults, Counter::kIs1000);
    }
    if (timing.percent_of_measured_peak > 0) {
      state.counters["percent_of_measured_peak"] = timing.percent_of_measured_peak;
    }
    if (const auto counts = counts_.find(timing.id.str()); counts != counts_.end()) {
      for (const auto& [metric, value] : counts->second) state.counters[metric] = value;
    }
    state.SetLabel(label(timing));
  }

  /// True if the median is known to the precision that was asked for.
  bool is_stable(const Timing& timing) const {
    return options_.sampling.is_stable(timing.estimate);
  }

  /// Shares as text, because Google Benchmark scales counters (0.95 becomes "950m").
  std::string label(const Timing& timing) const {
    std::vector<std::string> shares;
    if (!timing.why_not_held.empty()) shares.push_back(host_note(timing));
    if (!is_stable(timing)) shares.push_back("not stable: " + precision(timing.estimate));
    if (timing.percent_of_peak > 0) {
      shares.push_back(fmt::format("{:.3g} % of peak", timing.percent_of_peak));
    }
    if (timing.percent_of_arithmetic_peak > 0) {
      shares.push_back(
          fmt::format("{:.3g} % of the arithmetic's", timing.percent_of_arithmetic_peak));
    }
    if (timing.relative_to > 0) {
      shares.push_back(fmt::format("{:.3g} times the speed of {}{}", timing.relative_to,
                                   timing.yardstick, yardstick_note(timing)));
    }
    return fmt::format("{}", fmt::join(shares, ", "));
  }

  static std::string yardstick_note(const Timing& timing) {
    return timing.yardstick_held ? "" : ", for which the GPU waited for the host";
  }

  /// "± 0.8 % after 25 runs".
  static std::string precision(const metrics::MedianEstimate& estimate) {
    return fmt::format("± {:.2g} % after {} runs", 100 * estimate.spread(), estimate.samples);
  }

  /// The facts of a timing; what has a budget and is not known is among them, as unmeasured.
  std::vector<metrics::Fact> facts_of(const Case& timed, const Timing& timing,
                                      const std::optional<metrics::MachineState>& machine) const {
    const auto launches = timed.counted ? dry_launches(timed) : std::vector<LaunchRecord>();
    metrics::Fact blank = launched_fact(timed, launches, running_arch(*device_), device_->name);
    const metrics::Fact unknown = blank;
    blank.source = "clock";
    blank.stable = is_stable(timing);
    blank.confidence = "estimate";
    blank.confidence_reason =
        fmt::format("times differ from run to run: {}{}{}{}", precision(timing.estimate),
                    is_stable(timing) ? "" : ", not stable",
                    timing.why_not_held.empty() ? "" : "; ", host_note(timing));
    blank.machine = machine;
    const std::pair<const char*, double> values[] = {
        {"time.median_us", timing.estimate.median},
        {"throughput.bytes_per_second", timing.bytes_per_second},
        {"throughput.percent_of_peak", timing.percent_of_peak},
        {"throughput.percent_of_measured_peak", timing.percent_of_measured_peak},
        {"throughput.flops_per_second", timing.flops_per_second},
        {"throughput.percent_of_arithmetic_peak", timing.percent_of_arithmetic_peak},
        {"time.relative_to", timing.relative_to}};
    std::vector<metrics::Fact> facts;
    for (const auto& [metric, value] : values) {
      if (value <= 0) continue;
      metrics::Fact& fact = facts.emplace_back(blank);
      fact.metric = metric;
      fact.value = value;
      if (fact.metric == "time.median_us") fact.interval = timing.estimate.interval;
      if (fact.metric == "time.relative_to") fact.confidence_reason += yardstick_note(timing);
    }
    std::ranges::move(
        missing_facts(facts, metrics::Source::timer,
                      "not known in this run: its yardstick was not timed, or the device does not "
                      "report its peak",
                      {unknown, budgets_.of(timed.id)}),
        std::back_inserter(facts));
    return facts;
  }

  void judge(const Case& timed, std::vector<metrics::Fact> facts) {
    const metrics::References references(facts, [this] { return std::span(judged_); });
    for (metrics::Fact& fact : facts) {
      metrics::judge(fact, budgets_.of(timed.id), today_, references);
    }
    judged_.insert(judged_.end(), facts.begin(), facts.end());
    recorded_->add(std::move(facts));
  }

  static std::string repeat(const metrics::Fact& fact) {
    return fmt::format("{}{} --filter '{}'", program_invocation_name,
                       Registry::instance().at(fact.id.str()).large ? " --large" : "",
                       fact.id.str());
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
      files::write_file(path, text);
      fmt::print("table: {}\n", path.string());
    }
  }

  const BenchOptions& options_;
  FamilyBudgets budgets_;
  std::vector<const Case*> cases_;
  metrics::Run run_;
  std::optional<metrics::Device> device_;
  std::chrono::year_month_day today_;
  std::unique_ptr<outcome::RecordedRun> recorded_;
  bool something_ran_ = false;
  double peak_ = 0, measured_peak_ = 0;             // bytes per second
  std::map<std::string, double> arithmetic_peaks_;  // operations per second, by type
  std::map<std::string, CaseCounts> counts_;
  std::optional<GpuMonitor> machine_;
  std::optional<TimedStream> stream_;  ///< made when the first case is timed
  Clock::time_point idle_since_;       ///< when the last run of the case before was over
  std::set<std::string> disturbances_;
  std::vector<Timing> timings_;
  std::vector<metrics::Fact> judged_;
};

}  // namespace

outcome::ExitCode run_bench(const BenchOptions& options) { return Bench(options).run(); }

}  // namespace warpgauge::bench
