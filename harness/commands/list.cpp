// warpgauge list: the cases and architectures of this build.

#include <fmt/format.h>

#include "harness/archs.h"
#include "harness/commands/command_line.h"
#include "harness/outcome/exit_code.h"
#include "harness/registry.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kFooter =
    R"(Needs no GPU.

Exit codes:
  0  listed
  2  a fault: no case matches

Examples:
  warpgauge list --filter '*.f64@*'
  warpgauge list --archs
)";

int list_cases(const std::string& filter, bool large) {
  for (const Case* one : Registry::instance().select(filter, large)) {
    fmt::print("{}\n", one->id.str());
  }
  return outcome::kWithinBudget;
}

int list_archs() {
  for (const std::string& arch : chosen_archs({})) fmt::print("{}\n", arch);
  return outcome::kWithinBudget;
}

struct Options {
  std::string filter;
  bool archs = false, large = false;
};

}  // namespace

void add_list(CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App* command = line.add("list", "List the cases: one id a line", kFooter);
  CLI::Option* filter =
      command->add_option("--filter", options->filter, "Only ids that match this glob")
          ->type_name("GLOB");
  command->add_flag("--archs", options->archs, "List the architectures of the build instead")
      ->excludes(filter);
  command->add_flag("--large", options->large, "List the large cases, too");
  line.on_run(command, [=] {
    return options->archs ? list_archs() : list_cases(options->filter, options->large);
  });
}

}  // namespace warpgauge::commands
