// Runs a main(), and continues in the program for the GPU or in the emulated one.
#include "harness/process/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "harness/cases/device_code.h"
#include "harness/devices.h"
#include "harness/files/error_text.h"
#include "harness/outcome/exit_code.h"
#include "harness/process/child_program.h"
#include "harness/process/exit_guard.h"
#include "harness/process/isolated_text.h"
#include "harness/process/program_name.h"
#include "harness/runtime.h"

namespace warpgauge::process {
namespace {

/// The driver may have to start first before it says whether there is a GPU.
constexpr std::chrono::seconds kLongestAnswer(60);

/// Opens the standard streams that were closed, or the next file would get the number of one, and
/// what is printed. Results that are written to a closed one fail; questions and messages do not.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    const char* const place = stream == STDOUT_FILENO ? "/dev/full" : "/dev/null";
    if (open(place, O_RDWR) != stream) {
      throw std::runtime_error(
          fmt::format("a standard stream is closed, and {} is missing", place));
    }
  }
}

/// Throws where the stack may not grow as far as here is needed: it would end in a signal.
void require_stack() {
  constexpr rlim_t kLeast = rlim_t{1} << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeast) return;
  throw std::runtime_error(
      fmt::format("the stack may have {} KiB, and {} KiB are needed; raise the limit (ulimit -s)",
                  limit.rlim_cur >> 10, kLeast >> 10));
}

/// Throws if the output could not be written: then the verdict is lost.
void finish_output() {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return;
  throw std::runtime_error(
      fmt::format("standard output cannot be written{}{}; give it a file with space, or /dev/null",
                  flushed ? "" : ": ", flushed ? "" : std::strerror(errno)));
}

/// The variable that tells a program the hashes of the fat binaries of the one that continued in
/// it.
constexpr char kContinuedBuild[] = "WARPGAUGE_CONTINUED_BUILD";

/// Throws if this program was continued in by one that has other kernels.
void check_build() {
  const char* const continued = std::getenv(kContinuedBuild);
  if (continued == nullptr) return;
  std::istringstream words{std::string(continued)};
  const std::set<std::string> theirs{std::istream_iterator<std::string>(words), {}};
  unsetenv(kContinuedBuild);  // programs that this one starts were not continued in
  const std::set<std::string> ours = fat_binary_hashes();
  // The program for GPUs may have kernels that the emulator cannot run.
  if (is_emulated() ? std::ranges::includes(theirs, ours) : std::ranges::includes(ours, theirs)) {
    return;
  }
  throw std::runtime_error(
      fmt::format("{} is of another build than {}, which continues in it: their kernels differ; "
                  "build both, cmake --build BUILD --target {}",
                  program_path(is_emulated()).string(), program_path(!is_emulated()).string(),
                  program_path(false).filename().string()));
}

}  // namespace

int run_program(int (*run)(int argc, char** argv), int argc, char** argv) {
  int code = outcome::kFault;
  try {
    for (const int signal : kFailedWrites) std::signal(signal, SIG_IGN);
    open_standard_streams();
    require_stack();
    code = run(argc, argv);
    finish_output();
  } catch (const std::exception& error) {
    code = outcome::kFault;
    std::fputs((files::error_text(error) + '\n').c_str(), stderr);  // may be full, but not throw
  }
  declare_exit_code(code);
  return code;
}

std::pair<std::string, std::string> build_check() {
  return {kContinuedBuild, fmt::format("{}", fmt::join(fat_binary_hashes(), " "))};
}

std::filesystem::path program_path(bool emulated) {
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe");
  std::string name = path.filename();
  if (name.ends_with(kEmulatedSuffix)) name.resize(name.size() - kEmulatedSuffix.size());
  if (emulated) name += kEmulatedSuffix;
  return std::filesystem::path(path).replace_filename(name);
}

bool has_gpu() {
  const auto name = [] {
    const std::optional<metrics::Device> device = current_device();
    return device ? device->name : std::string();
  };
  try {
    return !isolated_text(name, kLongestAnswer).empty();
  } catch (const std::system_error&) {
    throw;
  } catch (const std::runtime_error&) {
    return true;
  }
}

std::string_view to_string(DeviceChoice choice) {
  constexpr std::string_view kWords[] = {"auto", "gpu", "emulated"};
  return kWords[static_cast<int>(choice)];
}

void continue_on(DeviceChoice choice, char** argv) {
  const bool emulated = choice == DeviceChoice::emulated ||
                        (choice == DeviceChoice::automatic && (is_emulated() || !has_gpu()));
  if (emulated == is_emulated()) return check_build();
  const std::filesystem::path program = program_path(emulated);
  if (!std::filesystem::exists(program)) {
    throw std::runtime_error(
        fmt::format("{}: missing, and kernels run {} in it; build it, or choose another --device",
                    program.string(), emulated ? "without a GPU" : "on a GPU"));
  }
  const auto [name, build] = build_check();
  setenv(name.c_str(), build.c_str(), 1);
  execv(program.c_str(), argv);
  throw std::system_error(errno, std::generic_category(), program.string());
}

}  // namespace warpgauge::process
