// Recognises files by their first bytes, and walks through what they contain.
#include "metrics/machine_code/code_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <utility>

#include "metrics/machine_code/archive.h"
#include "metrics/machine_code/byte_text.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/elf_sections.h"
#include "metrics/machine_code/fat_binary.h"
#include "metrics/machine_code/zip.h"

namespace warpgauge::metrics {
namespace {

using Bytes = std::span<const std::byte>;
using Kind = FatBinaryEntry::Kind;

constexpr std::string_view kFatBinSection = ".nv_fatbin", kWrappers = ".nvFatBinSegment";
/// The section with code that the device linker has not linked, in an object by nvcc -rdc=true. A
/// program keeps it beside the linked code.
constexpr std::string_view kNotLinked = "__nv_relfatbin";
constexpr int kMostNested = 8;  // archives in archives

bool is_cubin(Bytes file) { return is_elf(file) && elf_machine(file) == EM_CUDA; }

bool is_of_windows(Bytes file) { return text_of(file).starts_with("MZ"); }

/// True for what gzip, xz, bzip2, zstd, lz4, tar, 7-Zip, rar and rpm write, by its first bytes.
bool is_packed(Bytes file) {
  constexpr auto kMagics = std::to_array<std::string_view>(
      {"\x1f\x8b",
       "\xfd"
       "7zXZ",
       "BZh", "\x28\xb5\x2f\xfd", "\x04\x22\x4d\x18", "7z\xbc\xaf", "Rar!", "\xed\xab\xee\xdb"});
  constexpr std::size_t kTarMagicAt = 257;
  const std::string_view text = text_of(file);
  return std::ranges::any_of(kMagics, [&](auto magic) { return text.starts_with(magic); }) ||
         text.substr(std::min(kTarMagicAt, text.size())).starts_with("ustar");
}

bool is_zeros(Bytes file) {
  return std::ranges::all_of(file, [](std::byte byte) { return byte == std::byte{0}; });
}

class Reading {
 public:
  Reading(const std::function<bool(std::string_view)>& wanted,
          const std::function<void(const FoundCubin&)>& visit,
          const std::function<void(const FoundPtx&)>& visit_ptx)
      : wanted_(wanted), visit_(visit), visit_ptx_(visit_ptx) {}

  void read(Bytes file, const std::string& place) {
    if (is_archive(file)) {
      read_members(file, place);
    } else if (is_cubin(file)) {
      read_cubin(file, place);
    } else if (is_elf(file)) {
      read_elf(file, place);
    } else if (is_fat_binary(file)) {
      read_entries(file, place);
    } else if (is_of_windows(file)) {
      read_containers(file, {}, place);
    } else {
      return;
    }
    result.is_known = true;
  }

  CodeFile result;

 private:
  static std::string in(const std::string& place, std::string_view part) {
    return place.empty() ? std::string(part) : fmt::format("{}, {}", place, part);
  }

  void damaged(const std::string& place, std::string_view problem) {
    result.damaged.push_back(place.empty() ? std::string(problem)
                                           : fmt::format("{}: {}", place, problem));
  }

  void read_members(Bytes file, const std::string& place) try {
    if (depth_ == kMostNested) {
      return damaged(place, fmt::format("archives in archives are looked into {} deep; unpack it, "
                                        "and name its files",
                                        kMostNested));
    }
    const std::vector<ArchiveMember> members = read_archive(file);
    ++depth_;
    for (const ArchiveMember& member : members) read_member(member, place);
    --depth_;
  } catch (const ArchiveError& error) {
    damaged(place, error.what());
  }

  void read_member(const ArchiveMember& member, const std::string& place) {
    if (member.is_table && !may_have_code(member.bytes)) return;
    const std::string inner = in(place, member.name);
    if (is_zip(member.bytes)) {
      return damaged(inner,
                     "a zip in an archive is not looked into; unpack it, and name its files");
    }
    if (may_have_code(member.bytes)) return read(member.bytes, inner);
    const bool has_code = is_named_as_code(member.name) || is_zeros(member.bytes);
    const auto problem = has_code ? why_no_code_file(member.bytes) : std::nullopt;
    if (problem) return damaged(inner, *problem);
    result.skipped.push_back(inner);
  }

