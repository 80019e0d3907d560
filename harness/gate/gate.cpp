#include "harness/gate/gate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "harness/cases/built_architectures.h"
#include "harness/cases/case_inputs.h"
#include "harness/cases/device_code.h"
#include "harness/cases/family_budgets.h"
#include "harness/cases/gpu_only.h"
#include "harness/devices.h"
#include "harness/files/colour.h"
#include "harness/files/error_text.h"
#include "harness/gate/asked_gpu.h"
#include "harness/gate/carried_facts.h"
#include "harness/gate/case_job.h"
#include "harness/gate/emulated_counts.h"
#include "harness/gate/fact_order.h"
#include "harness/gate/run_facts.h"
#include "harness/measuring/blank_facts.h"
#include "harness/measuring/case_runner.h"
#include "harness/measuring/compile_time_facts.h"
#include "harness/measuring/coverage_file.h"
#include "harness/measuring/hardware_counter_facts.h"
#include "harness/measuring/provenance.h"
#include "harness/measuring/self_test.h"
#include "harness/outcome/case_table.h"
#include "harness/outcome/finding_text.h"
#include "harness/outcome/out_folder.h"
#include "harness/outcome/outcome_text.h"
#include "harness/outcome/recorded_run.h"
#include "harness/outcome/repeat_command.h"
#include "harness/process/isolated_text.h"
#include "harness/process/loaded_libraries.h"
#include "harness/process/program_name.h"
#include "harness/process/worker_pool.h"
#include "harness/runtime.h"
#include "metrics/base/available_cores.h"
#include "metrics/base/shared_with_forks.h"
#include "metrics/cupti/cupti.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::gate {
namespace {

namespace fs = std::filesystem;
using metrics::Fact;
using metrics::Verdict;
using Archs = std::vector<std::string>;

metrics::RunRequest asked_of(const GateOptions& options) {
  metrics::RunRequest asked = {.device = options.device,
                               .filter = options.selection.filter,
                               .exclude = options.selection.exclude,
                               .architectures = options.archs,
                               .strict = options.requirements.strict,
                               .large = options.selection.large};
  if (options.requirements.cubin) asked.require.emplace_back("cubin");
  if (options.requirements.cupti) asked.require.emplace_back("cupti");
  return asked;
}

/// One run of the gate. The parent process never touches CUDA: its children do.
class Gate {
 public:
  explicit Gate(const GateOptions& options)
      : options_(options),
        since_(options.since.empty() ? nullptr
                                     : std::make_unique<metrics::FactReader>(options.since)),
        out_(options.affected ? nullptr : std::make_unique<outcome::OutFolder>(options.out)),
        budgets_(Registry::instance(), options.project),
        archs_(chosen_archs(options.archs)),
        cases_(budgets_.with_ratios(options.selection)),
        gpu_(ask_gpu(options.time_limit)),
        run_archs_(archs_of_runs()),
        no_bounded_(is_emulated() ? "times and hardware counters need a GPU"
                    : options_.use_cupti && options_.bounded
                        ? ""
                        : "times and hardware counters were left out by an option") {
    if (!options_.coverage.empty()) {
      if (!is_emulated()) count_coverage();  // says why it cannot
      coverage_.emplace(options_.coverage);
    }
    if (!is_emulated()) check_accesses(options_.checks, options_.schedules);  // says why it cannot
    // That the GPU's counters are not refused is likely enough to read what may be carried over.
    find_inputs("");
    if (out_) {
      facts_ = std::make_unique<RunFacts>(
          out_->facts(), start_run("gate", asked_of(options)), budgets_, cases_,
          [this](const metrics::CaseId& id) -> const metrics::Inputs& {
            return inputs_->of(*families_.at(id.family));
          });
    }
    for (const Case* one : cases_) {
      families_.emplace(one->id.family, one);
      places_.emplace(one, places_.size());
    }
    has_passed_ = metrics::array_shared_with_forks<bool>(cases_.size());
    left_out_ = Registry::instance().left_out(options.selection);
    const std::size_t gpu_only = gpu_only_cases(options.selection).size();
    if (gpu_only > 0) {
      left_out_.push_back(fmt::format("cases left out because they need a GPU: {}", gpu_only));
    }
    add_left_out_by_archs();
  }

