// warpgauge list: the cases and architectures of this build.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/cases/built_architectures.h"
#include "harness/cases/registry.h"
#include "harness/commands/command_line.h"
#include "harness/files/source_root.h"
#include "harness/measuring/compile_time_facts.h"
#include "harness/outcome/exit_code.h"
#include "harness/process/filter_options.h"
#include "harness/runtime.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kListFooter =
    R"(Needs no GPU.

Exit codes:
  0  listed
  2  a fault: no case matches

Examples:
  warpgauge list --filter '*.f64@*'
  warpgauge list --large --json
  warpgauge list --json --launches sm_90
  warpgauge list --archs
)";

int list_cases(const metrics::Selection& selection) {
  for (const Case* listed : Registry::instance().select(selection)) {
    fmt::print("{}\n", listed->id.str());
  }
  return outcome::kWithinBudget;
}

nlohmann::ordered_json launches_json(const Case& listed, const std::string& arch) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (!listed.counted) return rows;
  for (const auto& [kernel, launch] : launches_on(listed, arch)) {
    nlohmann::ordered_json& object = rows.emplace_back();
    object["kernel"] = kernel;
    object["grid"] = launch.grid;
    object["block"] = launch.block;
    object["dynamic_shared_bytes"] = launch.dynamic_shared_bytes;
    object["count"] = launch.count;
    object["cluster"] = launch.cluster;
  }
  return rows;
}

/// {"cases": [{id, family, variant, type, size, file, line, large, counted, gpu_only, needs,
/// launches},
/// ...]}
int print_json(const metrics::Selection& selection, const std::string& launches) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (const Case* listed : Registry::instance().select(selection)) {
    ordered_json& object = rows.emplace_back();
    object["id"] = listed->id.str();
    object["family"] = listed->id.family;
    object["variant"] = listed->id.variant;
    object["type"] = listed->id.type;
    object["size"] = listed->id.size;
    object["file"] = files::relative_to_root(listed->file);
    object["line"] = listed->line;
    object["large"] = listed->large;
    object["counted"] = listed->counted;
    if (!listed->gpu_only.empty()) object["gpu_only"] = listed->gpu_only;
    if (!listed->needs.empty()) object["needs"] = listed->needs;
    if (!launches.empty()) object["launches"] = launches_json(*listed, launches);
  }
  ordered_json list;
  list["cases"] = std::move(rows);
  fmt::print("{}\n", list.dump(2));
  return outcome::kWithinBudget;
}

int list_archs() {
  for (const std::string& arch : chosen_archs({})) fmt::print("{}\n", arch);
  return outcome::kWithinBudget;
}

struct ListOptions {
  metrics::Selection selection;
  bool archs = false, json = false;
  std::string launches;  ///< on this architecture; empty: none
};

}  // namespace

void add_list(CommandLine& line) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* command = line.add("list", "List the cases: one id a line", kListFooter);
  process::add_filter_options(*command, options->selection);
  CLI::Option* archs =
      command->add_flag("--archs", options->archs, "List the architectures of the build instead")
          ->excludes(command->get_option("--filter"))
          ->excludes(command->get_option("--exclude"));
  command->add_flag("--large", options->selection.large, "List the large cases, too");
  CLI::Option* json = command
                          ->add_flag("--json", options->json,
                                     "Print what is registered of each, and where, as JSON")
                          ->excludes(archs);
  command
      ->add_option("--launches", options->launches,
                   "With --json: the launches of each case, too, on this architecture")
      ->needs(json)
      ->type_name("ARCH");
  line.on_run(command, [=] {
    if (options->archs) return list_archs();
    if (!options->json) return list_cases(options->selection);
    if (!options->launches.empty()) {
      chosen_archs({options->launches});
      if (is_emulated()) emulate_arch(options->launches);
    }
    return print_json(options->selection, options->launches);
  });
}

}  // namespace warpgauge::commands
