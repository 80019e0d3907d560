// Code in memory, as a program gives it to the driver: by its address alone, in any of four forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace warpgauge::metrics {

struct CodeImage {
  enum class Kind : std::uint8_t {
    text,        ///< PTX, up to a zero
    cubin,       ///< an ELF file
    fat_binary,  ///< a container
    wrapper,     ///< what __cudaRegisterFatBinary gets; points to a container
  };

  Kind kind = Kind::text;
  /// In the memory that the program gave: the text without its zero, the file, the container; of a
  /// wrapper, from its begin on.
  std::span<const std::byte> bytes;
};

/// The code at an address. Throws FatBinaryError and ElfError where it reaches beyond the memory
/// that can be read, and std::invalid_argument for a text without an end.
CodeImage code_image_at(const void* address);

}  // namespace warpgauge::metrics
