// Looks into a cubin: its sections and, for what points into code, relocations.
#include "metrics/machine_code/cubin.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "metrics/architecture/arch_name.h"
#include "metrics/base/hash.h"
#include "metrics/machine_code/byte_text.h"

namespace warpgauge::metrics {
namespace {

static_assert(std::endian::native == std::endian::little, "cubins are read as they lie in memory");

constexpr std::string_view kCodePrefix = ".text.";

[[noreturn]] void refuse_cubin(std::string_view problem) {
  throw CubinError(fmt::format("not a usable cubin: {}. Make it again with nvcc -cubin", problem));
}

/// `size` bytes of the image at `offset`; `what` names them in the error.
std::span<const std::byte> slice(std::span<const std::byte> image, std::uint64_t offset,
                                 std::uint64_t size, std::string_view what) {
  if (offset > image.size() || size > image.size() - offset) {
    refuse_cubin(
        fmt::format("{} ({} bytes at offset {}) reaches beyond the end of the file ({} bytes)",
                    what, size, offset, image.size()));
  }
  return image.subspan(offset, size);
}

/// A structure out of the image, which need not be aligned.
template <typename Struct>
Struct read_struct(std::span<const std::byte> image, std::uint64_t offset, std::string_view what) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  Struct out;
  std::memcpy(&out, slice(image, offset, sizeof out, what).data(), sizeof out);
  return out;
}

Elf64_Ehdr read_header(std::span<const std::byte> image) {
  const auto header = read_struct<Elf64_Ehdr>(image, 0, "the ELF header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    refuse_cubin("it does not begin with \\x7fELF");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    refuse_cubin("it is not a little-endian 64-bit ELF file");
  }
  if (header.e_machine != EM_CUDA) {
    refuse_cubin(
        fmt::format("it is for ELF machine {}, not for CUDA ({})", header.e_machine, EM_CUDA));
  }
  return header;
}

std::vector<ElfSection> named_sections(std::span<const std::byte> image) try {
  std::vector<ElfSection> sections = elf_sections(image);
  const auto has_name = [](const ElfSection& section) { return !section.name.empty(); };
  if (std::ranges::none_of(sections, has_name)) refuse_cubin("its sections have no names");
  return sections;
} catch (const ElfError& error) {
  refuse_cubin(error.problem());
}

}  // namespace

Cubin::Cubin(std::span<const std::byte> image) : image_(image) {
  const Elf64_Ehdr header = read_header(image);
  // The program headers are not used, but a file without them has lost its end.
  slice(image, header.e_phoff, std::uint64_t{header.e_phnum} * header.e_phentsize,
        "the table of program headers");
  sections_ = named_sections(image);
  abi_ = header.e_ident[EI_ABIVERSION];
  sm_ = sm_of_cubin(image);
}

int sm_of_cubin(std::span<const std::byte> bytes) {
  Elf64_Ehdr header{};
  if (bytes.size() < sizeof header) return 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  // Up to CUDA 12 in bits 0 to 7, and since in bits 8 to 15.
  constexpr int kNewAbi = 8;
  const int shift = header.e_ident[EI_ABIVERSION] >= kNewAbi ? 8 : 0;
  return static_cast<int>(header.e_flags >> shift & 0xff);
}

std::string Cubin::arch() const {
  constexpr std::string_view kOption = "-arch ";
  const auto note = section(".note.nv.tkinfo");
  const std::string_view text = text_of(note);
  // The note of the device linker comes before those of what it linked.
  if (const std::size_t at = text.find(kOption); at != text.npos) {
    const std::string_view rest = text.substr(at + kOption.size());
    const auto noted =
        ArchName::parse(rest.substr(0, rest.find_first_of(std::string_view(" \0", 2))));
    if (noted && noted->number == sm_) return noted->str();
  }
  return ArchName{.number = sm_}.str();
}

std::vector<std::string> Cubin::kernels() const {
  std::vector<std::string> names;
  for (const ElfSection& section : sections_) {
    if (section.name.starts_with(kCodePrefix) && !section.bytes.empty()) {
      names.emplace_back(section.name.substr(kCodePrefix.size()));
    }
  }
  return names;
}

std::span<const std::byte> Cubin::code(std::string_view kernel) const {
  for (const ElfSection& section : sections_) {
    if (section.name.starts_with(kCodePrefix) &&
        section.name.substr(kCodePrefix.size()) == kernel) {
      return section.bytes;
    }
  }
  return {};
}

std::string Cubin::sass_hash(std::string_view kernel) const {
  const auto bytes = code(kernel);
  return bytes.empty() ? "" : hash_text(bytes);
}

std::span<const std::byte> Cubin::section(std::string_view name) const {
  const ElfSection* section = find(name);
  return section == nullptr ? std::span<const std::byte>() : section->bytes;
}

std::span<const std::byte> Cubin::numbered_section(std::string_view name) const {
  if (const ElfSection* whole = find(name)) return whole->bytes;
  const std::string prefix = std::string(name) + ".";
  const auto numbered = [&](const ElfSection& section) { return section.name.starts_with(prefix); };
  const auto found = std::ranges::find_if(sections_, numbered);
  const bool is_one = std::ranges::count_if(sections_, numbered) == 1;
  return is_one ? found->bytes : std::span<const std::byte>();
}

