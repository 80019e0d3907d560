// warpgauge: the command line tool.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/archs.h"
#include "harness/build_info.h"
#include "harness/commands/command_line.h"
#include "harness/commands/external_commands.h"
#include "harness/commands/generations.h"
#include "harness/commands/help_text.h"
#include "harness/commands/list.h"
#include "harness/commands/metrics_table.h"
#include "harness/commands/program_commands.h"
#include "harness/devices.h"
#include "harness/diff/compare.h"
#include "harness/doctor/doctor.h"
#include "harness/explain/explain.h"
#include "harness/explain/explain_picture.h"
#include "harness/gate/gate.h"
#include "harness/process/program.h"
#include "harness/provenance.h"
#include "harness/runtime.h"

namespace {

using namespace warpgauge;

void add_gate(CLI::App& app, std::function<int()>& action, char** argv) {
  auto options = std::make_shared<GateOptions>();
  auto required = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "gate", "Run everything this machine can measure and judge it against the budgets");
  document(
      command,
      {.about = {"What was measured, with its verdicts, goes to facts.jsonl; what is wrong, and "
                 "why, to the terminal and to summary.md."},
       .exit_codes = {{"0", "within budget"},
                      {"1", "over budget"},
                      {"2", "a fault"},
                      {"3", "something required was not measured"}},
       .examples = {"warpgauge gate", "warpgauge gate --filter 'transpose.*' --arch sm_90",
                    "warpgauge gate --device=emulated --arch sm_75,sm_120",
                    "warpgauge gate --require=cupti --strict --out results"}});
  auto device = add_device(command);
  command->add_option("--filter", options->filter, "Only cases whose id matches this glob")
      ->type_name("GLOB");
  command->add_flag("--large", options->large, "Run the large cases, too: made for GPUs");
  command
      ->add_option("--arch", options->archs,
                   "Only these architectures (sm_90,...): their compile-time facts, and what the "
                   "emulator runs kernels as (default: all, and sm_90)")
      ->delimiter(',')
      ->type_name("ARCH,...");
  command->add_option("--out", options->out, "Folder for facts.jsonl and summary.md")
      ->capture_default_str()
      ->type_name("DIR");
  command->add_option("--require", *required, "Exit 3 unless all of this was measured")
      ->check(CLI::IsMember({"ptxas", "cupti"}))
      ->delimiter(',');
  command->add_flag("--strict", options->requirements.strict,
                    "Values better than their budget fail, so that budgets stay tight");
  command
      ->add_option_function<int>(
          "--timeout",
          [options](const int& seconds) { options->time_limit = std::chrono::seconds(seconds); },
          "Time limit for each case in seconds")
      ->check(CLI::Range(1, 86400))
      ->default_str("60");
  command->add_flag_callback(
      "--no-cupti", [options] { options->use_cupti = false; },
      "Leave CUPTI out, so that another profiler can attach");
  command->add_flag_callback(
      "--no-bounded", [options] { options->bounded = false; },
      "Leave out times and hardware counters: exact counts only");
  command->callback([=, &action] {
    for (const std::string& source : *required) {
      (source == "cupti" ? options->requirements.cupti : options->requirements.ptxas) = true;
    }
    action = [=] {
      options->requirements.device = *device == DeviceChoice::gpu;
      // Who asks for CUPTI is not content with the emulator.
      if (options->requirements.cupti && *device == DeviceChoice::emulated) {
        throw std::invalid_argument("--require=cupti and --device=emulated exclude each other");
      }
      continue_on(options->requirements.cupti ? DeviceChoice::gpu : *device, argv);
      return static_cast<int>(run_gate(*options));
    };
  });
}

void add_list(CLI::App& app, std::function<int()>& action) {
  auto filter = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("list", "List the cases: one id a line");
  document(command, {.about = {"Needs no GPU."},
                     .exit_codes = {{"0", "listed"}, {"2", "a fault: nothing is selected"}},
                     .examples = {"warpgauge list --filter '*.f64@*'", "warpgauge list --archs",
                                  "warpgauge list --rows"}});
  auto* const glob = command->add_option("--filter", *filter, "Only ids that match this glob");
  glob->type_name("GLOB");
  auto archs = std::make_shared<bool>(false);
  command
      ->add_flag("--archs", *archs,
                 "List the architectures that the kernels were compiled for, instead")
      ->excludes(glob);
  auto large = std::make_shared<bool>(false);
  command->add_flag("--large", *large, "List the large cases, too");
  auto rows = std::make_shared<bool>(false);
  command
      ->add_flag("--rows", *rows,
                 "List the rows of the catalogue and the families that cover each, instead")
      ->excludes(glob);
  command->callback([=, &action] {
    action = [=] {
      if (*archs) return list_archs();
      return *rows ? list_rows() : list_cases(*filter, *large);
    };
  });
}

