#include "harness/program.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "harness/devices.h"
#include "harness/runtime.h"
#include "harness/summary.h"

namespace warpgauge {
namespace {

constexpr std::string_view kTwinSuffix = "-emulated";

}  // namespace

int run_program(int (*run)(int argc, char** argv), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kFault;
  }
}

std::filesystem::path twin_program() {
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe");
  std::string name = path.filename();
  if (name.ends_with(kTwinSuffix)) {
    name.resize(name.size() - kTwinSuffix.size());
  } else {
    name += kTwinSuffix;
  }
  return path.replace_filename(name);
}

bool has_gpu() {
  std::fflush(nullptr);  // or the child would print it again
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    bool there = true;
    try {
      std::string why;
      there = current_device(&why).has_value();
    } catch (const std::exception&) {
    }
    _exit(there ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return !WIFEXITED(status) || WEXITSTATUS(status) == 0;
}

void continue_on(DeviceChoice choice, char** argv) {
  const bool emulated = choice == DeviceChoice::emulated ||
                        (choice == DeviceChoice::automatic && (is_emulated() || !has_gpu()));
  if (emulated == is_emulated()) return;
  const std::filesystem::path program = twin_program();
  if (!std::filesystem::exists(program)) {
    throw std::runtime_error(
        fmt::format("{}: not there, but kernels run {} in it; build it, or choose another --device",
                    program.string(), emulated ? "without a GPU" : "on a GPU"));
  }
  execv(program.c_str(), argv);
  throw std::system_error(errno, std::generic_category(), program.string());
}

}  // namespace warpgauge
