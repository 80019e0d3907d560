// A temporary file or folder, removed by its destructor.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace warpgauge::files {

class TemporaryPath {
 public:
  /// An empty file in the system's temporary folder. Throws std::system_error.
  static TemporaryPath file();
  /// An empty folder in another one, which only its owner may enter; its name begins so. Throws
  /// std::system_error.
  static TemporaryPath folder_in(const std::filesystem::path& folder, const std::string& beginning);
  ~TemporaryPath();  ///< removes it with its content
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryPath(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace warpgauge::files
