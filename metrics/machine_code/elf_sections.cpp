// Reads the table of sections of an ELF file.
#include "metrics/machine_code/elf_sections.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace warpgauge::metrics {
namespace {

using Bytes = std::span<const std::byte>;

[[noreturn]] void refuse_elf(std::uint64_t offset, std::string_view problem) {
  throw ElfError(offset, problem);
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

/// The section has bytes in the file. Of a cubin that the device linker has yet to see (nvcc
/// -rdc=true), shared memory and uninitialised variables have types of their own.
bool has_bytes(const Elf64_Ehdr& header, const Elf64_Shdr& section) {
  constexpr std::uint32_t kGlobal = SHT_LOPROC + 7, kLocal = SHT_LOPROC + 9;
  constexpr std::uint32_t kShared = SHT_LOPROC + 10;
  const std::uint32_t type = section.sh_type;
  if (type == SHT_NOBITS || type == SHT_NULL) return false;
  return header.e_machine != EM_CUDA || (type != kGlobal && type != kLocal && type != kShared);
}

std::string_view name_at(Bytes names, std::uint64_t offset, std::size_t section) {
  const Bytes rest = offset < names.size() ? names.subspan(offset) : Bytes();
  const auto end = std::ranges::find(rest, std::byte{0});
  if (end == rest.end()) {
    refuse_elf(offset,
               fmt::format("of the names of sections, that of section {} has no end", section));
  }
  return {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin())};
}

}  // namespace

ElfError::ElfError(std::uint64_t offset, std::string_view problem)
    : ElfError(fmt::format("at offset {}, {}", offset, problem)) {}

ElfError::ElfError(std::string problem)
    : std::runtime_error(fmt::format("not a usable ELF file: {}. Build it again", problem)),
      problem_(std::move(problem)) {}

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
    const Elf64_Shdr section = header_of_section(bytes, *header, i);
    const std::uint64_t offset = section.sh_offset, size = section.sh_size;
    const bool is_there = has_bytes(*header, section);
    if (is_there && (offset > bytes.size() || size > bytes.size() - offset)) {
      refuse_elf(offset, fmt::format("section {} ({} bytes) reaches beyond the end ({} bytes)", i,
                                     size, bytes.size()));
    }
    names.push_back(section.sh_name);
    sections.push_back({.name = "",
                        .type = section.sh_type,
                        .flags = section.sh_flags,
                        .link = section.sh_link,
                        .address = section.sh_addr,
                        .size = size,
                        .bytes = is_there ? bytes.subspan(offset, size) : Bytes()});
  }
  if (sections.empty()) return sections;
  if (names_at >= sections.size() || sections[names_at].type != SHT_STRTAB) {
    refuse_elf(offsetof(Elf64_Ehdr, e_shstrndx),
               fmt::format("the names of sections are said to be in section {}", names_at));
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    sections[i].name = name_at(sections[names_at].bytes, names[i], i);
  }
  return sections;
}

Bytes behind_elf(Bytes bytes) {
  const auto header = struct_at<Elf64_Ehdr>(bytes, 0).value_or(Elf64_Ehdr{});
  const std::vector<ElfSection> sections = elf_sections(bytes);
  std::uint64_t end = std::max(header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize,
                               header.e_shoff + sections.size() * sizeof(Elf64_Shdr));
  for (const ElfSection& section : sections) {
    if (section.bytes.empty()) continue;
    end = std::max<std::uint64_t>(
        end,
        static_cast<std::uint64_t>(section.bytes.data() - bytes.data()) + section.bytes.size());
  }
  const Bytes rest = bytes.subspan(std::min<std::uint64_t>(end, bytes.size()));
  return {std::ranges::find_if(rest, [](std::byte byte) { return byte != std::byte{0}; }),
          rest.end()};
}

}  // namespace warpgauge::metrics
