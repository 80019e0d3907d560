#include "harness/files/source_root.h"

#include <filesystem>
#include <fstream>

#include "harness/build_info.h"

namespace warpgauge::files {
namespace fs = std::filesystem;

std::string relative_to_root(const std::string& file) {
  if (file.empty()) return file;
  const fs::path relative = fs::path(file).lexically_relative(kBuildInfo.source_root);
  return relative.empty() || *relative.begin() == ".." ? file : relative.string();
}

std::string with_names_relative_to_root(std::string text) {
  const std::string root = (fs::path(kBuildInfo.source_root) / "").string();
  for (std::size_t at = text.find(root); at != text.npos; at = text.find(root, at)) {
    text.erase(at, root.size());
  }
  return text;
}

std::string source_text(const std::string& file, int line) {
  std::ifstream stream(fs::path(kBuildInfo.source_root) / file);
  std::string text;
  for (int i = 0; i < line; ++i) {
    if (!std::getline(stream, text)) return "";
  }
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first);
}

}  // namespace warpgauge::files
