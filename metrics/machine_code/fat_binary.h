// Reads fat binaries: the containers in which nvcc puts the PTX and the cubins of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpgauge::metrics {

/// A fat binary that is damaged or of an unknown layout. what() says where, and what to do.
class FatBinaryError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One piece of code in a fat binary.
struct FatBinaryEntry {
  enum class Kind : std::uint8_t { ptx, cubin, other };
  enum class Compression : std::uint8_t { none, lz4, zstd };

  Kind kind = Kind::other;
  std::string arch;  ///< "sm_90", "sm_100a"; of PTX too, which is for compute_90 then
  Compression compression = Compression::none;
  std::span<const std::byte> stored;  ///< in the fat binary, which must outlive it
  std::size_t unpacked_bytes = 0;     ///< what unpack() returns; at most 1 GiB

  /// The code as it was put in, with up to seven zeros after it. Throws FatBinaryError.
  std::vector<std::byte> unpack() const;
  /// The code as text, without the zeros: for PTX. Throws FatBinaryError.
  std::string unpack_text() const;
};

/// Whether it begins as a container does, also one that is damaged.
bool is_fat_binary(std::span<const std::byte> bytes);

/// The entries of one container or of several, one after the other, as they are in the section
/// .nv_fatbin of an object or a program, or in a file made by nvcc -fatbin. Throws FatBinaryError.
std::vector<FatBinaryEntry> read_fat_binary(std::span<const std::byte> bytes);

/// The container that the argument of __cudaRegisterFatBinary points to. Throws FatBinaryError if
/// it points to none.
std::span<const std::byte> registered_fat_binary(const void* wrapper);

/// If that container was made by the device linker (nvcc -rdc=true), which leaves machine code
/// only: the containers of the objects that it linked, which have the PTX. Else empty. Throws
/// FatBinaryError.
std::vector<std::span<const std::byte>> linked_fat_binaries(const void* wrapper);

}  // namespace warpgauge::metrics
