#include "metrics/machine_code/elf_sections.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>

namespace warpgauge::metrics {
namespace {

using Bytes = std::span<const std::byte>;

[[noreturn]] void refuse_elf(std::uint64_t offset, std::string_view problem) {
  throw ElfError(
      fmt::format("not a usable ELF file: at offset {}, {}. Build it again", offset, problem));
}

template <typename Struct>
std::optional<Struct> struct_at(Bytes bytes, std::uint64_t offset) {
  if (offset > bytes.size() || sizeof(Struct) > bytes.size() - offset) return std::nullopt;
  Struct out;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

Elf64_Shdr header_of_section(Bytes bytes, const Elf64_Ehdr& header, std::uint64_t index) {
  if (header.e_shentsize != sizeof(Elf64_Shdr)) {
    refuse_elf(0, fmt::format("headers of sections have {} bytes", header.e_shentsize));
  }
  const std::uint64_t offset = header.e_shoff + index * sizeof(Elf64_Shdr);
  const auto section = struct_at<Elf64_Shdr>(bytes, offset);
  if (!section || offset < header.e_shoff) {
    refuse_elf(offset, fmt::format("the header of section {} reaches beyond the end ({} bytes)",
                                   index, bytes.size()));
  }
  return *section;
}

std::string_view text_at(Bytes texts, std::uint64_t offset) {
  if (offset >= texts.size()) return "";
  const char* const begin = reinterpret_cast<const char*>(texts.data()) + offset;
  return {begin, strnlen(begin, texts.size() - offset)};
}

}  // namespace

bool is_elf(Bytes bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

std::uint16_t elf_type(Bytes bytes) {
  return struct_at<std::uint16_t>(bytes, offsetof(Elf64_Ehdr, e_type)).value_or(0);
}

std::uint16_t elf_machine(Bytes bytes) {
  return struct_at<std::uint16_t>(bytes, offsetof(Elf64_Ehdr, e_machine)).value_or(0);
}

std::vector<ElfSection> elf_sections(Bytes bytes) {
  const auto header = struct_at<Elf64_Ehdr>(bytes, 0);
  if (!is_elf(bytes) || !header) refuse_elf(0, "the header is cut off");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    refuse_elf(EI_CLASS, "it is of a machine that is not of 64 bits, the lowest byte first");
  }
  if (header->e_shoff == 0) return {};
  // The first section has the numbers that are too large for the header.
  const Elf64_Shdr first = header_of_section(bytes, *header, 0);
  const std::uint64_t count = header->e_shnum == 0 ? first.sh_size : header->e_shnum;
  const std::uint64_t names_at =
      header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
  if (count > bytes.size() / sizeof(Elf64_Shdr)) {
    refuse_elf(header->e_shoff,
               fmt::format("{} sections are said to be in {} bytes", count, bytes.size()));
  }
  std::vector<ElfSection> sections;
  std::vector<std::uint32_t> names;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Elf64_Shdr one = header_of_section(bytes, *header, i);
    const bool has_bytes = one.sh_type != SHT_NOBITS && one.sh_type != SHT_NULL;
    if (has_bytes && (one.sh_offset > bytes.size() || one.sh_size > bytes.size() - one.sh_offset)) {
      refuse_elf(one.sh_offset,
                 fmt::format("section {} ({} bytes) reaches beyond the end ({} bytes)", i,
                             one.sh_size, bytes.size()));
    }
    names.push_back(one.sh_name);
    sections.push_back({.name = "",
                        .type = one.sh_type,
                        .flags = one.sh_flags,
                        .link = one.sh_link,
                        .bytes = has_bytes ? bytes.subspan(one.sh_offset, one.sh_size) : Bytes()});
  }
  if (names_at >= sections.size()) return sections;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    sections[i].name = text_at(sections[names_at].bytes, names[i]);
  }
  return sections;
}

}  // namespace warpgauge::metrics
