// Reads from a program's file how it is linked with CUDA.
#include "harness/programs/linkage.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>

#include "harness/files/mapped_file.h"
#include "metrics/machine_code/elf_sections.h"

namespace warpgauge::programs {
namespace {

namespace fs = std::filesystem;

fs::path found_in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  std::error_code unreadable;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder) / program;
    if (fs::is_regular_file(file, unreadable)) return file;
  }
  return program;
}

std::string text_at(std::span<const std::byte> texts, std::uint64_t offset) {
  if (offset >= texts.size()) return "";
  const char* const begin = reinterpret_cast<const char*>(texts.data()) + offset;
  return {begin, strnlen(begin, texts.size() - offset)};
}

bool needs(const Linkage& linkage, std::string_view library) {
  return std::ranges::any_of(linkage.needed,
                             [&](const std::string& name) { return name.starts_with(library); });
}

}  // namespace

Linkage linkage_of(const std::string& program) try {
  const files::MappedFile file(found_in_path(program));
  const std::vector<metrics::ElfSection> sections = metrics::elf_sections(file.bytes());
  Linkage out;
  for (const metrics::ElfSection& section : sections) {
    if (section.name == ".nv_fatbin") out.has_device_code = true;
    if (section.type == SHT_SYMTAB) out.has_names = true;
    if (section.name == ".interp") out.loads_libraries = true;
    if (section.type != SHT_DYNAMIC || section.link >= sections.size()) continue;
    const auto entries = section.bytes;
    for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= entries.size(); at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, entries.data() + at, sizeof entry);
      if (entry.d_tag != DT_NEEDED) continue;
      out.needed.push_back(text_at(sections[section.link].bytes, entry.d_un.d_val));
    }
  }
  return out;
} catch (const std::system_error&) {
  return {};
} catch (const metrics::ElfError&) {
  return {};
}

bool has_cuda(const Linkage& linkage) {
  return linkage.has_device_code || needs(linkage, "libcuda.so") || needs(linkage, "libcudart.so");
}

std::string why_not_replaced(const Linkage& linkage, const std::string& runtime) {
  if (needs(linkage, runtime)) return "";
  if (needs(linkage, "libcudart.so.")) {
    return fmt::format(
        "it is linked with the CUDA runtime of another version, and the emulator is {}: build it "
        "with that CUDA",
        runtime);
  }
  if (!linkage.has_device_code) return "";
  return fmt::format(
      "the CUDA runtime is part of it (nvcc links it statically unless told otherwise), {} with "
      "-cudart shared",
      linkage.has_names
          ? "and could not be replaced, for the reason that stands above: build it"
          : "and without the names of its functions, which were stripped, the "
            "emulator cannot take its place: link it without -s or strip, or build it");
}

std::string why_not_called(const Linkage& linkage, const std::string& runtime) {
  const bool is_replaced =
      linkage.has_device_code && linkage.has_names && !needs(linkage, "libcudart.so.");
  if (!is_replaced) {
    if (std::string why = why_not_replaced(linkage, runtime); !why.empty()) return why;
  }
  if (is_replaced || needs(linkage, runtime) || needs(linkage, "libcuda.so.")) {
    return "it ended before it called CUDA; its own output may say why";
  }
  return fmt::format(
      "neither it nor a program that it started called {}. The emulator runs programs that nvcc "
      "links with the CUDA runtime of that version",
      runtime);
}

}  // namespace warpgauge::programs
