// Reads the files in zip archives, which Python wheels are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpgauge::metrics {

/// A zip is damaged, or written in a way that is not read. what() says where, and what to do.
class ZipError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file in a zip.
struct ZipMember {
  std::string name;  ///< "my/libs/a.so", as it is written: only a text
  std::uint16_t method = 0;
  bool is_encrypted = false;
  std::uint32_t crc = 0;
  std::span<const std::byte> stored;  ///< view into the zip, which must outlive it
  std::uint64_t bytes = 0;            ///< its size when it is unpacked; less than 4 GiB

  /// Unpacks the file in pieces, of which `visit` gets each, and compares size and checksum with
  /// those that the zip says. Throws ZipError.
  void unpack(const std::function<void(std::span<const std::byte> piece)>& visit) const;
};

/// True if the bytes begin like a zip, even a damaged one.
bool is_zip(std::span<const std::byte> bytes);

/// The files that the table at the end of a zip lists, without folders. Throws ZipError, also for
/// two files of one name, for files whose bytes overlap, for those whose own headers differ, and
/// for those that the table does not list.
std::vector<ZipMember> read_zip(std::span<const std::byte> bytes);

}  // namespace warpgauge::metrics
