// Finds CUDA toolkits, and reads from their ptxas which architectures they know.
#include "harness/toolchain/toolkit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>
#include <system_error>

#include "harness/files/temporary_path.h"
#include "harness/process/child_program.h"
#include "metrics/architecture/arch_name.h"

namespace warpgauge::toolchain {
namespace {

namespace fs = std::filesystem;

/// The toolkits in a folder: the folder itself, and those of wheels in it (nvidia/cuda_nvcc,
/// nvidia/cu13).
std::vector<std::string> toolkits_below(const fs::path& folder) {
  std::vector<fs::path> places = {folder};
  std::error_code ignored;  // there may be no such folder
  for (const fs::directory_entry& wheel : fs::directory_iterator(folder / "nvidia", ignored)) {
    places.push_back(wheel.path());
  }
  std::vector<std::string> toolkits;
  for (const fs::path& place : places) {
    if (fs::exists(place / "bin" / "ptxas")) toolkits.push_back(place.string());
  }
  std::ranges::sort(toolkits);
  return toolkits;
}

/// Runs ptxas with an option. Nothing if it is no program.
std::optional<process::Ending> run_ptxas(const fs::path& ptxas, const std::string& option,
                                         const fs::path& output, std::chrono::seconds limit) try {
  return process::run_supervised({ptxas.string(), option}, {},
                                 {.output = output, .messages = "/dev/null"},
                                 {.time_limit = limit, .most_output_bytes = 1 << 20});
} catch (const std::runtime_error&) {
  return std::nullopt;
}

/// The text that ptxas prints with an option, at once.
std::string printed_by(const fs::path& ptxas, const std::string& option,
                       std::chrono::seconds limit) {
  constexpr std::chrono::seconds kAtOnce(20);
  if (limit.count() == 0 || limit > kAtOnce) limit = kAtOnce;
  const auto folder =
      files::TemporaryPath::folder_in(fs::temp_directory_path(), "warpgauge-ptxas-");
  const fs::path output = folder.path() / "output";
  const auto ending = run_ptxas(ptxas, option, output, limit);
  if (ending && !ending->limit.empty()) {
    throw std::runtime_error(
        fmt::format("{0}: `{0} {1}` {2}", ptxas.string(), option, ending->limit));
  }
  if (!ending || ending->exit_code() != 0) {
    throw std::runtime_error(
        fmt::format("{0}: does not run; `{0} {1}` shows why", ptxas.string(), option));
  }
  std::ifstream in(output);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// "12.4.131" of "release 12.4, V12.4.131".
std::string version_in(const std::string& text, const fs::path& ptxas) {
  static const std::regex kVersion(R"(\bV([0-9]+(\.[0-9]+)+))");
  std::smatch found;
  if (std::regex_search(text, found, kVersion)) return found[1];
  throw std::runtime_error(
      fmt::format("{}: --version prints no version; is it NVIDIA's?", ptxas.string()));
}

/// The architectures of "Allowed values for this option:  'compute_90','sm_90','sm_90a'".
std::vector<std::string> archs_in(const std::string& help, const fs::path& ptxas) {
  static const std::regex kName("'(sm_[0-9]+[a-z]?)'");
  std::set<metrics::ArchName> archs;
  for (std::sregex_iterator name(help.begin(), help.end(), kName), end; name != end; ++name) {
    if (const auto arch = metrics::ArchName::parse((*name)[1].str())) archs.insert(*arch);
  }
  if (archs.empty()) {
    throw std::runtime_error(fmt::format("{}: --help lists no architectures", ptxas.string()));
  }
  std::vector<std::string> names;
  std::ranges::transform(archs, std::back_inserter(names), &metrics::ArchName::str);
  return names;
}

}  // namespace

std::string Toolkit::str() const { return fmt::format("CUDA {} in {}", version, path.string()); }

Toolkit toolkit_in(const fs::path& folder, std::chrono::seconds time_limit) {
  const std::vector<std::string> found = toolkits_below(folder);
  if (found.empty()) {
    throw std::runtime_error(
        fmt::format("{}: there is no toolkit: neither bin/ptxas nor nvidia/*/bin/ptxas; name a "
                    "folder that has one",
                    folder.string()));
  }
  if (found.size() > 1) {
    throw std::runtime_error(fmt::format("{}: there are several toolkits; name one: {}",
                                         folder.string(), fmt::join(found, ", ")));
  }
  const fs::path programs = fs::path(found.front()) / "bin", ptxas = programs / "ptxas";
  return {.path = folder,
          .programs = programs,
          .version = version_in(printed_by(ptxas, "--version", time_limit), ptxas),
          .archs = archs_in(printed_by(ptxas, "--help", time_limit), ptxas),
          .time_limit = time_limit};
}

void require_arch(const Toolkit& toolkit, const std::string& arch) {
  if (std::ranges::find(toolkit.archs, arch) != toolkit.archs.end()) return;
  throw std::runtime_error(fmt::format("{} does not know {}; it knows {}", toolkit.str(), arch,
                                       fmt::join(toolkit.archs, ", ")));
}

}  // namespace warpgauge::toolchain