  /// The first lines say what the run-time facts are worth, and what is not there.
  void announce() const {
    fmt::print("{}\n", is_emulated() ? fmt::format("kernels run on the emulator, as {}",
                                                   fmt::join(run_archs_, ", "))
                                     : "kernels run on the GPU");
    for (const std::string& line : budgets_.about_project()) fmt::print("{}\n", line);
    for (const std::string& one : left_out_) fmt::print("{}\n", one);
    for (const Case* one : cases_) {
      if (options_.selection.takes(one->id.str())) continue;
      fmt::print("run, too, because budgets are multiples of it: {}\n", one->id.str());
    }
    std::fflush(stdout);
  }

  /// Before anything is measured. Throws SelfTestError. Where the GPU's counters are refused, the
  /// emulated program counts in their place, unless they are required.
  void self_test() {
    SelfTestOptions what{
        .archs = archs_, .use_counters = options_.use_cupti, .time_limit = options_.time_limit};
    if (is_emulated()) what.emulated_archs = run_archs_;
    std::exception_ptr unread;
    const SelfTestResult tested = run_self_test(what, [&] {
      try {
        read_since();
      } catch (...) {
        unread = std::current_exception();
      }
    });
    if (unread) std::rethrow_exception(unread);
    counts_emulated_ = !tested.not_counted.empty() && can_count_emulated(options_);
    if (!tested.not_counted.empty()) {
      find_inputs(tested.not_counted);
      read_since();
      get_ready();  // to leave the counts out
    }
    if (options_.affected) return;
    fmt::print("{}\n", tested.text);
    if (counts_emulated_) fmt::print("counts are the emulator's; results and times the GPU's\n");
    std::fflush(stdout);
  }

  /// Takes over what has not changed since an earlier gate, which read_since() has read.
  void carry() {
    if (!since_) return;
    since_.reset();
    if (options_.affected) return;
    std::size_t count = 0;
    for (const auto& [id, facts] : carried_.facts) count += facts.size();
    carried_facts_.reserve(count);
    std::map<std::string, int> by_run;
    for (const Case* one : cases_) {
      if (!is_carried(*one)) continue;
      std::vector<Fact>& facts = carried_.facts[one->id.str()];
      ++by_run[facts.front().context->carried];
      facts_->judge(facts, [this] { return std::span(std::as_const(carried_facts_)); });
      std::ranges::move(facts, std::back_inserter(carried_facts_));
    }
    for (const auto& [id, run] : carried_.runs) {
      for (const metrics::Device& device : run.devices) facts_->writer().add_device(device);
    }
    // Beside the measuring, as that may take less time, and where no reader of what is measured
    // has to read it.
    carried_writer_ = std::make_unique<process::WorkerPool>(
        process::IsolatedWork{
            .count = 1,
            .begin = [] {},
            .work =
                [this](std::size_t, bool) {
                  metrics::FactWriter(out_->carried_facts(), facts_->writer().run())
                      .write(carried_facts_);
                  return process::ItemEnd::done;
                },
            .done = [](std::size_t) {},
            .died =
                [](const process::CrashedItem& crashed) {
                  throw std::runtime_error("what is carried over could not be written: " +
                                           crashed.reason);
                }},
        1);
    carried_writer_->begin_work();
    for (const auto& [run, count] : by_run) {
      left_out_.push_back(fmt::format(
          "cases carried over from run {}, because nothing that they depend on has changed, "
          "without times: {}",
          run, count));
      fmt::print("{}\n", left_out_.back());
    }
    std::map<std::string, int> by_reason;
    for (const auto& [id, reason] : carried_.affected) ++by_reason[reason];
    for (const auto& [reason, count] : by_reason) {
      fmt::print("cases measured, because {}: {}\n", reason, count);
    }
    std::fflush(stdout);
  }

  /// A line for each case that would be measured: its id, a tab, and why.
  void list_affected() const {
    for (const Case* one : cases_) {
      const auto found = carried_.affected.find(one->id.str());
      if (found != carried_.affected.end()) fmt::print("{}\t{}\n", found->first, found->second);
    }
    fmt::print(stderr, "{} of {} cases are affected\n", carried_.affected.size(), cases_.size());
  }

