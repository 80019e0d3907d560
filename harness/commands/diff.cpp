// warpgauge diff: what changed between two runs, the worst first, and why.

#include "harness/diff/diff.h"

#include <fmt/format.h>
#include <unistd.h>

#include "harness/commands/command_line.h"
#include "harness/files/colour.h"
#include "harness/process/filter_options.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kFooter =
    R"(A noisy value changed if the confidence intervals of the runs do not overlap and it differs by
more than --noise: an interval covers one process, and processes differ, too. A value that A
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

Where the runs were counted by different sources (the emulator and a GPU), the counts of cases with
the same machine code are compared line by line.

Exit codes:
  0  nothing is worse; counts of different sources: all that both call exact agree
  1  something is worse, or such a count differs
  2  a fault: nothing in common
  3  not compared: a value that B lacks, a case of other machine code; --require-all: any case

Examples:
  warpgauge diff main.jsonl out/facts.jsonl
  warpgauge diff a.jsonl b.jsonl --filter 'transpose.*' --json diff.json --all
  warpgauge diff out/facts.jsonl h100.jsonl --require-all
)";

}  // namespace

void add_diff(CommandLine& line) {
  auto options = std::make_shared<diff::DiffOptions>();
  CLI::App* command =
      line.add("diff", "Show what changed between two runs, the worst first, and why", kFooter);
  command->add_option("a", options->a, "Facts of the run before (facts.jsonl)")
      ->required()
      ->type_name("A");
  command->add_option("b", options->b, "Facts of the run after")->required()->type_name("B");
  process::add_filter_options(*command, options->selection);
  command->add_flag("--all", options->screen.everything,
                    "Show every value and line, not one screen");
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
  line.on_run(command, [options] {
    options->screen.colours = files::may_be_coloured(STDOUT_FILENO);
    return diff::diff_runs(*options);
  });
}

}  // namespace warpgauge::commands
