// Tells by the folders in a path where a toolkit is installed.
#include "metrics/source_line.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

namespace warpgauge::metrics {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// "13.0"
bool is_version(std::string_view name) {
  return !name.empty() && is_digit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return c == '.' || is_digit(c); });
}

/// "cuda", "cuda-13.0"
bool is_toolkit_folder(std::string_view name) {
  return name == "cuda" || (name.starts_with("cuda-") && is_version(name.substr(5)));
}

}  // namespace

bool is_toolkit_header(std::string_view path) {
  const std::string normal = std::filesystem::path(path).lexically_normal().string();
  if (normal.starts_with("/usr/include/") || normal.starts_with("/usr/lib/gcc/")) return true;

  std::vector<std::string_view> folders;
  for (std::string_view rest = normal; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    folders.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (std::size_t i = 2; i + 1 < folders.size(); ++i) {
    if (folders[i] != "include") continue;
    const std::string_view parent = folders[i - 1], grandparent = folders[i - 2];
    if (is_toolkit_folder(parent)                                         // NVIDIA's installers
        || (is_version(parent) && is_toolkit_folder(grandparent))         // its HPC SDK
        || (grandparent == "targets" && parent.find('-') != parent.npos)  // these, and Conda
        || grandparent == "nvidia") {                                     // Python wheels
      return true;
    }
  }
  return false;
}

}  // namespace warpgauge::metrics