void add_metrics(CLI::App& app, std::function<int()>& action) {
  auto chip = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("metrics", "List the metrics; with --chip, what a chip can count");
  document(command, {.about = {"Needs no GPU."},
                     .exit_codes = {{"0", "listed"},
                                    {"2", "a fault"},
                                    {"3", "CUPTI is not there to tell (--chip)"}},
                     .examples = {"warpgauge metrics", "warpgauge metrics --chip GH100",
                                  "warpgauge metrics --chip all", "warpgauge metrics --json"}});
  auto* const of_chip =
      command->add_option("--chip", *chip, "A chip that CUPTI knows (GH100), or 'all'")
          ->type_name("CHIP");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print the table as JSON, instead")->excludes(of_chip);
  command->callback([=, &action] {
    action = [=] { return *json ? print_metrics_as_json() : show_metrics(*chip); };
  });
}

void add_explain(CLI::App& app, std::function<int()>& action, char** argv) {
  auto options = std::make_shared<PictureOptions>();
  CLI::App* command = app.add_subcommand(
      "explain",
      "Show what each source line of a case costs, the worst line first; or draw one access of it");
  document(
      command,
      {.about = {"--text and --picture draw lanes against banks, a row for each wavefront, of the "
                 "access to shared memory that takes most wavefronts beyond the ideal (of a line "
                 "that only accesses global memory, lanes against sectors). They run the case on "
                 "the emulator, even if there is a GPU: it alone knows addresses."},
       .exit_codes = {{"0", "shown"}, {"2", "a fault"}, {"3", "it could not be counted"}},
       .examples = {"warpgauge explain transpose.tiled.f32@1024x1024",
                    "warpgauge explain transpose.tiled.f32@1024x1024 --arch sm_75",
                    "warpgauge explain transpose.tiled.f32@1024x1024 --text",
                    "warpgauge explain transpose.tiled.f32@1024x1024 --line 85 --picture x.svg"}});
  auto device = add_device(command);
  command->add_option("--arch", options->arch, "What the emulator runs it as")
      ->default_str("sm_90")
      ->type_name("ARCH");
  command->add_option("id", options->id, "A case, as `warpgauge list` shows it")
      ->required()
      ->type_name("ID");
  command->add_flag("--text", options->text, "Draw one access, as text");
  command->add_option("--picture", options->svg, "Draw one access into this file, as SVG")
      ->check(kSvg)
      ->type_name("FILE.svg");
  command
      ->add_option("--line", options->line,
                   "With --text, --picture: draw the worst access of this source line, LINE or "
                   "FILE:LINE")
      ->check(kNotEmpty)
      ->type_name("LINE");
  command->callback([=, &action] {
    action = [=] {
      const bool draws = options->text || !options->svg.empty();
      if (!draws && !options->line.empty()) {
        throw std::invalid_argument("--line says what to draw: add --text or --picture FILE.svg");
      }
      if (!draws) {
        continue_on(*device, argv);
        return explain_case(options->id, options->arch);
      }
      if (*device == DeviceChoice::gpu) {
        throw std::invalid_argument(
            "--device=gpu: a GPU does not tell addresses; --text and --picture need the emulator");
      }
      continue_on(DeviceChoice::emulated, argv);
      return draw_case(*options);
    };
  });
}

void add_compare(CLI::App& app, std::function<int()>& action) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare",
      "Compare what two runs counted, source line by source line: the emulator's counts "
      "with a GPU's");
  document(command,
           {.exit_codes = {{"0", "no count differs that both call exact"},
                           {"1", "one does"},
                           {"2", "a fault: nothing in common"},
                           {"3", "a case could not be compared (--require-all)"}},
            .examples = {"warpgauge compare out/facts.jsonl h100.jsonl",
                         "warpgauge compare before.jsonl after.jsonl --require-all",
                         "warpgauge compare a.jsonl b.jsonl --filter 'reduce.*' --json c.json"}});
  command->add_option("a", options->a, "Facts of a run (facts.jsonl)")->required()->type_name("A");
  command->add_option("b", options->b, "Facts of another run")->required()->type_name("B");
  command->add_option("--filter", options->filter, "Only cases whose id matches this glob")
      ->type_name("GLOB");
  command->add_option("--json", options->json, "Write the comparison to this file, too")
      ->type_name("FILE");
  command->add_flag("--require-all", options->require_all,
                    "Exit 3 if a case was counted on one side only, or its machine code is not the "
                    "same on both");
  command->callback([options, &action] { action = [options] { return compare_facts(*options); }; });
}

