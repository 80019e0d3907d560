// Reads the files in static archives ("lib.a", made by ar).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpgauge::metrics {

/// An archive is damaged, or refers to files outside of itself. what() says where, and what to do.
class ArchiveError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file in an archive.
struct ArchiveMember {
  std::string name;  ///< "object.o"; several may have the same
  std::uint64_t offset = 0;
  std::span<const std::byte> bytes;  ///< view into the archive, which must outlive it
  bool is_table = false;             ///< by its name: ar's own, of symbols or of long names
};

/// True if the bytes begin like an archive, even a damaged one.
bool is_archive(std::span<const std::byte> bytes);

/// The files of an archive by GNU's or BSD's ar, its tables among them. Throws ArchiveError.
std::vector<ArchiveMember> read_archive(std::span<const std::byte> bytes);

}  // namespace warpgauge::metrics