  /// Launches may depend on the device that is asked for, so that the emulator stands for each
  /// architecture in a process of its own.
  void measure_static() {
    read_cubins();  // which all processes that begin here need
    for (const std::string& arch : archs_) {
      if (std::ranges::find(run_archs_, arch) != run_archs_.end()) continue;  // with the runs
      Cases cases = cases_by_result(
          [](const std::set<Verdict>& results) { return !results.contains(Verdict::error); });
      std::erase_if(cases,
                    [&](const Case* one) { return !one->counted || !exists_on(*one, arch); });
      CaseWork work = work_on(one_by_one(cases));
      work.begin = [&] {
        if (is_emulated()) emulate_arch(arch);
      };
      work.measure = [&](const Cases& one, bool) {
        write_static(*one[0], arch);
        return process::ItemEnd::done;
      };
      constexpr std::size_t kWorthIt = 1000;  // cases that take longer than a process costs
      CaseJob(std::move(work), *facts_, budgets_)
          .finish("compile-time facts, " + arch,
                  std::min(many_processes(cases.size(), false), 1 + cases.size() / kWorthIt));
    }
  }

  /// Lets processes that will use the GPU get ready for it beside the self test and what needs no
  /// GPU: that takes as long as some hundred cases.
  void get_ready() {
    if (is_emulated() || options_.affected) return;
    const Cases cases = on(run_archs_.front(), cases_);
    // With facts to carry over, few may be left. Only one at a time may use an exclusive GPU.
    const std::size_t early = gpu_.is_exclusive ? 0
                              : since_          ? 1
                                                : many_processes(cases.size(), true);
    runs_ = std::make_unique<CaseJob>(runs_work(cases, "", [] {}), *facts_, budgets_, early);
    if (!no_bounded_.empty()) return;
    bounded_ =
        std::make_unique<CaseJob>(bounded_work(), *facts_, budgets_, gpu_.is_exclusive ? 0 : 1);
  }

  /// Of the cases that launch something: the others have their error already.
  void measure_runs() {
    const Cases cases = cases_by_result(
        [](const std::set<Verdict>& results) { return !results.contains(Verdict::error); });
    if (!is_emulated()) {
      const std::set<const Case*> left(cases.begin(), cases.end());
      runs_->leave([left](const Cases& one) { return left.contains(one.front()); });
      return runs_->finish("run-time facts", many_processes(cases.size(), true));
    }
    for (const std::string& arch : run_archs_) {
      if (coverage_) cover_code(arch);
      const Cases on_arch = on(arch, cases);
      const std::size_t processes = many_processes(on_arch.size(), false);
      // A little before the case itself is stopped: the emulator can say where it was. The
      // processes share the cores.
      const auto choose_device = [&] {
        emulate_arch(arch, std::chrono::milliseconds(options_.time_limit) * 9 / 10,
                     std::max(1, metrics::available_cores() /
                                     static_cast<int>(std::min(processes, on_arch.size()))));
      };
      CaseJob(runs_work(on_arch, arch, choose_device), *facts_, budgets_)
          .finish("run-time facts, emulated " + arch, processes);
    }
  }

  /// The emulator's counts of the cases that ran well, where the GPU's are refused.
  void measure_emulated_counts() {
    if (!counts_emulated_) return;
    Cases cases = cases_by_result([](const std::set<Verdict>& results) {
      return !results.empty() && !results.contains(Verdict::error);
    });
    std::erase_if(cases, [](const Case* one) { return !one->counted; });
    if (cases.empty()) return;
    const auto is_result = [](const Fact& fact) { return fact.metric == "result.correct"; };
    const std::string arch = std::ranges::find_if(facts_->so_far(), is_result)->arch;
    EmulatedCounts counts = count_emulated(options_, arch);
    for (const metrics::Device& device : counts.devices) facts_->writer().add_device(device);
    for (const Case* one : cases) {
      const std::string reason = counts.reason(one->id.str());
      std::vector<Fact>& facts = counts.facts[one->id.str()];
      std::ranges::move(missing_counts(facts, blank_fact(*one, arch), reason, budgets_.of(one->id)),
                        std::back_inserter(facts));
      facts_->write(std::move(facts));
    }
  }

