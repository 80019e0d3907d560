// warpgauge gate: measures everything this machine can and judges it against the budgets.

#include "harness/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/cases/filter_options.h"
#include "harness/commands/command_line.h"
#include "harness/files/printable.h"
#include "harness/fuzz/fuzz_options.h"
#include "harness/process/timeout_option.h"
#include "metrics/counting/order_file.h"
#include "metrics/cupti/cupti.h"
#include "metrics/facts/counter_row.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kGateFooter =
    R"(Measured values with their verdicts go to facts.jsonl; findings, with their causes, to the
terminal and to summary.md.

Exit codes:
  0  within budget
  1  over budget
  2  a fault
  3  something required was not measured

Examples:
  warpgauge gate
  warpgauge gate --filter 'transpose.*' --arch sm_90
  warpgauge gate --device=emulated --arch sm_75,sm_120
  warpgauge gate --device=emulated --check races,uninitialised
  warpgauge gate --fuzz 10
  warpgauge gate --table --filter 'matmul.*'
  warpgauge gate --counters sm__inst_executed_pipe_tensor.sum
  warpgauge gate --require=cupti --strict --out results
)";

/// The rows of counters by their names. Throws CLI::ValidationError.
Counters counters_called(const std::vector<std::string>& names) {
  Counters counters;
  for (const std::string& name : names) {
    const metrics::Metric* row =
        metrics::find_metric(fmt::format("{}{}", metrics::kCounterPrefix, name));
    std::string why;
    if (row == nullptr) {
      why =
          fmt::format("'{}' is not the name of a counter with its rollup", files::printable(name));
    } else {
      why = metrics::unknown_counter(name);
    }
    if (!why.empty()) {
      throw CLI::ValidationError(
          "--counters", why + "; `warpgauge metrics --chip CHIP --search WORD` lists them");
    }
    if (std::ranges::find(counters, row) == counters.end()) counters.push_back(row);
  }
  return counters;
}

void add_selection(CLI::App* command, gate::GateOptions& options) {
  add_filter_options(*command, options.selection);
  command->add_flag("--large", options.selection.large,
                    "Run the large cases, too; they are made for GPUs");
  command
      ->add_option("--arch", options.archs,
                   "Architectures (sm_90,...) of the compile-time facts (default: all) and of the "
                   "emulator (default: sm_90, sm_90a or the newest)")
      ->delimiter(',')
      ->type_name("ARCH,...");
  command->add_flag_callback(
      "--no-cupti", [&options] { options.use_cupti = false; },
      "Leave CUPTI out, so that another profiler can attach");
  command->add_flag_callback(
      "--no-bounded", [&options] { options.bounded = false; },
      "Leave out times and hardware counters: exact counts only");
  command
      ->add_option_function<std::vector<std::string>>(
          "--counters",
          [&options](const std::vector<std::string>& names) {
            options.counters = counters_called(names);
          },
          "Measure these hardware counters, too; judged only where a budget names them")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
}

/// Only the case of the order that is to be replayed runs, as it ran then.
void select_replayed(gate::GateOptions& options) {
  const metrics::OrderFile order = metrics::read_order(options.orders.replay);
  if (order.test_case.empty()) {
    throw std::invalid_argument(options.orders.replay.string() +
                                ": its launch is one of a program: give it to warpgauge emulate");
  }
  options.selection.filter = {order.test_case};
  options.selection.large = true;
  if (options.archs.empty()) options.archs = {order.arch};
}

}  // namespace

void add_gate(CommandLine& line) {
  auto options = std::make_shared<gate::GateOptions>();
  auto required = std::make_shared<std::vector<std::string>>();
  CLI::App* command = line.add(
      "gate", "Measure everything this machine can and judge it against the budgets", kGateFooter);
  auto device = add_device(command);
  add_selection(command, *options);
  command->add_option("--out", options->out, "Folder for facts.jsonl and summary.md")
      ->capture_default_str()
      ->type_name("DIR");
  command
      ->add_option(
          "--project", options->project,
          "Budgets of the whole project (default: the warpgauge.toml that the build names)")
      ->type_name("FILE");
  command->add_flag("--table", options->table,
                    "Print the key metrics of every case, judged or not");
  command
      ->add_option("--coverage", options->coverage,
                   "Write which lines and branches of kernels ran to this file, in lcov's format "
                   "(emulator only)")
      ->type_name("FILE");
  add_checks(command, options->checks, options->orders);
  fuzz::add_fuzz_options(*command, options->fuzz);
  command->add_option("--require", *required, "Exit 3 unless all of this was measured")
      ->check(CLI::IsMember({"cubin", "cupti"}))
      ->type_name("{cubin,cupti}")
      ->delimiter(',');
  command->add_flag("--strict", options->requirements.strict,
                    "Values better than their budget fail, so that budgets stay tight");
  process::add_timeout_option(*command, options->time_limit, "Time limit for each case");
  command
      ->add_option("-j,--jobs", options->jobs,
                   "Processes at once (default: one for each core, at most 6 on a GPU)")
      ->check(CLI::Range(1u, 1024u))
      ->type_name("N");
  line.on_run(command, [=, &line] {
    outcome::Requirements& requirements = options->requirements;
    for (const std::string& source : *required) {
      (source == "cupti" ? requirements.cupti : requirements.cubin) = true;
    }
    requirements.device = *device == process::DeviceChoice::gpu;
    options->device = to_string(*device);
    if (requirements.cupti && *device == process::DeviceChoice::emulated) {
      throw std::invalid_argument("--require=cupti and --device=emulated exclude each other");
    }
    if (!options->orders.replay.empty()) select_replayed(*options);
    line.continue_on(requirements.cupti ? process::DeviceChoice::gpu : *device);
    return static_cast<int>(gate::run_gate(*options));
  });
}

}  // namespace warpgauge::commands
