// Turns the definitions of the build into BuildInfo.
#include "harness/build_info.h"

#include <deque>
#include <filesystem>
#include <string>
#include <system_error>

#include WARPGAUGE_BUILT_FROM_HEADER

namespace warpgauge {
namespace {

constexpr std::string_view kSources[] = {WARPGAUGE_SOURCES};

/// The path, with a relative one taken from the program's folder, so that an installation can be
/// moved as a whole.
std::string_view placed(const char* path) {
  if (*path == '\0' || *path == '/') return path;
  static std::deque<std::string> places;
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return places.emplace_back((program.parent_path() / path).lexically_normal());
}

}  // namespace

const BuildInfo kBuildInfo = {.version = WARPGAUGE_VERSION,
                              .toolkit = WARPGAUGE_TOOLKIT,
                              .newest_toolkit = WARPGAUGE_NEWEST_TOOLKIT,
                              .source_root = WARPGAUGE_SOURCE_ROOT,
                              .built_from = WARPGAUGE_BUILT_FROM,
                              .sources = kSources,
                              .budgets_folder = WARPGAUGE_BUDGETS_DIR,
                              .project_file = WARPGAUGE_PROJECT_FILE,
                              .cuda_flags = WARPGAUGE_CUDA_FLAGS,
                              .gate_command = WARPGAUGE_GATE_COMMAND,
                              .programs_folder = placed(WARPGAUGE_PROGRAMS_DIR),
                              .emulated_cudart = placed(WARPGAUGE_EMULATED_CUDART),
                              .emulated_driver = placed(WARPGAUGE_EMULATED_DRIVER),
                              .environment = placed(WARPGAUGE_ENVIRONMENT),
                              .injection = placed(WARPGAUGE_INJECTION)};

}  // namespace warpgauge
