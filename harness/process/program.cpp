#include "harness/process/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "harness/devices.h"
#include "harness/outcome/exit_code.h"
#include "harness/process/guarded_end.h"
#include "harness/process/isolated_text.h"
#include "harness/process/program_name.h"
#include "harness/runtime.h"

namespace warpgauge::process {
namespace {

/// For the driver to answer whether there is a GPU, which it may have to start first.
constexpr std::chrono::seconds kLongestAnswer(60);

}  // namespace

int run_program(int (*run)(int argc, char** argv), int argc, char** argv) {
  int code = outcome::kFault;
  try {
    code = run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  declare_exit_code(code);
  return code;
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
    std::string why;
    const std::optional<metrics::Device> device = current_device(&why);
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
  if (emulated == is_emulated()) return;
  const std::filesystem::path program = program_path(emulated);
  if (!std::filesystem::exists(program)) {
    throw std::runtime_error(
        fmt::format("{}: missing, and kernels run {} in it; build it, or choose another --device",
                    program.string(), emulated ? "without a GPU" : "on a GPU"));
  }
  execv(program.c_str(), argv);
  throw std::system_error(errno, std::generic_category(), program.string());
}

}  // namespace warpgauge::process
