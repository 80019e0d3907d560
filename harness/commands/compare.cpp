// warpgauge compare: what two runs counted, source line by source line.

#include "harness/diff/compare.h"

#include "harness/commands/command_line.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kFooter =
    R"(Exit codes:
  0  all exact counts agree
  1  an exact count differs
  2  a fault: nothing in common
  3  a case could not be compared (--require-all)

Examples:
  warpgauge compare out/facts.jsonl h100.jsonl
  warpgauge compare before.jsonl after.jsonl --require-all
  warpgauge compare a.jsonl b.jsonl --filter 'reduce.*' --json c.json
)";

}  // namespace

void add_compare(CommandLine& line) {
  auto options = std::make_shared<diff::CompareOptions>();
  CLI::App* command = line.add(
      "compare", "Compare the counts of two runs by source line: the emulator's with a GPU's",
      kFooter);
  command->add_option("a", options->a, "Facts of a run (facts.jsonl)")->required()->type_name("A");
  command->add_option("b", options->b, "Facts of another run")->required()->type_name("B");
  command->add_option("--filter", options->filter, "Only cases whose id matches this glob")
      ->type_name("GLOB");
  command->add_option("--json", options->json, "Write the comparison to this file, too")
      ->type_name("FILE");
  command->add_flag("--require-all", options->require_all,
                    "Exit 3 if a case was counted on one side only, or its machine code differs");
  line.on_run(command, [options] { return diff::compare_facts(*options); });
}

}  // namespace warpgauge::commands
