// warpgauge cc: runs nvcc with what counting by source line asks of a build.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/commands/command_line.h"
#include "harness/process/child_program.h"
#include "harness/process/found_program.h"

namespace warpgauge::commands {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::string_view kCcFooter =
    R"(For programs that are built by Make, Bazel and the like: stands before nvcc, as a compiler
launcher does. nvcc adds line tables (-lineinfo), by which counts belong to source lines.

Exit codes:
  2      the command does not run nvcc
  other  nvcc's own

Examples:
  warpgauge cc -- nvcc -O2 -arch=sm_90 -c kernels.cu -o kernels.o
  make NVCC='warpgauge cc -- nvcc'
  warpgauge emulate -- ./program
)";

/// nvcc stands first in the command, or behind other launchers (ccache).
void require_nvcc(const Words& command) {
  const auto first_option =
      std::ranges::find_if(command, [](const std::string& word) { return word.starts_with('-'); });
  const auto nvcc = std::find_if(command.begin(), first_option, [](const std::string& word) {
    return fs::path(word).filename() == "nvcc";
  });
  if (nvcc == first_option) {
    throw std::invalid_argument(
        fmt::format("{}: is not nvcc; write `warpgauge cc -- nvcc ...`. Only nvcc writes the line "
                    "tables and PTX that are read here, and host code needs none: let nvcc link",
                    command.front()));
  }
  if (process::found_program(*nvcc).empty()) {
    throw std::invalid_argument(
        fmt::format("{}: there is no such program; install the CUDA toolkit, or name the nvcc that "
                    "you have: warpgauge cc -- $(warpgauge config --nvcc) ...",
                    *nvcc));
  }
}

int compile(const Words& command) {
  require_nvcc(command);
  Words words = command;
  const bool has_lines = std::ranges::any_of(command, [](const std::string& word) {
    return word == "-lineinfo" || word == "--generate-line-info";
  });
  if (!has_lines) words.emplace_back("-lineinfo");
  return process::run_to_its_end(words, {}).exit_code();
}

}  // namespace

void add_cc(CommandLine& line) {
  auto words = std::make_shared<Words>();
  CLI::App* command =
      line.add("cc", "Run nvcc so that what it builds can be counted by source line", kCcFooter);
  add_program(command, *words);
  line.on_run(command, [words] { return compile(*words); });
}

}  // namespace warpgauge::commands
