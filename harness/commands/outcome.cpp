// warpgauge outcome: the outcome of facts that are there, as results.json.

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/commands/command_line.h"
#include "harness/files/colour.h"
#include "harness/files/printable.h"
#include "harness/outcome/outcome_text.h"
#include "harness/outcome/recorded_run.h"

namespace warpgauge::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOutcomeFooter =
    R"(Prints the summary, and writes results.json, which `warpgauge emit` draws for CI systems. The
facts record what the runs required (--strict, --require, --device). Needs no GPU.

Exit codes:
  0  within budget
  1  over budget
  2  a fault: no facts, a damaged file, a run that was cut off
  3  something required was not measured

Examples:
  warpgauge outcome out/facts.jsonl
  warpgauge outcome h100/facts.jsonl l40s/facts.jsonl --out results.json
)";

struct OutcomeOptions {
  std::vector<fs::path> facts;
  fs::path out;  ///< empty: beside the first file of facts
  bool every_value = false;
};

int show_outcome(OutcomeOptions options) {
  if (options.out.empty()) options.out = options.facts.front().parent_path() / "results.json";
  std::vector<metrics::StoredRun> runs;
  for (const fs::path& file : options.facts) {
    std::error_code not_there;
    if (fs::equivalent(file, options.out, not_there)) {
      throw std::runtime_error(
          fmt::format("--out {}: the results would replace the facts; name another file",
                      options.out.string()));
    }
    for (metrics::StoredRun& run : metrics::read_facts(file)) runs.push_back(std::move(run));
  }
  const outcome::Requirements requirements = outcome::requirements_of(runs);
  const outcome::Outcome outcome(std::move(runs), {.requirements = requirements});
  outcome::write_results(outcome, options.out, options.every_value);
  fmt::print("{}results: {}\n",
             outcome::terminal_text(outcome, files::may_be_coloured(STDOUT_FILENO)),
             files::printable(options.out.string()));
  return outcome.exit_code();
}

}  // namespace

void add_outcome(CommandLine& line) {
  auto options = std::make_shared<OutcomeOptions>();
  CLI::App* command = line.add(
      "outcome", "Work out the outcome of one or more runs from their facts", kOutcomeFooter);
  command->add_option("facts", options->facts, "Files of facts")->required()->type_name("FILE");
  command
      ->add_option("--out", options->out,
                   "The file to write (default: results.json beside the first file of facts)")
      ->type_name("FILE");
  command->add_flag("--every-value", options->every_value,
                    "Write values without a budget, too, for outputs that draw them");
  line.on_run(command, [options] { return show_outcome(*options); });
}

}  // namespace warpgauge::commands
