// Finds what an installation has beside its programs.
#include <deque>
#include <filesystem>
#include <string>
#include <system_error>

#include "harness/build_info.h"

namespace warpgauge {

std::string_view beside_program(const char* path) {
  if (*path == '\0' || *path == '/') return path;
  static std::deque<std::string> places;
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return places.emplace_back((program.parent_path() / path).lexically_normal());
}

}  // namespace warpgauge
