// The folder that gets the results of a run.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::outcome {

/// Folders in it for what a run passes to itself have names that begin so.
inline constexpr std::string_view kFolderOfOneRun = ".counts-";

/// The folder that gets the results, for this run alone.
class OutFolder {
 public:
  /// Takes away what an earlier run left, whole or, if it was killed, in parts: the folder
  /// describes the last run, even one that gets nowhere. Throws std::runtime_error if it cannot be
  /// written or another run is writing to it.
  /// `kept`: a file that the run reads, which may be an order of an earlier run there.
  explicit OutFolder(std::filesystem::path path, const std::filesystem::path& kept = {});
  ~OutFolder();
  OutFolder(const OutFolder&) = delete;
  OutFolder& operator=(const OutFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path facts() const { return path_ / "facts.jsonl"; }
  std::filesystem::path results() const { return path_ / "results.json"; }
  std::filesystem::path summary() const { return path_ / "summary.md"; }

  /// True for the files of this folder that each run writes.
  bool has(const std::filesystem::path& file) const;

  void write_summary(const std::string& text) const;
  /// A line for each file, for a terminal.
  std::string files_text() const;

 private:
  std::vector<std::filesystem::path> written() const;  ///< by runs; the facts last
  void remove_parts(const std::filesystem::path& kept) const;

  std::filesystem::path path_;
  int lock_;
};

}  // namespace warpgauge::outcome