std::uint64_t Cubin::shared_static_bytes(std::string_view kernel) const {
  constexpr int kFirstWithReserve = 90;
  constexpr std::uint64_t kReserve = 1024;  // at the front of each block's, for the system
  const ElfSection* section = find(std::string(".nv.shared.").append(kernel));
  const std::uint64_t bytes = section == nullptr ? 0 : section->size;
  const std::uint64_t reserve = sm_ >= kFirstWithReserve ? kReserve : 0;
  return bytes > reserve ? bytes - reserve : 0;
}

std::map<std::uint64_t, std::string_view> Cubin::kernels_at(std::string_view name) const {
  std::map<std::uint64_t, std::string_view> kernels;
  const auto add = [&](std::span<const std::byte> symbols, const Elf64_Rel& relocation) {
    const std::uint64_t at = ELF64_R_SYM(relocation.r_info) * sizeof(Elf64_Sym);
    if (at + sizeof(Elf64_Sym) > symbols.size()) return;
    const auto symbol = read_struct<Elf64_Sym>(symbols, at, "a symbol");
    if (symbol.st_shndx >= sections_.size()) return;
    const std::string_view target = sections_[symbol.st_shndx].name;
    if (target.starts_with(kCodePrefix)) {
      kernels[relocation.r_offset] = target.substr(kCodePrefix.size());
    }
  };
  for (const auto& [prefix, bytes] :
       {std::pair{".rel", sizeof(Elf64_Rel)}, {".rela", sizeof(Elf64_Rela)}}) {
    const ElfSection* table = find(std::string(prefix).append(name));
    if (table == nullptr || table->link >= sections_.size()) continue;
    // Elf64_Rela is Elf64_Rel and an addend, which is 0 here: symbols are whole sections.
    for (std::size_t at = 0; at + bytes <= table->bytes.size(); at += bytes) {
      add(sections_[table->link].bytes, read_struct<Elf64_Rel>(table->bytes, at, "a relocation"));
    }
  }
  return kernels;
}

struct Cubin::FunctionSymbol {
  std::uint32_t number = 0;
  std::string_view name;
  Elf64_Sym symbol{};
};

std::vector<Cubin::FunctionSymbol> Cubin::function_symbols() const {
  std::vector<FunctionSymbol> symbols;
  const ElfSection* table = find(".symtab");
  if (table == nullptr || table->link >= sections_.size()) return symbols;
  const auto names = sections_[table->link].bytes;
  const std::size_t count = table->bytes.size() / sizeof(Elf64_Sym);
  for (std::uint32_t number = 0; number < count; ++number) {
    const auto symbol =
        read_struct<Elf64_Sym>(table->bytes, number * sizeof(Elf64_Sym), "a symbol");
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx >= sections_.size() ||
        symbol.st_name >= names.size()) {
      continue;
    }
    const auto rest = names.subspan(symbol.st_name);
    const auto end = std::ranges::find(rest, std::byte{0});
    if (end == rest.end()) continue;
    symbols.push_back({.number = number,
                       .name = {reinterpret_cast<const char*>(rest.data()),
                                static_cast<std::size_t>(end - rest.begin())},
                       .symbol = symbol});
  }
  return symbols;
}

std::map<std::uint32_t, Cubin::Function> Cubin::functions() const {
  constexpr unsigned char kEntry = 0x10;  // of st_other
  std::map<std::uint32_t, Function> functions;
  for (const auto& [number, name, symbol] : function_symbols()) {
    const std::string_view section = sections_[symbol.st_shndx].name;
    if (!section.starts_with(kCodePrefix)) continue;
    functions[number] = {.name = name,
                         .kernel = section.substr(kCodePrefix.size()),
                         .offset = symbol.st_value,
                         .is_entry = (symbol.st_other & kEntry) != 0};
  }
  return functions;
}

std::map<std::uint32_t, std::string_view> Cubin::functions_elsewhere() const {
  std::map<std::uint32_t, std::string_view> functions;
  for (const auto& [number, name, symbol] : function_symbols()) {
    if (symbol.st_shndx == SHN_UNDEF) functions[number] = name;
  }
  return functions;
}

const ElfSection* Cubin::find(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &ElfSection::name);
  return found == sections_.end() ? nullptr : &*found;
}

std::uint64_t Cubin::constant_bytes(std::string_view kernel) const {
  constexpr std::string_view kConstantPrefix = ".nv.constant";  // bank, point and kernel follow
  std::uint64_t bytes = 0;
  for (const ElfSection& section : sections_) {
    if (!section.name.starts_with(kConstantPrefix)) continue;
    const std::size_t point = section.name.find('.', kConstantPrefix.size());
    if (point != section.name.npos && section.name.substr(point + 1) == kernel) {
      bytes += section.bytes.size();
    }
  }
  return bytes;
}

std::uint64_t Cubin::module_constant_bytes() const { return section(".nv.constant3").size(); }

}  // namespace warpgauge::metrics
