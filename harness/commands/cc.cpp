// warpgauge cc: runs nvcc with what counting by source line, and on the emulator, asks of a build.

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
launcher does. nvcc adds line tables (-lineinfo), and links with the shared CUDA runtime
(-cudart shared), in whose place the emulator stands.

Exit codes:
  2      the command does not run nvcc
  other  nvcc's own

Examples:
  warpgauge cc -- nvcc -O2 -arch=sm_90 -c kernels.cu -o kernels.o
  make NVCC='warpgauge cc -- nvcc'
  warpgauge emulate -- ./program
)";

bool is_one_of(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// The place of nvcc in the command: first, or behind other launchers (ccache).
Words::const_iterator nvcc_in(const Words& command) {
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
  return nvcc;
}

/// nvcc's arguments without its choice of a runtime: -cudart static, --cudart=static.
Words without_cudart(Words::const_iterator word, Words::const_iterator end) {
  Words result;
  for (; word != end; ++word) {
    if (is_one_of(*word, {"-cudart", "--cudart"})) {
      if (++word == end) break;
    } else if (!word->starts_with("-cudart=") && !word->starts_with("--cudart=")) {
      result.push_back(*word);
    }
  }
  return result;
}

/// The folder of the shared runtime of nvcc's toolkit; empty if it has none.
fs::path runtime_folder(const fs::path& nvcc) {
  const fs::path toolkit = fs::canonical(nvcc).parent_path().parent_path();
  for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib"}) {
    if (fs::exists(toolkit / folder / "libcudart.so")) return toolkit / folder;
  }
  return {};
}

int compile(const Words& command) {
  const auto nvcc = nvcc_in(command);
  const Words arguments = without_cudart(nvcc + 1, command.end());
  const auto has = [&](std::initializer_list<std::string_view> options) {
    return std::ranges::any_of(arguments,
                               [&](const std::string& word) { return is_one_of(word, options); });
  };
  Words words(command.begin(), nvcc + 1);
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (!has({"-lineinfo", "--generate-line-info"})) words.emplace_back("-lineinfo");
  if (!has({"-c", "--compile", "-dc", "--device-c"})) {
    words.insert(words.end(), {"-cudart", "shared"});
    if (const fs::path folder = runtime_folder(process::found_program(*nvcc)); !folder.empty()) {
      words.insert(words.end(), {"-Xlinker", "-rpath=" + folder.string()});
    }
  }
  return process::run_to_its_end(words, {}).exit_code();
}

}  // namespace

void add_cc(CommandLine& line) {
  auto words = std::make_shared<Words>();
  CLI::App* command =
      line.add("cc", "Run nvcc so that what it builds can be counted and emulated", kCcFooter);
  add_program(command, *words);
  line.on_run(command, [words] { return compile(*words); });
}

}  // namespace warpgauge::commands
