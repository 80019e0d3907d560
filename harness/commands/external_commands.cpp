// Runs warpgauge-python: instead of this program, or as a part of a command.
#include "harness/commands/external_commands.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <system_error>
#include <utility>

#include "harness/build_info.h"
#include "harness/process/output_of.h"
#include "harness/process/program_name.h"

namespace warpgauge::commands {
namespace {

/// Tells the Python commands the name of this program and facts of its build.
void set_environment() {
  setenv("WARPGAUGE_PROGRAM", process::program_name().c_str(), 1);
  setenv("WARPGAUGE_GATE_COMMAND", std::string(kBuildInfo.gate_command).c_str(), 0);
  setenv("WARPGAUGE_SOURCE_ROOT", std::string(kBuildInfo.source_root).c_str(), 0);
  setenv("WARPGAUGE_PROJECT_FILE", std::string(kBuildInfo.project_file).c_str(), 0);
}

/// Makes this text the standard input of this process and of a program that replaces it.
void set_input(std::string_view text) {
  const int file = memfd_create("input", MFD_CLOEXEC);
  const auto bytes = static_cast<ssize_t>(text.size());
  if (file == -1 || write(file, text.data(), text.size()) != bytes ||
      lseek(file, 0, SEEK_SET) != 0 || dup2(file, STDIN_FILENO) == -1) {
    throw std::system_error(errno, std::generic_category(),
                            "the input of " + external_program().string());
  }
}

}  // namespace

std::filesystem::path external_program() {
  constexpr const char* kName = "warpgauge-python";
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").replace_filename(kName);
  if (std::filesystem::exists(beside)) return beside;
  return std::filesystem::path(kBuildInfo.programs_folder) / kName;
}

std::vector<ExternalCommand> external_commands() {
  std::vector<ExternalCommand> commands;
  std::istringstream lines(process::output_of({external_program(), "--list"}).value_or(""));
  for (ExternalCommand command; std::getline(lines, command.name, '\t');) {
    std::getline(lines, command.summary);
    commands.push_back(command);
  }
  return commands;
}

void run_external_command(char** argv) {
  set_environment();
  const std::string program = external_program();
  execv(program.c_str(), argv);
  throw std::system_error(errno, std::generic_category(), program);
}

void run_external_command(std::vector<std::string> words, std::string_view input) {
  if (!input.empty()) set_input(input);
  std::fflush(stdout);  // kernels may have printed
  words.insert(words.begin(), process::program_name());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  run_external_command(argv.data());
}

process::Ending call_external_command(std::vector<std::string> words) {
  set_environment();
  words.insert(words.begin(), external_program());
  return process::run_to_its_end(std::move(words), {});
}

}  // namespace warpgauge::commands
