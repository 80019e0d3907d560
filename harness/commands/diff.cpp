// warpgauge diff: what changed between two runs, the worst first, and why.

#include "harness/diff/diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>

#include "harness/cases/filter_options.h"
#include "harness/commands/command_line.h"
#include "harness/commands/external_commands.h"
#include "harness/files/colour.h"
#include "harness/files/temporary_path.h"
#include "harness/inspect/inspect.h"
#include "harness/process/program.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kDiffFooter =
    R"(A noisy value changed if the confidence intervals of the runs do not overlap and it differs
by more than --noise: an interval covers one process, and processes differ, too. A value that A
measured and B did not is lost. Of several runs in a file the newest value or error counts; noisy
values of several GPUs are kept apart. Budgets play no part: the gate judges.

Causes:
  code              the kernel's source changed
  compiler          the same source became other machine code
  launch            the same machine code was launched differently
  input or counter  an exact count of the same machine code
  driver            a noisy value of the same machine code and launches under another driver
  environment       the same under the same driver
Changes by driver or environment have moved: they are neither better nor worse. Estimates need not
repeat: with no cause but input or counter they are not compared.

With --base there are no files: the merge base of REV and HEAD is built in a worktree of git as
this program's build folder is, both are gated, and the facts of the base are A. They stay in
--out, as base/facts.jsonl and facts.jsonl. A base that cannot be built or gated is a fault.

Compiled files, and folders or wheels of them, are inspected first (warpgauge inspect). Kernels are
matched by their names, also where hashes or template arguments in them are others.

A file FILE.csv is what `ncu --csv` printed: the counts that are the same in both are held against
each other, and must be equal. Launches are matched by the range that names the case (ncu --nvtx,
with --no-cupti for the program), or by kernel.

Where the runs were counted by different sources (the emulator and a GPU), the counts of cases with
the same machine code are compared line by line.

Exit codes:
  0  nothing is worse; counts of different sources: all that both call exact agree
  1  something is worse, or such a count differs
  2  a fault: nothing in common, or no base
  3  not compared: a value that B lacks, a case of other machine code; --require-all: any case

Examples:
  warpgauge diff main.jsonl out/facts.jsonl
  warpgauge diff a.jsonl b.jsonl --filter 'transpose.*' --json diff.json --all
  warpgauge diff out/facts.jsonl h100.jsonl --require-all
  warpgauge diff out/facts.jsonl ncu.csv
  warpgauge diff --arch sm_90 old/libkernels.so new/libkernels.so
  warpgauge diff --base origin/main --device=emulated --filter 'transpose.*'
)";

/// The options that --base needs beside those of the comparison.
struct BaseOptions {
  std::string revision;
  std::filesystem::path out = "out";
  std::shared_ptr<process::DeviceChoice> device;
};

void check_sides(const diff::DiffOptions& options, const BaseOptions& base, bool of_gates) {
  if (!base.revision.empty() && !options.a.empty()) {
    throw std::invalid_argument("--base makes the facts that it compares: leave A and B out");
  }
  if (base.revision.empty() && of_gates) {
    throw std::invalid_argument("--device and --out are of the gates of --base: give it");
  }
  if (base.revision.empty() && options.b.empty()) {
    throw std::invalid_argument(
        "name two files of facts or compiled files, A and B, or a revision with --base");
  }
}

/// Has the base and the tree as it is gated, by reports/warpgauge/base_run.py, and makes their
/// facts A and B. Returns the exit code: 0 if both are there.
int gate_both(const CLI::App& command, diff::DiffOptions& options, const BaseOptions& base) {
  std::vector<std::string> words = {
      "--base",
      fmt::format("--revision={}", base.revision),
      fmt::format("--program={}", process::program_path(false).string()),
      fmt::format("--out={}", base.out.string()),
      "--",  // options of the gates
      fmt::format("--device={}", to_string(*base.device))};
  if (!options.archs.empty()) {
    words.push_back(fmt::format("--arch={}", fmt::join(options.archs, ",")));
  }
  for (const char* name : {"--filter", "--exclude"}) {
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option == nullptr) continue;
    for (const std::string& glob : option->results()) {
      words.push_back(fmt::format("{}={}", name, glob));
    }
  }
  options.archs.clear();  // all that the gates measured is compared
  options.a = base.out / "base/facts.jsonl";
  options.b = base.out / "facts.jsonl";
  return call_external_command(std::move(words)).exit_code();
}

}  // namespace

