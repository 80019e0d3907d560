// warpgauge config: where warpgauge and a CUDA toolkit are installed, for other builds.

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "harness/build_info.h"
#include "harness/commands/command_line.h"
#include "harness/process/child_program.h"
#include "harness/process/found_program.h"

namespace warpgauge::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfigFooter =
    R"(Exit codes:
  0  printed
  2  a fault, such as a program that is not installed

Examples:
  cmake -S . -B build -DCMAKE_PREFIX_PATH=$(warpgauge config --prefix)
  export CUDACXX=$(warpgauge config --nvcc)
)";

/// The folder that has this program's CMake package.
fs::path installed_prefix() {
  const fs::path programs(kBuildInfo.programs_folder);
  fs::path prefix = (programs / "..").lexically_normal().parent_path();
  if (!fs::exists(prefix / "share/warpgauge/cmake/warpgaugeConfig.cmake")) {
    throw std::runtime_error(prefix.string() +
                             " has no CMake package: use the warpgauge of a wheel, or the one that "
                             "`cmake --install BUILD --prefix FOLDER` installs");
  }
  return prefix;
}

/// The nvcc of NVIDIA's Python wheels, if they are installed beside that of warpgauge. What the
/// wheels lack of a toolkit, links, is made.
fs::path nvcc_of_wheels() {
  const fs::path packages = fs::path(kBuildInfo.programs_folder) / "../../..";
  const fs::path toolkit =
      (packages / fmt::format("nvidia/cu{}", CUDART_VERSION / 1000)).lexically_normal();
  fs::path nvcc = process::found_program((toolkit / "bin/nvcc").string());
  if (nvcc.empty() || fs::exists(toolkit / "lib64/libcudart.so")) return nvcc;
  const fs::path link = installed_prefix() / "share/warpgauge/cmake/link-cuda-wheels";
  if (process::run_to_its_end({link.string(), toolkit.string()}, {}).exit_code() != 0) {
    throw std::runtime_error(toolkit.string() +
                             ": the links that nvcc needs cannot be made; run this once as the "
                             "user who installed it");
  }
  return nvcc;
}

fs::path nvcc() {
  if (const char* const named = std::getenv("CUDACXX"); named != nullptr && *named != '\0') {
    fs::path found = process::found_program(named);
    if (found.empty()) {
      throw std::runtime_error(fmt::format("CUDACXX={}: there is no such program", named));
    }
    return found;
  }
  fs::path found = nvcc_of_wheels();
  for (const char* name : {"nvcc", "/usr/local/cuda/bin/nvcc"}) {
    if (found.empty()) found = process::found_program(name);
  }
  if (found.empty()) {
    throw std::runtime_error(
        "there is no CUDA toolkit: no nvcc in PATH, in /usr/local/cuda or in this Python "
        "environment; install one, or `pip install 'warpgauge[toolkit]'`");
  }
  return found;
}

}  // namespace

void add_config(CommandLine& line) {
  CLI::App* command =
      line.add("config", "Print where warpgauge and the CUDA toolkit are installed", kConfigFooter);
  CLI::Option* prefix = command->add_flag("--prefix");
  prefix->description(
      "Print the folder for CMAKE_PREFIX_PATH, where find_package(warpgauge) looks");
  command->add_flag("--nvcc")->description("Print the compiler for CUDACXX");
  command->require_option(1);
  line.on_run(command, [prefix] {
    fmt::print("{}\n", (prefix->count() > 0 ? installed_prefix() : nvcc()).string());
    return 0;
  });
}

}  // namespace warpgauge::commands
