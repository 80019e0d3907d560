// warpgauge: the command line tool.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/devices.h"
#include "harness/explain.h"
#include "harness/gate.h"
#include "harness/list.h"
#include "harness/metrics_table.h"

namespace {

using namespace warpgauge;

void add_gate(CLI::App& app, std::function<int()>& action) {
  auto options = std::make_shared<GateOptions>();
  auto required = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "gate", "Run everything this machine can measure and judge it against the budgets");
  command->footer(
      "Exit codes: 0 within budget, 1 over budget, 2 a fault, 3 something required not "
      "measured.\n\n"
      "Examples:\n"
      "  warpgauge gate\n"
      "  warpgauge gate --filter 'transpose.*' --arch sm_90\n"
      "  warpgauge gate --require=cupti --strict --out results");
  command->add_option("--filter", options->filter, "Only cases whose id matches this glob")
      ->type_name("GLOB");
  command
      ->add_option("--arch", options->archs,
                   "Compile-time facts of these architectures only (sm_90,...)")
      ->delimiter(',');
  command->add_option("--out", options->out, "Folder for facts.jsonl and summary.md")
      ->capture_default_str();
  command
      ->add_option("--require", *required, "Exit 3 unless all of this was measured: ptxas, cupti")
      ->check(CLI::IsMember({"ptxas", "cupti"}))
      ->delimiter(',');
  command->add_flag("--strict", options->demands.strict,
                    "Values better than their budget fail, so that budgets stay tight");
  command
      ->add_option_function<int>(
          "--timeout",
          [options](const int& seconds) { options->time_limit = std::chrono::seconds(seconds); },
          "Time limit for each case in seconds (default 60)")
      ->check(CLI::Range(1, 86400));
  command->add_flag_callback(
      "--no-cupti", [options] { options->use_cupti = false; },
      "Leave CUPTI out, so that another profiler can attach");
  command->add_flag_callback(
      "--no-bounded", [options] { options->bounded = false; },
      "Leave out times and hardware counters: exact counts only");
  command->callback([options, required, &action] {
    for (const std::string& source : *required) {
      (source == "cupti" ? options->demands.cupti : options->demands.ptxas) = true;
    }
    action = [options] { return static_cast<int>(run_gate(*options)); };
  });
}

void add_list(CLI::App& app, std::function<int()>& action) {
  auto filter = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("list", "List the cases: one id a line");
  command->footer("Example:\n  warpgauge list --filter '*.f64@*'");
  command->add_option("--filter", *filter, "Only ids that match this glob")->type_name("GLOB");
  command->callback([filter, &action] { action = [filter] { return list_cases(*filter); }; });
}

void add_metrics(CLI::App& app, std::function<int()>& action) {
  auto chip = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("metrics", "List the metrics; with --chip, what a chip can count");
  command->footer(
      "Needs no GPU.\n\nExamples:\n  warpgauge metrics\n  warpgauge metrics --chip GH100\n"
      "  warpgauge metrics --chip all");
  command->add_option("--chip", *chip, "A chip that CUPTI knows (GH100), or 'all'");
  command->callback([chip, &action] { action = [chip] { return show_metrics(*chip); }; });
}

void add_explain(CLI::App& app, std::function<int()>& action) {
  auto id = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "explain", "Show what each source line of a case costs, the worst line first");
  command->footer("Example:\n  warpgauge explain transpose.tiled.f32@1024x1024");
  command->add_option("id", *id, "A case, as `warpgauge list` shows it")->required();
  command->callback([id, &action] { action = [id] { return explain_case(*id); }; });
}

void add_devices(CLI::App& app, std::function<int()>& action) {
  CLI::App* command = app.add_subcommand("devices", "Show the GPUs of this machine");
  command->callback([&action] {
    action = [] {
      fmt::print("{}", describe_devices());
      return 0;
    };
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("warpgauge: a go/no-go gauge for CUDA kernels");
  app.require_subcommand(0, 1);  // none is told below, so that a misspelt one can be named
  std::function<int()> action;
  add_gate(app, action);
  add_list(app, action);
  add_metrics(app, action);
  add_explain(app, action);
  add_devices(app, action);
  try {
    app.parse(argc, argv);
    if (action) return action();
    fmt::print(stderr, "{}\nname a command\n", app.help());
    return kFault;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kFault;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kFault;
  }
}
