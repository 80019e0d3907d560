// Paths relative to the folder of the sources, for people and CI systems.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpgauge::files {

/// `file` relative to the folder where it lies below it, else unchanged. No folder: "".
std::string relative_to(std::string_view folder, const std::string& file);

/// The same from the source root of this build.
std::string relative_to_root(const std::string& file);

/// `text` with the paths in it relative to the folder where they lie below it.
std::string with_relative_paths(std::string_view folder, std::string text);

/// The root of the checkout of a repository that the folder lies in; empty where it lies in none,
/// or is not there.
std::string checkout_around(const std::filesystem::path& folder);

/// The folder that sources lie in.
class SourceFolder {
 public:
  /// `project` is the root of the current project; empty: there is none.
  explicit SourceFolder(std::string project) : project_(std::move(project)) {}

  /// Takes a source into account; files of toolkits and systems, and those without an absolute path
  /// do not count.
  void add(const std::string& file);
  /// The root of the project where a source lies in it; else the root of the checkout that all
  /// sources lie in, or the folder that they have in common. Empty where they have none.
  std::string path() const;
  /// True if the sources lie in the project, and path() remains what it is.
  bool is_project() const { return in_project_; }

 private:
  std::string project_;
  std::string common_;
  bool in_project_ = false, has_source_ = false;
};

/// All lines of a source file, given as in facts, whose files are relative to `folder`; empty if
/// the file cannot be read.
std::vector<std::string> source_lines(std::string_view folder, const std::string& file);
/// The same from the source root of this build.
std::vector<std::string> source_lines(const std::string& file);

/// The text of a line of a source file (leading blanks removed), given as in facts, whose files are
/// relative to `folder`; empty if the file cannot be read.
std::string source_text(std::string_view folder, const std::string& file, int line);
/// The same from the source root of this build.
std::string source_text(const std::string& file, int line);

}  // namespace warpgauge::files
