// warpgauge config: where warpgauge is installed, for other builds.

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "harness/build_info.h"
#include "harness/commands/command_line.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kFooter =
    R"(Exit codes:
  0  printed
  2  a fault, such as a program that is not installed

Examples:
  cmake -S . -B build -DCMAKE_PREFIX_PATH=$(warpgauge config --prefix)
)";

/// The folder that has this program's CMake package.
std::string installed_prefix() {
  const std::filesystem::path programs(kBuildInfo.programs_folder);
  const std::filesystem::path prefix = (programs / "..").lexically_normal().parent_path();
  if (!std::filesystem::exists(prefix / "share/warpgauge/cmake/warpgaugeConfig.cmake")) {
    throw std::runtime_error(prefix.string() +
                             " has no CMake package: run `cmake --install BUILD --prefix FOLDER`, "
                             "or `pip install warpgauge`, and that warpgauge");
  }
  return prefix.string();
}

}  // namespace

void add_config(CommandLine& line) {
  CLI::App* command = line.add("config", "Print where warpgauge is installed", kFooter);
  constexpr const char* kPrefix =
      "Print the folder for CMAKE_PREFIX_PATH, where find_package(warpgauge) looks";
  command->add_flag("--prefix")->description(kPrefix)->required();
  line.on_run(command, [] {
    fmt::print("{}\n", installed_prefix());
    return 0;
  });
}

}  // namespace warpgauge::commands
