#include "harness/commands/external_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "harness/build_info.h"
#include "harness/process/output_of.h"
#include "harness/process/program_name.h"

namespace warpgauge::commands {

std::filesystem::path external_program() {
  constexpr const char* kName = "warpgauge-python";
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").replace_filename(kName);
  if (std::filesystem::exists(beside)) return beside;
  return std::filesystem::path(kBuildInfo.programs_folder) / kName;
}

std::vector<ExternalCommand> external_commands() {
  std::vector<ExternalCommand> commands;
  std::istringstream lines(process::output_of({external_program(), "--list"}).value_or(""));
  for (ExternalCommand one; std::getline(lines, one.name, '\t');) {
    std::getline(lines, one.summary);
    commands.push_back(one);
  }
  return commands;
}

void run_external_command(char** argv) {
  // The Python commands need the path of this program and facts of its build.
  setenv("WARPGAUGE_PROGRAM", process::program_name().c_str(), 1);
  setenv("WARPGAUGE_GATE_COMMAND", std::string(kBuildInfo.gate_command).c_str(), 0);
  if (!kBuildInfo.budgets_folder.empty()) {
    setenv("WARPGAUGE_BUDGETS", std::string(kBuildInfo.budgets_folder).c_str(), 0);
  }
  const std::string program = external_program();
  execv(program.c_str(), argv);
  throw std::system_error(errno, std::generic_category(), program);
}

void run_external_command(std::vector<std::string> words) {
  words.insert(words.begin(), process::program_name());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  run_external_command(argv.data());
}

}  // namespace warpgauge::commands