  /// Times and hardware counters of the cases that ran well.
  void measure_bounded() {
    if (!no_bounded_.empty()) return;
    const Cases passed = cases_by_result(
        [](const std::set<Verdict>& results) { return results.contains(Verdict::pass); });
    for (const Case* one : passed) has_passed_[places_.at(one)] = one->counted;
    bounded_->leave([this](const Cases& session) { return !passed_of(session).empty(); });
    bounded_->finish("times and hardware counters", 1);
  }

  /// Adds what should be there and is not, prints the summary and writes it.
  outcome::ExitCode report() {
    facts_->write(lost_facts());
    std::vector<metrics::StoredRun> runs = facts_->take();
    std::vector<Fact>& facts = runs.front().facts;
    facts.reserve(facts.size() + carried_facts_.size());
    std::ranges::move(carried_facts_, std::back_inserter(facts));
    for (metrics::StoredRun& run : runs) sort_by_case(run.facts, cases_);
    outcome::OutcomeOptions how{
        .requirements = options_.requirements, .left_out = left_out_, .whole = false};
    how.repeat = [this](const outcome::JudgedValue& value) { return repeat(value); };
    const outcome::Outcome outcome(std::move(runs), how);
    if (carried_writer_) {
      carried_writer_->work_through(1);
      facts_->writer().write_all_of(out_->carried_facts());
      fs::remove(out_->carried_facts());
    }
    facts_->writer().write_end(outcome::end_of(outcome));
    outcome::write_results(outcome, out_->results());
    out_->write_summary(outcome::markdown_text(outcome));
    if (options_.table) fmt::print("{}", outcome::case_table(outcome));
    print_counters(outcome);
    const std::string covered = coverage_ ? coverage_->write() : "";
    // Last, so that nothing that fails comes behind PASS.
    fmt::print("{}facts: {}\nresults: {}\nsummary: {}\n{}",
               outcome::terminal_text(outcome, files::may_be_coloured(STDOUT_FILENO)),
               out_->facts().string(), out_->results().string(), out_->summary().string(), covered);
    return outcome.exit_code();
  }

 private:
  void find_inputs(const std::string& not_counted) {
    inputs_.emplace(
        Circumstances{.machine = gpu_.machine + not_counted,
                      .libraries = gpu_.libraries,
                      .options = fmt::format("{} {} {} {}", options_.checks, options_.schedules,
                                             options_.use_cupti, counts_emulated_),
                      .project = options_.project});
  }

  void read_since() {
    if (!since_) return;
    carried_ = read_carried(
        *since_,
        {.cases = cases_,
         .inputs_of = [&](const Case& one) -> const metrics::Inputs& { return inputs_->of(one); },
         .why_measured = [&](const Case& one) { return why_measured(one); },
         .static_archs = [&](const Case& one) { return static_archs(one); },
         .run_archs = [&](const Case& one) { return run_archs(one); },
         .ratios_of = [&](const Case& one) { return budgets_.ratios_of(one); }});
  }

  /// Those that --counters asks for: mostly nothing judges them.
  void print_counters(const outcome::Outcome& outcome) const {
    for (const metrics::Metric* counter : options_.counters) {
      fmt::print("{}\n", counter->id);
      for (const outcome::JudgedValue& value : outcome.values()) {
        if (value.fact->metric != counter->id) continue;
        const std::string text = outcome::value_text(*value.fact);
        fmt::print("  {:<48} {}\n", value.fact->id.str(), text.empty() ? "unmeasured" : text);
      }
    }
  }

  void write_static(const Case& one, const std::string& arch) {
    facts_->write(static_facts(one, launches_on(one, arch), arch));
  }

