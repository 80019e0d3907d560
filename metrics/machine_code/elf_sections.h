// The sections of an ELF file: an object, a shared library or a program of the host, or a cubin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::metrics {

/// An ELF file that is damaged or not of 64 bits. what() says where, and what to do.
class ElfError : public std::runtime_error {
 public:
  ElfError(std::uint64_t offset, std::string_view problem);
  /// "at offset 64, the header of section 0 reaches beyond the end (70 bytes)"
  const std::string& problem() const { return problem_; }

 private:
  explicit ElfError(std::string problem);

  std::string problem_;
};

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;     ///< SHT_*
  std::uint64_t flags = 0;    ///< SHF_*, and of cubins more
  std::uint32_t link = 0;     ///< index of the section that goes with it
  std::uint64_t address = 0;  ///< where it is in memory
  /// As it is in memory. Shared memory and uninitialised variables have a size, and no bytes.
  std::uint64_t size = 0;
  std::span<const std::byte> bytes;  ///< in the file, which must outlive it
};

/// An ELF file, of the host or a cubin, also one that is damaged.
bool is_elf(std::span<const std::byte> bytes);
/// Its member of the header; 0 where that is cut off.
std::uint16_t elf_type(std::span<const std::byte> bytes);
std::uint16_t elf_machine(std::span<const std::byte> bytes);

/// In the order of the file, with that of index 0. Throws ElfError.
std::vector<ElfSection> elf_sections(std::span<const std::byte> bytes);
/// What stands behind the last part of a file whose sections could be read, without the zeros that
/// fill up.
std::span<const std::byte> behind_elf(std::span<const std::byte> bytes);

}  // namespace warpgauge::metrics