/// Replaces compiled files by files of their facts in `folder`.
void record_things(diff::DiffOptions& options, std::optional<std::uint32_t> threads,
                   const std::filesystem::path& folder) {
  const auto record = [&](std::filesystem::path& file, std::string& name, const char* facts) {
    if (!inspect::may_be_inspected(file)) return;
    inspect::InspectOptions how;
    how.threads = threads;
    how.archs = options.archs;
    how.paths = {file};
    inspect::record(how, folder / facts);
    name = file.string();
    file = folder / facts;
  };
  record(options.a, options.name_a, "a.jsonl");
  record(options.b, options.name_b, "b.jsonl");
  if (threads && options.name_a.empty() && options.name_b.empty()) {
    throw std::invalid_argument("--block is for compiled files, and A and B are facts");
  }
}

/// Continues in reports/warpgauge/changes/nsight.py.
[[noreturn]] void compare_with_nsight(const CLI::App& command, const diff::DiffOptions& options) {
  for (const char* name :
       {"--filter", "--exclude", "--json", "--require-all", "--noise", "--arch"}) {
    if (command.count(name) > 0) {
      throw std::invalid_argument(fmt::format("{} is not for a file of Nsight Compute", name));
    }
  }
  run_external_command({"--nsight", options.a, options.b});
}

void add_diff(CommandLine& line) {
  auto options = std::make_shared<diff::DiffOptions>();
  CLI::App* command =
      line.add("diff", "Show what changed between two runs, the worst first, and why", kDiffFooter);
  auto base = std::make_shared<BaseOptions>();
  command->add_option("a", options->a, "Facts of the run before (facts.jsonl), or a compiled file")
      ->type_name("A");
  command->add_option("b", options->b, "Facts of the run after, or a compiled file")
      ->type_name("B");
  command
      ->add_option("--base", base->revision,
                   "Gate the merge base of this revision and HEAD, and compare with it")
      ->type_name("REV");
  base->device = add_device(command);
  command
      ->add_option("--arch", options->archs,
                   "Compare only these architectures, by names or globs; names with --base")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ARCH,...");
  const auto threads = std::make_shared<std::optional<std::uint32_t>>();
  command
      ->add_option(
          "--block", *threads,
          "Threads of a block, for the occupancy of compiled files (default: launch bounds)")
      ->check(CLI::Range(1u, 1024u))
      ->type_name("N");
  command->add_option("--out", base->out, "With --base: folder of the results")
      ->capture_default_str()
      ->type_name("DIR");
  add_filter_options(*command, options->selection);
  command->add_flag("--all", options->display.everything,
                    "Show every value and line, not one display");
  const auto set_noise = [options](const std::string& text) {
    const std::optional<double> share = diff::share_from(text);
    if (!share) {
      throw CLI::ValidationError("--noise",
                                 fmt::format("'{}' is not a share such as 3% or 0.03", text));
    }
    options->noise = *share;
  };
  command
      ->add_option_function<std::string>("--noise", set_noise,
                                         "Share of A by which noisy values differ without a change")
      ->default_str("3%")
      ->type_name("SHARE");
  command->add_option("--json", options->json, "Write the result to this file, too")
      ->type_name("FILE");
  command->add_flag("--require-all", options->require_all,
                    "Exit 3 if a case is in one run only, or cannot be compared");
  line.on_run(command, [options, base, threads, command]() -> int {
    const bool of_gates = command->count("--device") + command->count("--out") > 0;
    check_sides(*options, *base, of_gates);
    options->display.colours = files::may_be_coloured(STDOUT_FILENO);
    if (!base->revision.empty()) {
      const int code = gate_both(*command, *options, *base);
      return code == 0 ? diff::diff_runs(*options) : code;
    }
    if (options->a.extension() == ".csv" || options->b.extension() == ".csv") {
      compare_with_nsight(*command, *options);
    }
    const auto folder =
        files::TemporaryPath::folder_in(std::filesystem::temp_directory_path(), "warpgauge-diff-");
    record_things(*options, *threads, folder.path());
    return diff::diff_runs(*options);
  });
}

}  // namespace warpgauge::commands
