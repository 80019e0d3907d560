// warpgauge occupancy: the theoretical occupancy of blocks with given needs, and its curves.

#include "metrics/architecture/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/commands/command_line.h"
#include "harness/outcome/exit_code.h"
#include "metrics/architecture/architectures.h"
#include "metrics/architecture/occupancy_curve.h"

namespace warpgauge::commands {
namespace {

using metrics::Architecture;
using metrics::BlockNeeds;
using metrics::BlockResource;
using metrics::Occupancy;

constexpr std::string_view kOccupancyFooter =
    R"(Occupancy is the warps of a multiprocessor that such blocks fill, over the most it can
hold. --over shows how it changes with one of the three while the others stay.
`warpgauge report occupancy` draws what --json prints. Needs no GPU.

Exit codes:
  0  shown, also for blocks that cannot run
  2  a fault

Examples:
  warpgauge occupancy --threads 384 --registers 63
  warpgauge occupancy --threads 512 --registers 32 --shared 32768 --arch sm_90
  warpgauge occupancy --threads 256 --registers 40 --arch sm_90 --over registers
  warpgauge occupancy --threads 256 --registers 40 --over threads --json >x.json
)";

struct OccupancyOptions {
  BlockNeeds needs;
  std::vector<std::string> archs;
  std::vector<std::string> over;
  bool json = false;
};

/// Rows of the table by the names that were asked for: sm_90a has that of sm_90.
using Archs = std::vector<std::pair<std::string, const Architecture*>>;

Archs chosen(const std::vector<std::string>& names) {
  Archs archs;
  for (const std::string& name : names) archs.emplace_back(name, &metrics::architecture(name));
  if (!archs.empty()) return archs;
  for (const Architecture& arch : metrics::architectures()) archs.emplace_back(arch.name(), &arch);
  return archs;
}

std::vector<BlockResource> resources(const std::vector<std::string>& names) {
  std::vector<BlockResource> chosen;
  for (const BlockResource resource :
       {BlockResource::threads, BlockResource::registers, BlockResource::shared}) {
    if (std::ranges::count(names, to_string(resource)) > 0) chosen.push_back(resource);
  }
  return chosen;
}

std::string needs_text(const BlockNeeds& needs) {
  return fmt::format("{} threads, {} registers each, {} bytes of shared memory", needs.threads,
                     needs.registers_per_thread, needs.shared_dynamic_bytes);
}

void print_table(const OccupancyOptions& options, const Archs& archs) {
  fmt::print("blocks of {}\n\n{:<8}{:>6}  {:>9}  {:>9}  {}\n", needs_text(options.needs), "arch",
             "blocks", "warps", "occupancy", "limited by");
  for (const auto& [name, arch] : archs) {
    const Occupancy occupancy = metrics::occupancy(*arch, options.needs);
    fmt::print(
        "{:<8}{:>6}  {:>9}  {:>9.3f}  {}\n", name, occupancy.blocks_per_multiprocessor,
        fmt::format("{} of {}", occupancy.active_warps, arch->max_threads_per_multiprocessor / 32),
        occupancy.fraction, occupancy.limiter);
  }
}

/// A line for each amount, with a bar; an arrow marks the amount that was given.
void print_curve(BlockResource resource, const Archs::value_type& asked, const BlockNeeds& needs) {
  constexpr int kBar = 32;
  const auto& [name, arch] = asked;
  fmt::print("\n{} over {}\n", name, to_string(resource));
  for (const auto& [amount, occupancy] : metrics::occupancy_over(resource, *arch, needs)) {
    const std::string bar(static_cast<std::size_t>(std::lround(occupancy.fraction * kBar)), '#');
    fmt::print("{} {:>7}  {:.3f}  {:<{}}  {}\n",
               amount == metrics::amount_of(resource, needs) ? ">" : " ", amount,
               occupancy.fraction, bar, kBar, occupancy.limiter);
  }
}

nlohmann::ordered_json json_of(const Occupancy& occupancy) {
  return {{"blocks", occupancy.blocks_per_multiprocessor},
          {"warps", occupancy.active_warps},
          {"occupancy", occupancy.fraction},
          {"limiter", occupancy.limiter}};
}

/// {threads, registers, shared, architectures: [{arch, blocks, warps, occupancy, limiter,
/// over: {threads: [{amount, blocks, ...}, ...], ...}}, ...]}
void print_json(const OccupancyOptions& options, const Archs& archs) {
  using nlohmann::ordered_json;
  ordered_json table = {{"threads", options.needs.threads},
                        {"registers", options.needs.registers_per_thread},
                        {"shared", options.needs.shared_dynamic_bytes}};
  for (const auto& [name, arch] : archs) {
    ordered_json row = {{"arch", name}};
    row.update(json_of(metrics::occupancy(*arch, options.needs)));
    row["over"] = ordered_json::object();
    for (const BlockResource resource : resources(options.over)) {
      ordered_json& curve = row["over"][std::string(to_string(resource))];
      for (const auto& [amount, occupancy] :
           metrics::occupancy_over(resource, *arch, options.needs)) {
        ordered_json point = {{"amount", amount}};
        point.update(json_of(occupancy));
        curve.push_back(std::move(point));
      }
    }
    table["architectures"].push_back(std::move(row));
  }
  fmt::print("{}\n", table.dump(2));
}

int show(const OccupancyOptions& options) {
  const auto archs = chosen(options.archs);
  if (options.json) {
    print_json(options, archs);
    return outcome::kWithinBudget;
  }
  print_table(options, archs);
  for (const auto& asked : archs) {
    for (const BlockResource resource : resources(options.over)) {
      print_curve(resource, asked, options.needs);
    }
  }
  return outcome::kWithinBudget;
}

}  // namespace

void add_occupancy(CommandLine& line) {
  auto options = std::make_shared<OccupancyOptions>();
  BlockNeeds& needs = options->needs;
  CLI::App* command =
      line.add("occupancy", "Compute the occupancy of blocks with given needs", kOccupancyFooter);
  command->add_option("--threads", needs.threads, "Threads of a block")
      ->required()
      ->check(CLI::Range(1, 1024))
      ->type_name("NUMBER");
  command->add_option("--registers", needs.registers_per_thread, "Registers of a thread")
      ->required()
      ->check(CLI::Range(0, 255))
      ->type_name("NUMBER");
  command
      ->add_option_function<int>(
          "--shared",
          [options](const int& bytes) {
            options->needs.shared_dynamic_bytes = static_cast<std::uint64_t>(bytes);
          },
          "Shared memory of a block, static and dynamic")
      ->check(CLI::Range(0, 1 << 20))
      ->default_str("0")
      ->type_name("BYTES");
  command->add_option("--barriers", needs.barriers, "Barriers of a block; they limit from sm_90 on")
      ->check(CLI::Range(0, 16))
      ->default_str("0")
      ->type_name("NUMBER");
  command->add_option("--arch", options->archs, "Only these architectures (default: all)")
      ->delimiter(',')
      ->type_name("ARCH,...");
  command->add_option("--over", options->over, "Show the curve over these, too")
      ->check(CLI::IsMember({"threads", "registers", "shared"}))
      ->delimiter(',')
      ->type_name("{threads,registers,shared}");
  command->add_flag("--json", options->json, "Print JSON instead");
  line.on_run(command, [=] { return show(*options); });
}

}  // namespace warpgauge::commands
