// Compiles PTX with the toolkit's ptxas.
#include "harness/emulator/runtime/jit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/emulator/runtime/failure.h"
#include "metrics/architecture/arch_name.h"
#include "metrics/machine_code/cubin.h"

extern char** environ;

namespace warpgauge::emulator::runtime {
namespace {

namespace fs = std::filesystem;

/// A folder that is there as long as this.
class OwnFolder {
 public:
  OwnFolder() {
    std::string name = (fs::temp_directory_path() / "warpgauge-jit-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw fs::filesystem_error("cannot make a folder", name,
                                 std::error_code(errno, std::generic_category()));
    }
    path_ = name;
  }
  ~OwnFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::vector<char> bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The environment without what makes a program run on the emulator.
std::vector<char*> plain_environment() {
  std::vector<char*> out;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("LD_PRELOAD=") && !text.starts_with("LD_AUDIT="))
      out.push_back(*variable);
  }
  out.push_back(nullptr);
  return out;
}

/// Whether the command ran and ended with 0. What it prints goes to the file `messages`.
bool run_quietly(std::vector<std::string> command, const fs::path& messages) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, messages.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  auto environment = plain_environment();
  const int failed = posix_spawn(&child, arguments.front(), &actions, nullptr, arguments.data(),
                                 environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    // A program that ignores SIGCHLD, or waits for all children, has it: what it wrote tells then.
    if (errno != EINTR) return errno == ECHILD;
  }
  return status == 0;
}

/// The name for which the driver compiles: that of the PTX for its own chip, else the chip's.
std::string compiled_for(const std::string& ptx_arch, const std::string& arch) {
  const auto made = metrics::ArchName::parse(ptx_arch), chip = metrics::ArchName::parse(arch);
  if (!made || !chip || made->number == chip->number) return ptx_arch;
  return metrics::ArchName{.number = chip->number}.str();
}

/// ptxas knows earlier versions of PTX only.
bool is_too_new(std::string_view message) {
  return message.find("Unsupported .version") != message.npos;
}

/// The compiler's text as the driver gives it, which has no file.
std::string message_of_driver(std::string_view text, const std::string& file) {
  std::string out(text.substr(0, text.find_last_not_of('\n') + 1));
  for (std::size_t at; (at = out.find(file)) != out.npos;) {
    out.replace(at, file.size(), "application ptx input");
  }
  return out;
}

bool has_same_code(const metrics::Cubin& a, const metrics::Cubin& b) {
  const auto code_of = [](const metrics::Cubin& cubin) {
    std::map<std::string_view, std::vector<std::byte>> code;
    for (const metrics::ElfSection& section : cubin.sections()) {
      if (!section.name.starts_with(".text.")) continue;
      code[section.name] = {section.bytes.begin(), section.bytes.end()};
    }
    return code;
  };
  return code_of(a) == code_of(b);
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

void JitOptions::Log::write(std::string_view what) const {
  const bool has_room = text != nullptr && bytes > 0;
  const std::size_t length = has_room ? std::min(what.size(), bytes - 1) : 0;
  if (has_room) {
    std::memcpy(text, what.data(), length);
    text[length] = '\0';
  }
  if (used != nullptr) *used = reinterpret_cast<void*>(length);
}

JitOptions JitOptions::read(const cudaJitOption* options, void** values, unsigned count) {
  require(count == 0 || (options != nullptr && values != nullptr));
  JitOptions out;
  for (unsigned i = 0; i < count; ++i) {
    const auto number = reinterpret_cast<std::uintptr_t>(values[i]);
    switch (options[i]) {
      case cudaJitMaxRegisters:
        out.most_registers = static_cast<unsigned>(number);
        break;
      case cudaJitOptimizationLevel:
        require(number <= 4);
        out.optimisation = static_cast<unsigned>(number);
        break;
      case cudaJitInfoLogBuffer:
        out.info.text = static_cast<char*>(values[i]);
        break;
      case cudaJitInfoLogBufferSizeBytes:
        out.info.bytes = number;
        out.info.used = &values[i];
        break;
      case cudaJitErrorLogBuffer:
        out.errors.text = static_cast<char*>(values[i]);
        break;
      case cudaJitErrorLogBufferSizeBytes:
        out.errors.bytes = number;
        out.errors.used = &values[i];
        break;
      case cudaJitWallTime: {  // in milliseconds: compilations are not timed here
        constexpr float kNone = 0;
        std::memcpy(&values[i], &kNone, sizeof kNone);
        break;
      }
      default:
        break;
    }
  }
  return out;
}

void compile(SelectedCode& code, const std::string& arch, const JitOptions& options) try {
  const char* const ptxas = std::getenv("WARPGAUGE_EMULATED_PTXAS");
  if (ptxas == nullptr || *ptxas == '\0') {
    code.why_no_cubin = "it came as PTX, and no ptxas was named that compiles it";
    return;
  }
  const OwnFolder folder;
  const fs::path text = folder / "code.ptx", cubin = folder / "code.cubin";
  std::ofstream(text, std::ios::binary) << code.ptx;
  std::vector<std::string> command = {ptxas, "-lineinfo",
                                      "-arch=" + compiled_for(code.ptx_arch, arch)};
  if (options.most_registers) {
    command.push_back(fmt::format("-maxrregcount={}", *options.most_registers));
  }
  if (options.optimisation) command.push_back(fmt::format("-O{}", *options.optimisation));
  command.insert(command.end(), {"-o", cubin.string(), text.string()});
  const bool compiled = run_quietly(command, folder / "messages");
  const auto message = bytes_of(folder / "messages");
  const std::string_view said(message.data(), message.size());
  const auto made = bytes_of(cubin);
  if (compiled && !made.empty()) {
    const auto bytes = std::as_bytes(std::span(made));
    code.cubin.assign(bytes.begin(), bytes.end());
    return;
  }
  if (said.starts_with("ptxas") && !is_too_new(said)) {
    throw Failure{cudaErrorInvalidPtx, message_of_driver(said, text.string())};
  }
  const std::string why = first_line(message_of_driver(said, text.string()));
  code.why_no_cubin =
      fmt::format("{} did not compile its PTX{}{}", ptxas, why.empty() ? "" : ": ", why);
} catch (const fs::filesystem_error& error) {
  code.why_no_cubin = error.what();
}

void add_line_table(SelectedCode& code, const std::string& arch) try {
  const metrics::Cubin cubin(code.cubin);
  if (!cubin.numbered_section(".nv_debug_ptx_txt").empty()) return;
  SelectedCode again{.ptx = code.ptx, .ptx_arch = code.ptx_arch, .cubin = {}};
  compile(again, arch, {});
  if (!again.cubin.empty() && has_same_code(cubin, metrics::Cubin(again.cubin))) {
    code.cubin = std::move(again.cubin);
  }
} catch (const Failure&) {  // the program has machine code all the same
} catch (const metrics::CubinError&) {
}

}  // namespace warpgauge::emulator::runtime
