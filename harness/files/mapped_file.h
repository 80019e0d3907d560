// A file whose bytes are read where they are: mapped into memory, not copied.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace warpgauge::files {

class MappedFile {
 public:
  /// Throws std::system_error with path and cause if it cannot be read.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  /// Gives back the memory of what has been read so far, which is read again when it is asked for.
  void forget() const;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace warpgauge::files
