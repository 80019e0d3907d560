// warpgauge metrics: the catalog of metrics, and how much of it a chip can count.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include "harness/commands/command_line.h"
#include "harness/outcome/exit_code.h"
#include "metrics/cupti/cupti.h"
#include "metrics/facts/catalog.h"
#include "metrics/facts/catalog_file.h"
#include "metrics/facts/counter_row.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kMetricsFooter =
    R"help(Needs no GPU.

Exit codes:
  0  listed
  2  a fault
  3  CUPTI is missing (--chip)

Examples:
  warpgauge metrics
  warpgauge metrics --chip GH100
  warpgauge metrics --chip all
  warpgauge metrics --chip gh100 --search tensor
  warpgauge metrics --chip gh100 --search l1tex --json
  warpgauge metrics --json
  ncu --csv --page raw --metrics "$(warpgauge metrics --nsight)" ./a.out
)help";

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

/// The rollups that are no further rollup of another one: the rest would be 44 words a counter.
std::vector<std::string> short_rollups(const std::vector<std::string>& rollups) {
  std::vector<std::string> kept;
  for (const std::string& rollup : rollups) {
    const std::string first = rollup.substr(0, rollup.find('.'));
    if (first == rollup || std::ranges::find(rollups, first) == rollups.end()) {
      kept.push_back("." + rollup);
    }
  }
  return kept;
}

void show_counters(const std::string& chip, const std::string& search) {
  const std::vector<metrics::ChipCounter> counters = metrics::chip_counters(chip, search);
  for (const metrics::ChipCounter& counter : counters) {
    fmt::print("{} ({}{}{})\n", counter.name, counter.type, counter.unit.empty() ? "" : ", ",
               counter.unit);
    if (!counter.description.empty()) fmt::print("    {}\n", counter.description);
    fmt::print("    {}\n", fmt::join(short_rollups(counter.rollups), " "));
  }
  fmt::print("{} counters; a metric is \"counter.NAME\" with a rollup, of which --json has all\n",
             counters.size());
}

/// {"counters": [{name, type, unit, ...}, ...]}
void print_counters(const std::string& chip, const std::string& search) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (const metrics::ChipCounter& counter : metrics::chip_counters(chip, search)) {
    rows.push_back({{"name", counter.name},
                    {"type", counter.type},
                    {"unit", counter.unit},
                    {"hw_unit", counter.hw_unit},
                    {"description", counter.description},
                    {"rollups", counter.rollups}});
  }
  fmt::print("{}\n", ordered_json{{"counters", std::move(rows)}}.dump(2));
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

int show_metrics(const std::string& chip, const std::optional<std::string>& search, bool json) {
  try {
    if (search) {
      (json ? print_counters : show_counters)(chip, *search);
    } else if (chip.empty()) {
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

/// Prints an argument for ncu --metrics: the names of all counts that Nsight Compute has, too.
int print_nsight_names() {
  std::set<std::string_view> names;
  for (const metrics::Metric& row : metrics::catalog()) {
    names.insert(row.nsight_names.begin(), row.nsight_names.end());
  }
  fmt::print("{}\n", fmt::join(names, ","));
  return outcome::kWithinBudget;
}

/// {"metrics": [{id, unit, direction, ...}, ...], "counter": what the rows of counters have}.
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
    object["formula"] = row.formula.text();
    object["cupti_names"] = row.cupti_names;
    object["meaning"] = row.meaning;
    object["good"] = row.good;
    object["cure"] = row.cure;
    object["ideal"] = row.ideal;
    object["built_in"] = row.built_in ? ordered_json(*row.built_in) : ordered_json();
    object["nsight_names"] = row.nsight_names;
  }
  ordered_json table;
  table["metrics"] = std::move(rows);
  const metrics::CounterForm& counter = metrics::built_in_catalog().counter;
  ordered_json units = ordered_json::array();
  for (const auto& [ending, unit] : counter.units) units.push_back({ending, unit});
  const metrics::Metric& any = counter.row;
  table["counter"] = {{"prefix", metrics::kCounterPrefix},
                      {"pattern", counter.pattern},
                      {"units", std::move(units)},
                      {"direction", "none"},
                      {"cost", to_string(any.cost)},
                      {"class", to_string(any.cls)},
                      {"source", to_string(any.source)},
                      {"meaning", any.meaning},
                      {"good", any.good},
                      {"cure", any.cure},
                      {"ideal", any.ideal}};
  fmt::print("{}\n", table.dump(2));
  return outcome::kWithinBudget;
}

}  // namespace

void add_metrics(CommandLine& line) {
  auto chip = std::make_shared<std::string>();
  auto search = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  auto nsight = std::make_shared<bool>(false);
  CLI::App* command = line.add(
      "metrics", "List the metrics; with --chip, which of them a chip can count", kMetricsFooter);
  CLI::Option* of_chip =
      command->add_option("--chip", *chip, "A chip that CUPTI supports (GH100), or 'all'")
          ->type_name("CHIP");
  CLI::Option* to_search =
      command
          ->add_option("--search", *search,
                       "List the chip's hardware counters whose name or description has this word")
          ->type_name("WORD");
  CLI::Option* as_json =
      command->add_flag("--json", *json, "Print the table, or the counters found, as JSON instead");
  CLI::Option* for_nsight = command->add_flag(
      "--nsight", *nsight,
      "Print Nsight Compute's names of these metrics, as ncu --metrics takes them");
  for_nsight->excludes(as_json)->excludes(of_chip)->excludes(to_search);
  line.on_run(command, [=] {
    if (*nsight) return print_nsight_names();
    const bool searches = to_search->count() > 0;
    if (searches && (chip->empty() || *chip == "all")) {
      throw std::invalid_argument("--search needs --chip with one chip");
    }
    if (*json && !searches && of_chip->count() > 0) {
      throw std::invalid_argument("--json takes --chip only with --search");
    }
    if (*json && !searches) return print_json();
    return show_metrics(*chip, searches ? std::optional(*search) : std::nullopt, *json);
  });
}

}  // namespace warpgauge::commands