  /// `arch` is the emulator's; empty on a GPU, which only the children use. A case has its
  /// compile-time facts of the architecture first.
  CaseWork runs_work(const Cases& cases, const std::string& arch,
                     const std::function<void()>& choose_device) {
    CaseWork work = work_on(one_by_one(cases));
    work.arch = arch;
    const auto meter =
        std::make_shared<std::optional<CaseRunner>>();  // only ever filled in children
    work.begin = [this, meter, choose_device] {
      choose_device();
      if (coverage_) count_coverage();
      if (is_emulated()) check_accesses(options_.checks, options_.schedules);
      meter->emplace(options_.use_cupti, is_emulated() ? nullptr : &turns_);
      if ((*meter)->device()) facts_->writer().add_device(*(*meter)->device());
    };
    work.measure = [this, meter](const Cases& one, bool is_again) {
      const Archs with_static = static_archs(*one[0]);
      const std::string runs_on = (*meter)->arch();
      if (!is_again && std::ranges::find(with_static, runs_on) != with_static.end()) {
        write_static(*one[0], runs_on);
      }
      std::vector<Fact> facts = (*meter)->run(*one[0], budgets_.of(one[0]->id));
      const process::ItemEnd end = (*meter)->end_of_item(is_again);
      if (end == process::ItemEnd::again) return end;
      if (counts_emulated_) {
        std::erase_if(facts, [](const Fact& fact) {
          const metrics::Source source = metrics::metric(fact.metric).source;
          return source == metrics::Source::sass || source == metrics::Source::emulator;
        });
      }
      facts_->write(std::move(facts));
      if (coverage_) coverage_->add(take_coverage());
      return end;
    };
    return work;
  }

  /// Many cases in one profiling session, which costs as much as many of them.
  CaseWork bounded_work() {
    constexpr std::size_t kCasesInOne = 2048;
    CaseWork work = work_on({});
    work.chosen = [this](const Cases& session) { return passed_of(session); };
    for (std::size_t i = 0; i < cases_.size(); i += kCasesInOne) {
      const auto first = cases_.begin() + static_cast<std::ptrdiff_t>(i);
      work.items.emplace_back(first, first + std::min(kCasesInOne, cases_.size() - i));
    }
    struct OfChild {
      std::string arch;
      metrics::Device device;
      std::unique_ptr<CounterSession> meter;
    };
    const auto own = std::make_shared<OfChild>();  // only ever filled in the child
    const auto plan = [this, own] {
      const CaseRunner meter(false);
      own->arch = meter.arch();
      own->device = meter.device().value();
      own->device.chip = chip_name();
      Cases cases = on(own->arch, cases_);
      std::erase_if(cases, [](const Case* one) { return !one->counted; });
      own->meter = std::make_unique<CounterSession>(cases, [this, own](const Case& one) {
        return counters_of(one, own->arch, budgets_.of(one.id), options_.counters);
      });
    };
    work.begin = [plan] {
      try {
        plan();  // it takes a while, and nothing waits for it yet
      } catch (const std::exception&) {
        // An item will try again, and say what is wrong.
      }
    };
    work.measure = [this, own, plan](const Cases& session, bool is_again) {
      try {
        if (!own->meter) plan();
        facts_->writer().add_device(own->device);
        facts_->write(own->meter->facts(session, own->arch, own->device.name));
      } catch (const metrics::Unmeasured& unmeasured) {
        // This process was there while others used the GPU, and their faults can break its context.
        const bool is_lost = is_gpu_lost();
        if (!is_again && is_lost) return process::ItemEnd::again;
        fmt::print(stderr, "no times and hardware counters: {}\n", unmeasured.what());
        for (const Case* one : session) {
          facts_->write(missing_facts({}, metrics::Source::range, blank_fact(*one, own->arch),
                                      unmeasured.what(), budgets_.of(one->id), options_.counters));
        }
        if (is_lost) return process::ItemEnd::done_with_last;
      }
      return process::ItemEnd::done;
    };
    return work;
  }

  /// Those that ran well and have something to measure.
  Cases passed_of(const Cases& cases) const {
    Cases found;
    std::ranges::copy_if(cases, std::back_inserter(found),
                         [&](const Case* one) { return has_passed_[places_.at(one)]; });
    return found;
  }

  /// Adds all code of the program's cases for `arch`, so that what never runs is seen.
  void cover_code(const std::string& arch) {
    process::isolated_text(
        [&] {
          emulate_arch(arch);
          metrics::Coverage code = code_to_cover();
          std::erase_if(code, [](const auto& file) { return is_of_self_test(file.first); });
          coverage_->add(code);
          return "";
        },
        options_.time_limit);
  }

