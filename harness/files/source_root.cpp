// Finds source files, and makes their paths relative to the source tree.
#include "harness/files/source_root.h"

#include <filesystem>
#include <fstream>

#include "harness/build_info.h"
#include "metrics/base/why_unreadable.h"

namespace warpgauge::files {
namespace fs = std::filesystem;

std::string relative_to_root(const std::string& file) {
  if (file.empty()) return file;
  const fs::path relative = fs::path(file).lexically_relative(kBuildInfo.source_root);
  return relative.empty() || *relative.begin() == ".." ? file : relative.string();
}

std::vector<std::string> source_lines(const std::string& file) {
  const fs::path path = fs::path(kBuildInfo.source_root) / file;
  std::vector<std::string> lines;
  if (!metrics::why_unreadable(path).empty()) return lines;  // facts can name anything
  std::ifstream stream(path);
  for (std::string text; std::getline(stream, text);) lines.push_back(text);
  return lines;
}

std::string source_text(const std::string& file, int line) {
  const std::vector<std::string> lines = source_lines(file);
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return "";
  const std::string& text = lines[static_cast<std::size_t>(line) - 1];
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first);
}

}  // namespace warpgauge::files
