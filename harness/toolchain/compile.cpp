// Runs ptxas and nvcc of a toolkit over sources, and collects the cubins.
#include "harness/toolchain/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <span>
#include <stdexcept>
#include <string_view>

#include "harness/build_info.h"
#include "harness/files/mapped_file.h"
#include "harness/files/printable.h"
#include "harness/files/temporary_path.h"
#include "harness/inspect/code_files.h"
#include "harness/inspect/readable.h"
#include "harness/process/child_program.h"
#include "harness/process/found_program.h"
#include "metrics/architecture/architectures.h"
#include "metrics/base/hash.h"
#include "metrics/base/why_unreadable.h"

namespace warpgauge::toolchain {
namespace {

namespace fs = std::filesystem;

std::set<std::string> archs_of(const fs::path& file, const std::vector<std::string>& asked) try {
  if (!asked.empty()) return {asked.begin(), asked.end()};
  if (inspect::is_ptx(file)) return {inspect::target_of(files::MappedFile(file).bytes())};
  throw std::runtime_error(fmt::format(
      "{}: name the architectures that it is compiled for: --arch sm_90", file.string()));
} catch (const inspect::NotReadable& error) {
  throw std::runtime_error(fmt::format("{}: {}", file.string(), error.what()));
}

/// The first lines that a compiler wrote, indented.
std::string messages_in(const fs::path& file) {
  constexpr std::size_t kMost = 10000;
  std::string text;
  std::ifstream in(file);
  for (std::string line; text.size() < kMost && std::getline(in, line);) {
    text += "\n  " + files::printable(line.substr(0, kMost));
  }
  return text;
}

/// Runs a compiler. `task` says in errors what it was to do: "compile a.cu".
void run_compiler(const Toolkit& toolkit, const std::vector<std::string>& command,
                  const std::string& task, const CompilerRun& run) {
  constexpr std::uintmax_t kMostMessages = 64 << 20;
  const process::Ending ending = process::run_supervised(
      command, {}, {.output = run.messages, .messages = run.messages},
      {.time_limit = toolkit.time_limit, .most_output_bytes = kMostMessages});
  if (ending.exit_code() == 0) return;
  throw std::runtime_error(fmt::format("{} cannot {} for {}: {} {}{}", toolkit.str(), task,
                                       run.arch, fs::path(command.front()).filename().string(),
                                       ending.str(), messages_in(run.messages)));
}

fs::path compiler_of(const Toolkit& toolkit, const Source& source) {
  return toolkit.programs / (inspect::is_ptx(source.path) ? "ptxas" : "nvcc");
}

}  // namespace

std::vector<Source> sources_of(const std::vector<fs::path>& files,
                               const std::vector<std::string>& archs) {
  for (const fs::path& file : files) {
    if (!inspect::is_ptx(file) && file.extension() != ".cu") {
      throw std::runtime_error(
          fmt::format("{}: neither PTX (.ptx) nor CUDA (.cu); arguments of the compiler stand "
                      "behind --",
                      file.string()));
    }
    if (const std::string why = metrics::why_unreadable(file); !why.empty()) {
      throw std::runtime_error(fmt::format("{}: cannot be read: {}", file.string(), why));
    }
  }
  std::vector<Source> sources;
  for (const inspect::NamedFile& file : inspect::files_of(files)) {
    sources.push_back({.path = file.path, .name = file.name, .archs = archs_of(file.path, archs)});
  }
  return sources;
}

std::string hash_of(const std::vector<Source>& sources) {
  std::string hashes;
  for (const Source& source : sources) {
    hashes += metrics::hash_text(files::MappedFile(source.path).bytes());
  }
  return metrics::hash_text(hashes);
}

void require_compiler(const Toolkit& toolkit, const Source& source) {
  if (const fs::path compiler = compiler_of(toolkit, source); !fs::exists(compiler)) {
    throw std::runtime_error(
        fmt::format("{} has no nvcc, which compiles {}; make PTX of it (nvcc -ptx), and name that",
                    toolkit.str(), source.path.string()));
  }
  for (const std::string& arch : source.archs) require_arch(toolkit, arch);
}

void compile(const Toolkit& toolkit, const Source& source, const CompilerRun& run) {
  std::vector<std::string> command = {compiler_of(toolkit, source), "-arch=" + run.arch,
                                      "-lineinfo"};
  if (inspect::is_ptx(source.path)) {
    command.emplace_back("-v");
  } else {
    command.insert(command.end(), {"-cubin", "-Xptxas", "-v"});
  }
  command.insert(command.end(), run.arguments.begin(), run.arguments.end());
  command.insert(command.end(), {"-o", run.output, process::file_argument(source.path)});
  run_compiler(toolkit, command, fmt::format("compile {}", source.path.string()), run);
}

void require_programs(const std::vector<Source>& sources) {
  for (const Source& source : sources) {
    if (inspect::is_ptx(source.path)) {
      throw std::runtime_error(
          fmt::format("{}: PTX has no host code that --emulate could run; name CUDA sources (.cu) "
                      "with a main()",
                      source.path.string()));
    }
    for (const std::string& arch : source.archs) metrics::architecture(arch);
  }
}

void require_runtime(const Toolkit& toolkit) {
  const std::string major(kBuildInfo.toolkit.substr(0, kBuildInfo.toolkit.find('.')));
  if (toolkit.version.starts_with(major + '.')) return;
  throw std::runtime_error(fmt::format(
      "{}: --emulate runs programs of CUDA {} only; compare without it", toolkit.str(), major));
}

void build(const Toolkit& toolkit, const std::vector<Source>& sources, const CompilerRun& run) {
  // Toolkits of wheels have no libcudart.so to link with.
  const auto runtime = files::TemporaryPath::folder_in(run.output.parent_path(), ".runtime-");
  fs::create_symlink(fs::absolute(kBuildInfo.emulated_cudart), runtime.path() / "libcudart.so");
  std::vector<std::string> command = {compiler_of(toolkit, sources.front()), "-arch=" + run.arch,
                                      "-lineinfo", "-Xptxas=-v", "-cudart=shared"};
  command.insert(command.end(), run.arguments.begin(), run.arguments.end());
  std::vector<std::string> names;
  for (const Source& source : sources) names.push_back(process::file_argument(source.path));
  command.insert(command.end(), names.begin(), names.end());
  command.insert(command.end(), {"-L", runtime.path(), "-o", run.output});
  run_compiler(toolkit, command, fmt::format("build a program of {}", fmt::join(names, ", ")), run);
}

}  // namespace warpgauge::toolchain
