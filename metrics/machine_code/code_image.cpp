// Finds out in which form code in memory is, and where it ends.
#include "metrics/machine_code/code_image.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "metrics/base/mapped_memory.h"
#include "metrics/machine_code/elf_sections.h"
#include "metrics/machine_code/fat_binary.h"

namespace warpgauge::metrics {
namespace {

using Bytes = std::span<const std::byte>;

/// The end of `count` headers at `offset`; SIZE_MAX where there is no such number.
std::uint64_t end_of(std::uint64_t offset, std::uint64_t count, std::uint64_t bytes) {
  return offset > SIZE_MAX - count * bytes ? SIZE_MAX : offset + count * bytes;
}

/// A file whose tables of headers stand behind all else, as in cubins.
Bytes elf_in(Bytes memory) {
  Elf64_Ehdr header;
  if (memory.size() < sizeof header) throw ElfError(0, "the header reaches beyond the memory");
  std::memcpy(&header, memory.data(), sizeof header);
  const std::uint64_t end = std::max({std::uint64_t{sizeof header},
                                      end_of(header.e_shoff, header.e_shnum, header.e_shentsize),
                                      end_of(header.e_phoff, header.e_phnum, header.e_phentsize)});
  if (end > memory.size()) throw ElfError(0, "its headers lie beyond the memory of the program");
  return memory.first(end);
}

}  // namespace

CodeImage code_image_at(const void* address) {
  const auto* const begin = static_cast<const std::byte*>(address);
  const Bytes memory(begin, readable_bytes(begin));
  if (is_elf(memory)) return {CodeImage::Kind::cubin, elf_in(memory)};
  if (is_fat_binary(memory)) return {CodeImage::Kind::fat_binary, fat_binary_in_memory(begin)};
  if (is_fat_binary_wrapper(memory)) return {CodeImage::Kind::wrapper, memory};
  const auto end = std::ranges::find(memory, std::byte{0});
  if (end == memory.end()) throw std::invalid_argument("a text of code has no zero at its end");
  return {CodeImage::Kind::text, {memory.begin(), end}};
}

}  // namespace warpgauge::metrics