  /// Why a case is measured even if nothing has changed; empty: it is not.
  std::string why_measured(const Case& one) const {
    if (run_archs_ == Archs{""}) return "the GPU did not answer";
    if (std::string why = inputs_->why_unknown(one); !why.empty()) return why;
    if (!no_bounded_.empty() || !one.counted) return "";
    if (!options_.counters.empty()) return "hardware counters are asked for";
    const bool is_budgeted = std::ranges::any_of(run_archs(one), [&](const std::string& arch) {
      return has_bounded_budget(one, arch, budgets_.of(one.id));
    });
    return is_budgeted ? "a time or hardware counter of it has a budget" : "";
  }

  /// Those for which a case has compile-time facts, and those that it runs on.
  Archs static_archs(const Case& one) const { return one.counted ? with(one, archs_) : Archs(); }
  Archs run_archs(const Case& one) const { return with(one, run_archs_); }
  static Archs with(const Case& one, Archs archs) {
    std::erase_if(archs, [&](const std::string& arch) { return !exists_on(one, arch); });
    return archs;
  }

  bool is_carried(const Case& one) const { return carried_.facts.contains(one.id.str()); }

  /// What a check has found it finds again only where it is asked for.
  std::string repeat(const outcome::JudgedValue& value) const {
    std::string command = outcome::repeat_command(value);
    if (value.fact->verdict != Verdict::error) return command;
    if (options_.checks != kUsualChecks) command += " --check " + options_.checks;
    if (options_.schedules != 0) command += fmt::format(" --schedules {}", options_.schedules);
    return command;
  }

  /// For exact facts, which do not depend on what else runs.
  std::size_t many_processes(std::size_t cases, bool use_gpu) const {
    constexpr std::size_t kMost = 16;  // each has a copy of its case
    if (use_gpu && gpu_.is_exclusive) return 1;
    if (options_.jobs != 0) return options_.jobs;
    if (use_gpu) return processes_on_gpu(cases, false);
    return std::min(static_cast<std::size_t>(metrics::available_cores()), kMost);
  }

  /// The cases of which `wanted` holds, given the verdicts on their results so far.
  Cases cases_by_result(const std::function<bool(const std::set<Verdict>&)>& wanted) {
    std::map<std::string, std::set<Verdict>> results;
    for (const Fact& fact : facts_->so_far()) {
      if (fact.metric == "result.correct") results[fact.id.str()].insert(fact.verdict);
    }
    Cases cases;
    std::ranges::copy_if(cases_, std::back_inserter(cases), [&](const Case* one) {
      return !is_carried(*one) && wanted(results[one->id.str()]);
    });
    return cases;
  }

  /// Those whose code runs. On a GPU without an answer all cases run, and say why nothing is
  /// measured.
  Archs archs_of_runs() const {
    if (is_emulated()) return options_.archs.empty() ? Archs{default_emulated_arch()} : archs_;
    return {gpu_.arch};
  }

  /// Those of the cases that have code for `arch`.
  static Cases on(const std::string& arch, Cases cases) {
    if (!arch.empty())
      std::erase_if(cases, [&](const Case* one) { return !exists_on(*one, arch); });
    return cases;
  }

  /// "cases left out on sm_75 and sm_80, because they need sm_90 or later: 4".
  void add_left_out_by_archs() {
    Archs archs = archs_;
    for (const std::string& arch : run_archs_) {
      if (!arch.empty() && std::ranges::find(archs, arch) == archs.end()) archs.push_back(arch);
    }
    std::map<std::string, std::set<const Case*>> by_need;
    for (const Case* one : cases_) by_need[needs_text(*one)].insert(one);
    for (const auto& [need, cases] : by_need) {
      Archs without;
      std::ranges::copy_if(archs, std::back_inserter(without), [&](const std::string& arch) {
        return !exists_on(**cases.begin(), arch);
      });
      if (without.empty()) continue;
      left_out_.push_back(fmt::format("cases left out on {}, because they need {}: {}",
                                      fmt::join(without, ", "), need, cases.size()));
    }
  }

