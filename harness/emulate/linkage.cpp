#include "harness/emulate/linkage.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace warpgauge::emulate {
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

/// Parts of a file, none longer than it.
class Parts {
 public:
  explicit Parts(const fs::path& path) : file_(path, std::ios::binary) {
    std::error_code unreadable;
    bytes_ = fs::file_size(path, unreadable);
    if (unreadable) bytes_ = 0;
  }
  std::string at(std::uint64_t offset, std::uint64_t bytes) {
    if (offset > bytes_ || bytes > bytes_ - offset) return "";
    std::string out(bytes, '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(out.data(), static_cast<std::streamsize>(bytes));
    return file_ ? out : "";
  }
  template <typename T>
  std::optional<T> record(std::uint64_t offset) {
    const std::string bytes = at(offset, sizeof(T));
    if (bytes.empty()) return std::nullopt;
    T out;
    std::memcpy(&out, bytes.data(), sizeof out);
    return out;
  }

 private:
  std::ifstream file_;
  std::uint64_t bytes_ = 0;
};

std::string text_at(const std::string& texts, std::uint64_t offset) {
  return offset < texts.size() ? texts.c_str() + offset : "";
}

bool needs(const Linkage& linkage, std::string_view library) {
  return std::ranges::any_of(linkage.needed,
                             [&](const std::string& one) { return one.starts_with(library); });
}

}  // namespace

Linkage linkage_of(const std::string& program) {
  Parts file(found_in_path(program));
  const auto header = file.record<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64) {
    return {};
  }
  std::vector<Elf64_Shdr> sections;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto section = file.record<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return {};
    sections.push_back(*section);
  }
  const auto content = [&](std::size_t number) {
    if (number >= sections.size() || sections[number].sh_type == SHT_NOBITS) return std::string();
    return file.at(sections[number].sh_offset, sections[number].sh_size);
  };
  Linkage out;
  const std::string names = content(header->e_shstrndx);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (text_at(names, sections[i].sh_name) == ".nv_fatbin") out.has_device_code = true;
    if (sections[i].sh_type != SHT_DYNAMIC) continue;
    const std::string entries = content(i), texts = content(sections[i].sh_link);
    for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= entries.size(); at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, entries.data() + at, sizeof entry);
      if (entry.d_tag == DT_NEEDED) out.needed.push_back(text_at(texts, entry.d_un.d_val));
    }
  }
  return out;
}

bool has_other_runtime(const Linkage& linkage, const std::string& runtime) {
  return !needs(linkage, runtime) && (linkage.has_device_code || needs(linkage, "libcudart.so."));
}

std::string why_not_called(const Linkage& linkage, const std::string& runtime) {
  const std::string ended = "it ended before it called CUDA; its own output may say why";
  if (needs(linkage, runtime)) return ended;
  if (needs(linkage, "libcudart.so.")) {
    return fmt::format(
        "it is linked with the CUDA runtime of another version, and the emulator is {}: build it "
        "with that CUDA",
        runtime);
  }
  if (linkage.has_device_code) {
    return fmt::format(
        "the CUDA runtime is part of it (nvcc links it statically unless told otherwise), and the "
        "emulator can only take the place of {}: build it with -cudart shared, as `warpgauge cc -- "
        "nvcc` does",
        runtime);
  }
  if (needs(linkage, "libcuda.so.")) return ended;
  return fmt::format(
      "neither it nor a program that it started called {}. The emulator runs programs that are "
      "linked with the shared CUDA runtime (nvcc -cudart shared): build them with `warpgauge cc -- "
      "nvcc`",
      runtime);
}

}  // namespace warpgauge::emulate
