// Finds source files, and makes their paths relative to the folder of the sources.
#include "harness/files/source_root.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "harness/build_info.h"
#include "metrics/base/source_line.h"
#include "metrics/base/why_unreadable.h"

namespace warpgauge::files {
namespace fs = std::filesystem;
namespace {

bool lies_in(std::string_view folder, const std::string& file) {
  return relative_to(folder, file) != file;
}

/// The folder that two absolute paths have in common; empty for "/", in which everything lies.
std::string common_folder(const fs::path& a, const fs::path& b) {
  fs::path common;
  const auto [end, other] = std::ranges::mismatch(a, b);
  for (auto part = a.begin(); part != end; ++part) common /= *part;
  return common == "/" ? "" : common.string();
}

}  // namespace

std::string relative_to(std::string_view folder, const std::string& file) {
  if (file.empty() || folder.empty()) return file;
  const fs::path relative = fs::path(file).lexically_relative(folder);
  return relative.empty() || *relative.begin() == ".." ? file : relative.string();
}

std::string relative_to_root(const std::string& file) {
  return relative_to(kBuildInfo.source_root, file);
}

std::string with_relative_paths(std::string_view folder, std::string text) {
  if (folder.empty()) return text;
  constexpr std::string_view kOfPaths = "/._-";  // and letters and digits
  const std::string prefix = std::string(folder) + '/';
  for (std::size_t at = 0; (at = text.find(prefix, at)) != text.npos;) {
    const unsigned char before = at == 0 ? ' ' : static_cast<unsigned char>(text[at - 1]);
    if (std::isalnum(before) != 0 || kOfPaths.find(static_cast<char>(before)) != kOfPaths.npos) {
      ++at;
    } else {
      text.erase(at, prefix.size());
    }
  }
  return text;
}

std::string checkout_around(const fs::path& folder) {
  std::error_code unreadable;
  if (!fs::is_directory(folder, unreadable)) return "";
  for (fs::path place = folder; place.has_relative_path(); place = place.parent_path()) {
    if (fs::exists(place / ".git", unreadable)) return place.string();
  }
  return "";
}

std::string SourceFolder::path() const {
  if (in_project_) return project_;
  std::string checkout = checkout_around(common_);
  return checkout.empty() ? common_ : checkout;
}

void SourceFolder::add(const std::string& file) {
  if (in_project_ || !file.starts_with('/') || metrics::is_toolkit_header(file)) return;
  in_project_ = lies_in(project_, file);
  const fs::path folder = fs::path(file).lexically_normal().parent_path();
  common_ = common_folder(folder, std::exchange(has_source_, true) ? fs::path(common_) : folder);
}

std::vector<std::string> source_lines(std::string_view folder, const std::string& file) {
  const fs::path path = fs::path(folder) / file;
  std::vector<std::string> lines;
  if (!metrics::why_unreadable(path).empty()) return lines;  // facts can name anything
  std::ifstream stream(path);
  for (std::string text; std::getline(stream, text);) lines.push_back(text);
  return lines;
}

std::vector<std::string> source_lines(const std::string& file) {
  return source_lines(kBuildInfo.source_root, file);
}

std::string source_text(std::string_view folder, const std::string& file, int line) {
  const std::vector<std::string> lines = source_lines(folder, file);
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return "";
  const std::string& text = lines[static_cast<std::size_t>(line) - 1];
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first);
}

std::string source_text(const std::string& file, int line) {
  return source_text(kBuildInfo.source_root, file, line);
}

}  // namespace warpgauge::files
