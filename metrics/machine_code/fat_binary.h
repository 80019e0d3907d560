// Reads fat binaries: the containers in which nvcc puts the PTX and the cubins of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpgauge::metrics {

/// A fat binary is damaged, or its layout is unknown. what() says where, and what to do.
class FatBinaryError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One piece of code in a fat binary.
struct FatBinaryEntry {
  enum class Kind : std::uint8_t { ptx, cubin, lto, other };  ///< lto: what -dlto links
  enum class Compression : std::uint8_t { none, lz4, zstd };

  Kind kind = Kind::other;
  std::string arch;     ///< "sm_90", "sm_100a"; of PTX too, which is for compute_90 then
  int arch_number = 0;  ///< 90, 100
  Compression compression = Compression::none;
  std::span<const std::byte> stored;  ///< view into the fat binary, which must outlive it
  std::size_t unpacked_bytes = 0;     ///< size of the result of unpack(); at most 1 GiB

  /// The original code, with up to seven zeros after it. Throws FatBinaryError.
  std::vector<std::byte> unpack() const;
  /// The first bytes of the code, up to `most`, without unpacking the others. Throws
  /// FatBinaryError.
  std::vector<std::byte> beginning(std::size_t most) const;
  /// The code of PTX as text, without the zeros. Throws FatBinaryError.
  std::string unpack_text() const;
};

/// True if the bytes begin like a container, even a damaged one.
bool is_fat_binary(std::span<const std::byte> bytes);

/// Where the next container begins in bytes that hold anything, from `from` on; their size:
/// nowhere. A container is known by its header and that of its first entry.
std::size_t find_fat_binary(std::span<const std::byte> bytes, std::size_t from);
/// The container that begins there, as far as there are bytes of it.
std::span<const std::byte> fat_binary_at(std::span<const std::byte> bytes, std::size_t at);

/// The entries of one container or of several, one after the other, as they are in the section
/// .nv_fatbin of an object or a program, or in a file made by nvcc -fatbin. Throws FatBinaryError.
std::vector<FatBinaryEntry> read_fat_binary(std::span<const std::byte> bytes);

/// The container at an address of this process. Throws FatBinaryError.
std::span<const std::byte> fat_binary_in_memory(const std::byte* address);

/// True if the bytes begin like the argument of __cudaRegisterFatBinary.
bool is_fat_binary_wrapper(std::span<const std::byte> bytes);

/// The container that the argument of __cudaRegisterFatBinary points to. Throws FatBinaryError if
/// it points to none.
std::span<const std::byte> registered_fat_binary(const void* wrapper);

/// The containers of the objects, with their PTX, if the device linker (nvcc -rdc=true) made that
/// container, which then holds machine code alone. Otherwise empty. Throws FatBinaryError.
std::vector<std::span<const std::byte>> linked_fat_binaries(const void* wrapper);

}  // namespace warpgauge::metrics