  /// Cases without a fact that should have one: the last line of defence against a silent pass.
  std::vector<Fact> lost_facts() {
    std::map<std::string, std::vector<const Fact*>> by_case;
    for (const std::vector<Fact>* facts : {&facts_->so_far(), &std::as_const(carried_facts_)}) {
      for (const Fact& fact : *facts) {
        if (fact.scope == metrics::Scope::whole_case) by_case[fact.id.str()].push_back(&fact);
      }
    }
    std::vector<Fact> lost;
    for (const Case* one : cases_) {
      const std::vector<const Fact*>& facts = by_case[one->id.str()];
      const auto is_there = [&](std::string_view metric) {
        return std::ranges::find(facts, metric, &Fact::metric) != facts.end();
      };
      const auto result = std::ranges::find(facts, "result.correct", &Fact::metric);
      const bool runs = std::ranges::any_of(
          run_archs_, [&](const auto& arch) { return arch.empty() || exists_on(*one, arch); });
      if (runs && result == facts.end()) {
        lost.push_back(error_fact(*one, "no result of this case came back"));
        continue;
      }
      // After an error nothing more is to be expected.
      if (result != facts.end() && (*result)->verdict == Verdict::error) continue;
      for (const std::string& arch : static_archs(*one)) {
        const auto of_arch = [&](const Fact* fact) {
          return fact->metric == "registers" && fact->arch == arch;
        };
        if (std::ranges::any_of(facts, of_arch)) continue;
        lost.push_back(error_fact(*one, "no compile-time facts for " + arch + " came back"));
      }
      if (!runs) continue;
      for (const std::string& arch : is_emulated() ? run_archs(*one) : Archs{(*result)->arch}) {
        const auto of_arch = [&](const Fact* fact) {
          return fact->metric == "result.correct" && fact->arch == arch;
        };
        if (!std::ranges::any_of(facts, of_arch)) {
          lost.push_back(error_fact(*one, "no result of this case came back for " + arch));
        }
        if (!one->counted) continue;
        const std::string reason = !no_bounded_.empty() ? no_bounded_
                                   : is_carried(*one)
                                       ? "times and hardware counters are not carried over"
                                       : "no times and hardware counters came back";
        std::ranges::move(unmeasured_facts(is_there, metrics::Source::range, blank_fact(*one, arch),
                                           reason, budgets_.of(one->id), options_.counters),
                          std::back_inserter(lost));
        std::ranges::move(
            unmeasured_facts(is_there, metrics::Source::timer, blank_fact(*one, arch),
                             process::program_name() + "-bench measures it", budgets_.of(one->id)),
            std::back_inserter(lost));
      }
    }
    return lost;
  }

  CaseWork work_on(std::vector<Cases> items) const {
    return {.items = std::move(items), .time_limit = options_.time_limit};
  }

  const GateOptions& options_;
  std::unique_ptr<metrics::FactReader> since_;  // opened before out_ takes away what is there
  std::unique_ptr<outcome::OutFolder> out_;     // none where nothing is measured
  FamilyBudgets budgets_;
  std::vector<std::string> archs_;
  Cases cases_;
  AskedGpu gpu_;
  process::GpuTurns turns_;  // of the children, on the GPU
  Archs run_archs_;
  bool counts_emulated_ = false;
  std::optional<CaseInputs> inputs_;
  std::map<std::string, const Case*> families_;  // a case of each
  std::map<const Case*, std::size_t> places_;    // in cases_
  // By place. The parent says it to a process that it has started long before.
  std::shared_ptr<bool[]> has_passed_;
  CarriedFacts carried_;             // without the facts themselves
  std::vector<Fact> carried_facts_;  // judged
  std::unique_ptr<process::WorkerPool> carried_writer_;
  std::string no_bounded_;  // why times and hardware counters are not measured; empty if they are
  std::vector<std::string> left_out_;
  std::optional<CoverageFile> coverage_;
  std::unique_ptr<RunFacts> facts_;          // none where nothing is measured
  std::unique_ptr<CaseJob> runs_, bounded_;  // on the GPU
};

}  // namespace

outcome::ExitCode run_gate(const GateOptions& options) {
  Gate gate(options);
  if (!options.affected) gate.announce();
  gate.get_ready();
  gate.self_test();
  gate.carry();
  if (options.affected) {
    gate.list_affected();
    return outcome::kWithinBudget;
  }
  gate.measure_static();
  gate.measure_runs();
  gate.measure_emulated_counts();
  gate.measure_bounded();
  return gate.report();
}

}  // namespace warpgauge::gate
