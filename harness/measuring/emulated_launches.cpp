// Asks `list --launches` of the emulated program.
#include "harness/measuring/emulated_launches.h"

#include <nlohmann/json.hpp>

#include "harness/process/output_of.h"
#include "harness/process/program.h"
#include "harness/process/program_name.h"

namespace warpgauge {

std::optional<std::vector<LaunchRecord>> emulated_launches(const std::string& id,
                                                           const std::string& arch) {
  const auto program = process::program_path(true).replace_filename(
      process::gauge_name() + std::string(process::kEmulatedSuffix));
  const auto text = process::output_of(
      {program, "list", "--json", "--large", "--launches", arch, "--filter", id});
  if (!text) return std::nullopt;
  std::vector<LaunchRecord> launches;
  try {
    const auto listed = nlohmann::json::parse(*text);
    for (const auto& launch : listed.at("cases").at(0).at("launches")) {
      launches.push_back({launch.at("kernel"),
                          {.grid = launch.at("grid"),
                           .block = launch.at("block"),
                           .dynamic_shared_bytes = launch.at("dynamic_shared_bytes"),
                           .count = launch.at("count"),
                           .cluster = launch.at("cluster")}});
    }
  } catch (const nlohmann::json::exception&) {  // the case printed text of its own
    return std::nullopt;
  }
  return launches;
}

}  // namespace warpgauge