  void read_elf(Bytes file, const std::string& place) try {
    const bool is_object = elf_type(file) == ET_REL;
    const std::size_t before = containers_;
    std::vector<Bytes> known;
    bool has_wrappers = false;
    for (const ElfSection& section : elf_sections(file)) {
      if (section.name.starts_with(".nv.info")) {
        throw ElfError(offsetof(Elf64_Ehdr, e_machine),
                       "it has the sections of a cubin, and is of another machine");
      }
      has_wrappers = has_wrappers || (section.name == kWrappers && !section.bytes.empty());
      if ((section.name != kFatBinSection && section.name != kNotLinked) || section.bytes.empty()) {
        continue;
      }
      known.push_back(section.bytes);
      ++containers_;
      const bool is_linked = section.name == kNotLinked && !is_object;
      if (!is_linked) read_entries(section.bytes, in(place, section.name));
      if (is_linked && visit_ptx_) read_ptx(section.bytes, in(place, section.name));
    }
    read_containers(file, known, place);
    check_behind(file, place);
    if (has_wrappers && containers_ == before) {
      throw ElfError(0, "it registers fat binaries (.nvFatBinSegment) and has none");
    }
  } catch (const ElfError& error) {
    damaged(place, error.what());
  }

  /// `cat` puts files one behind the other.
  void check_behind(Bytes file, const std::string& place) {
    const Bytes behind = behind_elf(file);
    if (!is_elf(behind) && !is_archive(behind) && !is_zip(behind)) return;
    damaged(place, fmt::format("at offset {}, another file stands behind its end, and is not "
                               "looked into; name it by itself",
                               file.size() - behind.size()));
  }

  /// Reads the containers that lie anywhere but in the `known` parts of a file.
  void read_containers(Bytes file, const std::vector<Bytes>& known, const std::string& place) {
    for (std::size_t at = 0; (at = find_fat_binary(file, at)) < file.size();) {
      const auto part = std::ranges::find_if(known, [&](Bytes bytes) {
        return file.data() + at >= bytes.data() && file.data() + at < bytes.data() + bytes.size();
      });
      if (part != known.end()) {
        at = static_cast<std::size_t>(part->data() + part->size() - file.data());
        continue;
      }
      ++containers_;
      const Bytes container = fat_binary_at(file, at);
      read_entries(container, in(place, fmt::format("at offset {}", at)));
      at += container.size();
    }
  }

  void read_entries(Bytes bytes, const std::string& place) try {
    for (const FatBinaryEntry& entry : read_fat_binary(bytes)) read_entry(entry, place);
  } catch (const FatBinaryError& error) {
    damaged(place, error.what());
  }

  /// The PTX alone, of code that is there linked, too.
  void read_ptx(Bytes bytes, const std::string& place) try {
    for (const FatBinaryEntry& entry : read_fat_binary(bytes)) {
      if (entry.kind == Kind::ptx) read_entry(entry, place);
    }
  } catch (const FatBinaryError& error) {
    damaged(place, error.what());
  }

  void read_entry(const FatBinaryEntry& entry, const std::string& place) try {
    check_header(entry);
    if (entry.kind == Kind::ptx) {
      ++result.ptx;
      if (visit_ptx_ && wanted_(entry.arch)) {
        visit_ptx_({.arch = entry.arch, .place = place, .text = entry.unpack_text()});
      }
    }
    if (entry.kind == Kind::lto && wanted_(entry.arch)) {
      result.to_link.push_back(in(place, "code for " + entry.arch));
    }
    if (entry.kind != Kind::cubin) return;
    ++result.cubins;
    if (!wanted_(entry.arch)) return;
    const bool is_stored = entry.compression == FatBinaryEntry::Compression::none;
    const auto unpacked = is_stored ? std::vector<std::byte>() : entry.unpack();
    visit_({.arch = entry.arch, .place = place, .image = is_stored ? entry.stored : unpacked});
  } catch (const FatBinaryError& error) {
    damaged(place, error.what());
  } catch (const CubinError& error) {
    damaged(in(place, "code for " + entry.arch), error.what());
  }

