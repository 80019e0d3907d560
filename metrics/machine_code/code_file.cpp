// Recognises files by their first bytes, and walks through what they contain.
#include "metrics/machine_code/code_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <exception>
#include <utility>

#include "metrics/machine_code/archive.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/elf_sections.h"
#include "metrics/machine_code/fat_binary.h"

namespace warpgauge::metrics {
namespace {

using Bytes = std::span<const std::byte>;
using Kind = FatBinaryEntry::Kind;

constexpr std::string_view kFatBinary = ".nv_fatbin";
/// The section with code that the device linker has not linked, in an object by nvcc -rdc=true. A
/// program keeps it beside the linked code.
constexpr std::string_view kNotLinked = "__nv_relfatbin";

bool is_cubin(Bytes file) { return is_elf(file) && elf_machine(file) == EM_CUDA; }

class Reading {
 public:
  Reading(const std::function<bool(std::string_view)>& wanted,
          const std::function<void(const FoundCubin&)>& visit)
      : wanted_(wanted), visit_(visit) {}

  void read(Bytes file, const std::string& place) {
    if (is_archive(file)) {
      read_members(file, place);
    } else if (is_cubin(file)) {
      read_cubin(file, place);
    } else if (is_elf(file)) {
      read_elf(file, place);
    } else if (is_fat_binary(file)) {
      read_entries(file, place);
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

  void damaged(const std::string& place, const std::exception& problem) {
    result.damaged.push_back(place.empty() ? problem.what()
                                           : fmt::format("{}: {}", place, problem.what()));
  }

  void read_members(Bytes file, const std::string& place) try {
    for (const ArchiveMember& member : read_archive(file)) {
      if (!is_archive(member.bytes)) read(member.bytes, in(place, member.name));
    }
  } catch (const ArchiveError& error) {
    damaged(place, error);
  }

  void read_elf(Bytes file, const std::string& place) try {
    const bool is_object = elf_type(file) == ET_REL;
    for (const ElfSection& section : elf_sections(file)) {
      const bool has_code = section.name == kFatBinary || (section.name == kNotLinked && is_object);
      if (has_code && !section.bytes.empty()) read_entries(section.bytes, in(place, section.name));
    }
  } catch (const ElfError& error) {
    damaged(place, error);
  }

  void read_entries(Bytes bytes, const std::string& place) try {
    for (const FatBinaryEntry& entry : read_fat_binary(bytes)) read_entry(entry, place);
  } catch (const FatBinaryError& error) {
    damaged(place, error);
  }

  void read_entry(const FatBinaryEntry& entry, const std::string& place) try {
    result.ptx += entry.kind == Kind::ptx ? 1 : 0;
    if (entry.kind != Kind::cubin) return;
    ++result.cubins;
    if (!wanted_(entry.arch)) return;
    const bool is_stored = entry.compression == FatBinaryEntry::Compression::none;
    const auto unpacked = is_stored ? std::vector<std::byte>() : entry.unpack();
    visit_({.arch = entry.arch, .place = place, .image = is_stored ? entry.stored : unpacked});
  } catch (const FatBinaryError& error) {
    damaged(place, error);
  } catch (const CubinError& error) {
    damaged(in(place, "code for " + entry.arch), error);
  }

  void read_cubin(Bytes file, const std::string& place) try {
    const std::string arch = Cubin(file).arch();
    ++result.cubins;
    if (wanted_(arch)) visit_({.arch = arch, .place = place, .image = file});
  } catch (const CubinError& error) {
    damaged(place, error);
  }

  const std::function<bool(std::string_view)>& wanted_;
  const std::function<void(const FoundCubin&)>& visit_;
};

}  // namespace

bool may_have_code(Bytes file) { return is_archive(file) || is_elf(file) || is_fat_binary(file); }

CodeFile read_code_file(Bytes file, const std::function<bool(std::string_view)>& wanted,
                        const std::function<void(const FoundCubin&)>& visit) {
  Reading reading(wanted, visit);
  reading.read(file, "");
  return std::move(reading.result);
}

}  // namespace warpgauge::metrics
