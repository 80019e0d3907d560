// warpgauge metrics: the catalog of metrics, and how much of it a chip can count.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/commands/command_line.h"
#include "harness/outcome/exit_code.h"
#include "metrics/catalog.h"
#include "metrics/cupti.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kFooter =
    R"(Needs no GPU.

Exit codes:
  0  listed
  2  a fault
  3  CUPTI is missing (--chip)

Examples:
  warpgauge metrics
  warpgauge metrics --chip GH100
  warpgauge metrics --chip all
  warpgauge metrics --json
)";

void show_catalog() {
  fmt::print("{:<34} {:<17} {:<7} {:<8} {}\n", "metric", "unit", "better", "class", "source");
  for (const metrics::Metric& row : metrics::catalog()) {
    fmt::print("{:<34} {:<17} {:<7} {:<8} {}\n", row.id, row.unit, to_string(row.direction),
               to_string(row.cls), to_string(row.source));
    fmt::print("    {}\n", row.meaning);
    fmt::print("    good  {}\n", row.good);
    fmt::print("    cure  {}\n", row.cure);
    if (!row.ideal.empty()) fmt::print("    ideal {}\n", row.ideal);
    if (!row.cupti_names.empty()) fmt::print("    {}\n", fmt::join(row.cupti_names, ", "));
  }
}

void show_chip(const std::string& chip) {
  const metrics::ChipSupport support = metrics::chip_support(chip);
  for (const metrics::Metric& row : metrics::catalog()) {
    if (row.cupti_names.empty()) continue;
    fmt::print("{} ({}){}\n", row.id, to_string(row.source),
               support.measures(row) ? "" : ": cannot be measured");
    for (const std::string_view name : row.cupti_names) {
      const auto found = support.names.find(name);
      const bool has = found != support.names.end() && found->second;
      fmt::print("  {:<8} {}\n", has ? "ok" : "LACKING", name);
    }
  }
  fmt::print("{}: the hardware counters take {} passes\n", chip, support.range_passes);
}

void show_all_chips() {
  fmt::print("{:<8} {:>7} {:>7}  {}\n", "chip", "names", "passes", "lacking");
  for (const std::string& chip : metrics::cupti_chips()) {
    const metrics::ChipSupport support = metrics::chip_support(chip);
    std::vector<std::string_view> lacking;
    for (const auto& [name, has] : support.names) {
      if (!has) lacking.push_back(name);
    }
    fmt::print("{:<8} {:>7} {:>7}  {}\n", chip, support.names.size() - lacking.size(),
               support.range_passes,
               lacking.empty() ? "-" : fmt::format("{}", fmt::join(lacking, " ")));
  }
}

int show_metrics(const std::string& chip) {
  try {
    if (chip.empty()) {
      show_catalog();
    } else if (chip == "all") {
      show_all_chips();
    } else {
      show_chip(chip);
    }
  } catch (const metrics::Unmeasured& unmeasured) {
    fmt::print(stderr, "{}\n", unmeasured.what());
    return outcome::kNotMeasured;
  }
  return outcome::kWithinBudget;
}

/// {"metrics": [{id, unit, direction, ...}, ...]}: metrics/catalog.json, which other programs read.
int print_json() {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (const metrics::Metric& row : metrics::catalog()) {
    const bool directed = row.direction != metrics::Direction::none;
    ordered_json& object = rows.emplace_back();
    object["id"] = row.id;
    object["unit"] = row.unit;
    object["direction"] = directed ? to_string(row.direction) : "none";
    object["cost"] = to_string(row.cost);
    object["class"] = to_string(row.cls);
    object["source"] = to_string(row.source);
    object["cupti_names"] = row.cupti_names;
    object["meaning"] = row.meaning;
    object["good"] = row.good;
    object["cure"] = row.cure;
    object["ideal"] = row.ideal;
  }
  ordered_json table;
  table["metrics"] = std::move(rows);
  fmt::print("{}\n", table.dump(2));
  return outcome::kWithinBudget;
}

}  // namespace

void add_metrics(CommandLine& line) {
  auto chip = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      line.add("metrics", "List the metrics; with --chip, which of them a chip can count", kFooter);
  CLI::Option* of_chip =
      command->add_option("--chip", *chip, "A chip that CUPTI supports (GH100), or 'all'")
          ->type_name("CHIP");
  command->add_flag("--json", *json, "Print the table as JSON instead")->excludes(of_chip);
  line.on_run(command, [=] { return *json ? print_json() : show_metrics(*chip); });
}

}  // namespace warpgauge::commands