  /// Compares what the header of an entry says with how its code begins. Throws FatBinaryError.
  static void check_header(const FatBinaryEntry& entry) {
    constexpr std::string_view kRemedy = "Compile it again";
    if (entry.kind == Kind::other) {
      throw FatBinaryError(fmt::format("its code for {} is of a kind that is unknown here. {}",
                                       entry.arch, kRemedy));
    }
    if (entry.kind == Kind::lto) return;  // has a compression of its own, and is never green
    const std::vector<std::byte> begin = entry.beginning(sizeof(Elf64_Ehdr));
    if (is_cubin(begin) != (entry.kind == Kind::cubin)) {
      throw FatBinaryError(fmt::format("its code for {} is {} cubin, which its header denies. {}",
                                       entry.arch, is_cubin(begin) ? "a" : "no", kRemedy));
    }
    const int sm = entry.kind == Kind::cubin ? sm_of_cubin(begin) : 0;
    if (entry.kind == Kind::cubin && entry.arch_number != sm) {
      throw FatBinaryError(fmt::format("its code for {} is for sm_{}, which its header denies. {}",
                                       entry.arch, sm, kRemedy));
    }
  }

  void read_cubin(Bytes file, const std::string& place) try {
    const std::string arch = Cubin(file).arch();
    ++result.cubins;
    if (wanted_(arch)) visit_({.arch = arch, .place = place, .image = file});
  } catch (const CubinError& error) {
    damaged(place, error.what());
  }

  const std::function<bool(std::string_view)>& wanted_;
  const std::function<void(const FoundCubin&)>& visit_;
  const std::function<void(const FoundPtx&)>& visit_ptx_;
  int depth_ = 0;               ///< archives around what is read
  std::size_t containers_ = 0;  ///< parts with fat binaries
};

}  // namespace

bool may_have_code(Bytes file) {
  return is_archive(file) || is_elf(file) || is_fat_binary(file) || is_of_windows(file);
}

bool is_named_as_code(std::string_view name) {
  constexpr auto kEndings = std::to_array<std::string_view>(
      {".so", ".o", ".a", ".cubin", ".fatbin", ".ptx", ".ltoir", ".whl", ".zip", ".dll", ".tar",
       ".tgz", ".txz", ".tbz2", ".7z", ".rar", ".deb", ".rpm"});
  constexpr auto kPackings =
      std::to_array<std::string_view>({".gz", ".xz", ".bz2", ".zst", ".lz4", ".lzma"});
  std::string lower(name.substr(name.rfind('/') + 1));  // npos + 1 is 0
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto packing = std::ranges::find_if(
      kPackings, [&](std::string_view ending) { return lower.ends_with(ending); });
  if (packing != kPackings.end()) lower.resize(lower.size() - packing->size());
  // "libmy.so.1.2" is a library, too.
  while (!lower.empty() && (std::isdigit(static_cast<unsigned char>(lower.back())) != 0)) {
    const std::size_t point = lower.find_last_not_of("0123456789");
    if (point == lower.npos || lower[point] != '.') break;
    lower.resize(point);
  }
  return std::ranges::any_of(kEndings, [&](auto ending) { return lower.ends_with(ending); });
}

std::optional<std::string> why_no_code_file(Bytes file) {
  constexpr std::string_view kRemedy = "Build it again";
  if (is_packed(file)) {
    return "it is packed, and is not looked into; unpack it, and name the file or folder";
  }
  if (file.empty()) return fmt::format("it is empty. {}", kRemedy);
  if (is_zeros(file)) return fmt::format("it has nothing but zeros. {}", kRemedy);
  const std::string_view text = text_of(file.first(std::min<std::size_t>(file.size(), 1024)));
  const bool is_script = text.find('\0') == text.npos &&
                         (text.find("INPUT") != text.npos || text.find("GROUP") != text.npos);
  if (is_script) return std::nullopt;
  return fmt::format(
      "its first bytes are none of what it is named as: a cubin, a fat binary, an object, a "
      "library, an archive or a wheel. {}",
      kRemedy);
}

CodeFile read_code_file(Bytes file, const std::function<bool(std::string_view)>& wanted,
                        const std::function<void(const FoundCubin&)>& visit,
                        const std::function<void(const FoundPtx&)>& visit_ptx) {
  Reading reading(wanted, visit, visit_ptx);
  reading.read(file, "");
  return std::move(reading.result);
}

}  // namespace warpgauge::metrics
