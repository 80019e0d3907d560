// Reads static archives ("lib.a", made by ar): the files in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpgauge::metrics {

/// An archive that is damaged, or has no files in itself. what() says where, and what to do.
class ArchiveError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file in an archive.
struct ArchiveMember {
  std::string name;  ///< "object.o"; several may have the same
  std::uint64_t offset = 0;
  std::span<const std::byte> bytes;  ///< in the archive, which must outlive it
};

/// Whether it begins as an archive does, also one that is damaged.
bool is_archive(std::span<const std::byte> bytes);

/// Its files, without its own tables of symbols and names, which GNU's and BSD's ar write in
/// different ways. Throws ArchiveError.
std::vector<ArchiveMember> read_archive(std::span<const std::byte> bytes);

}  // namespace warpgauge::metrics