void add_devices(CLI::App& app, std::function<int()>& action, char** argv) {
  CLI::App* command = app.add_subcommand("devices", "Show the GPUs of this machine");
  document(
      command,
      {.exit_codes = {{"0", "shown, even if that is that there is no GPU"}, {"2", "a fault"}},
       .examples = {"warpgauge devices", "warpgauge devices --models", "warpgauge devices --limits",
                    "warpgauge devices --shared-config --device=emulated"}});
  auto describe = std::make_shared<std::string (*)()>(&describe_devices);
  CLI::Option_group* const instead = command->add_option_group("instead");
  instead->require_option(0, 1);
  const auto add = [&](const char* name, std::string (*text)(), const char* help) {
    instead->add_flag_callback(
        name, [describe, text] { *describe = text; }, help);
  };
  add("--models", &describe_models,
      "Print the first GPU of each model, for scripts: its UUID, as CUDA_VISIBLE_DEVICES takes it, "
      "a tab and its name; nothing where there is none");
  add("--limits", &describe_generations, "Show what each compute capability brought and allows");
  add("--shared-config", &describe_shared_configuration,
      "Show what the runtime does with the calls that configured the shared memory of old GPUs");
  auto device = add_device(command);
  command->callback([=, &action] {
    action = [=] {
      if (*device != DeviceChoice::automatic) continue_on(*device, argv);
      if (is_emulated()) emulate_arch(default_emulated_arch());
      fmt::print("{}", (*describe)());
      return 0;
    };
  });
}

void add_doctor(CLI::App& app, std::function<int()>& action, char** argv) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand(
      "doctor", "Look at everything that measuring needs here, and say what would mend it");
  document(command,
           {.about = {"Counts a kernel whose bank conflicts are known, on the way that the gate "
                      "takes."},
            .exit_codes = {{"0", "the gate can do its work here"},
                           {"2", "a fault"},
                           {"3", "something that it needs is amiss"}},
            .examples = {"warpgauge doctor", "warpgauge doctor --require=cupti --json"}});
  auto device = add_device(command);
  command
      ->add_option_function<std::string>(
          "--require", [options](const std::string&) { options->require_cupti = true; },
          "As the gate is asked: cupti, a GPU and all of its counters")
      ->check(CLI::IsMember({"cupti"}))
      ->type_name("{cupti}");
  command->add_option("--out", options->out, "The folder that the gate is to write to")
      ->capture_default_str()
      ->type_name("DIR");
  command
      ->add_option_function<int>(
          "--timeout",
          [options](const int& seconds) { options->time_limit = std::chrono::seconds(seconds); },
          "Time limit for each look that may hang, in seconds")
      ->check(CLI::Range(1, 86400))
      ->default_str("60");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([=, &action] {
    options->device = *device;
    if (options->require_cupti && *device == DeviceChoice::emulated) {
      throw std::invalid_argument("--require=cupti and --device=emulated exclude each other");
    }
    action = [=] {
      // Whether there is a GPU is for the doctor to find out, without being hurt by a broken one.
      const DeviceChoice choice = options->require_cupti ? DeviceChoice::gpu : *device;
      if (choice != DeviceChoice::automatic) continue_on(choice, argv);
      return static_cast<int>(run_doctor(*options));
    };
  });
}

std::string version() {
  return fmt::format("warpgauge {} (CUDA {}; {})", kBuildInfo.version, toolkit(),
                     fmt::join(chosen_archs({}), " "));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("a go/no-go gauge for CUDA kernels");
  document(&app,
           {.about = {"Runs kernels, counts what the hardware had to do for them (bank conflicts, "
                      "memory sectors, spills, registers, time), and holds the counts against "
                      "budgets. Each command says more: `warpgauge gate --help`."},
            .exit_codes = {{"0", "as it should be"},
                           {"1", "it is not"},
                           {"2", "a fault"},
                           {"3", "not measured"}},
            .examples = {"warpgauge doctor", "warpgauge gate --filter 'transpose.*'",
                         "warpgauge explain --help"}});
  app.failure_message(parse_failure);
  app.require_subcommand(0, 1);  // none is told below, with all there is to choose from
  std::function<int()> action;
  add_gate(app, action, argv);
  add_list(app, action);
  add_metrics(app, action);
  add_explain(app, action, argv);
  add_compare(app, action);
  add_emulate(app, action);
  add_attach(app, action);
  add_devices(app, action, argv);
  add_doctor(app, action, argv);
  for (const ExternalCommand& one : external_commands()) {
    app.add_subcommand(std::string(one.command), std::string(one.help));
  }
  add_completion(app, action);
  app.set_version_flag("--version", version, "Show what this is and what it was built for");
  try {
    continue_in_external_command(argv);
    check_command(app, argc, argv);
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
