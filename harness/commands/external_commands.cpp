#include "harness/commands/external_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "harness/build_info.h"
#include "harness/process/program_name.h"

namespace warpgauge {

std::vector<ExternalCommand> external_commands() {
  return {
      {"accept", "Make what was measured the new budgets, where values moved"},
      {"diff", "Show what changed between two runs, the worst first, and why"},
      {"emit", "Write facts for CI systems: JUnit, SARIF, annotations and more"},
      {"report", "Keep runs in a history, and make pages and pictures of them"},
  };
}

void run_external_command(char** argv) {
  const std::string name = fmt::format("warpgauge-{}", argv[1]);
  std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename(name);
  if (!std::filesystem::exists(program)) {
    program = std::filesystem::path(kBuildInfo.programs_folder) / name;
  }
  if (!std::filesystem::exists(program)) {
    throw std::runtime_error(
        fmt::format("{}: not there, but it does the command '{}'; configure the build again (cmake "
                    "writes it), or run {} of the Python package",
                    program.string(), argv[1], name));
  }
  // The Python side does not know this program and its build.
  setenv("WARPGAUGE_PROGRAM", program_name().c_str(), 1);
  setenv("WARPGAUGE_GATE_COMMAND", std::string(kBuildInfo.gate_command).c_str(), 0);
  if (!kBuildInfo.budgets_folder.empty()) {
    setenv("WARPGAUGE_BUDGETS", std::string(kBuildInfo.budgets_folder).c_str(), 0);
  }
  execv(program.c_str(), argv + 1);
  throw std::system_error(errno, std::generic_category(), program.string());
}

}  // namespace warpgauge
