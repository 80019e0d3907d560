#include "harness/process/loaded_libraries.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "harness/files/mapped_file.h"
#include "metrics/base/hash.h"

namespace warpgauge::process {
namespace {

constexpr std::size_t kAlignment = 4;  // of names and descriptions of notes

std::size_t aligned(std::size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

/// The id that the linker gave it (NT_GNU_BUILD_ID) among these notes; empty if it is not there.
std::string build_id(std::span<const std::byte> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t name = sizeof note, description = name + aligned(note.n_namesz);
    const std::size_t end = description + aligned(note.n_descsz);
    if (end > notes.size()) break;
    const std::string_view owner(reinterpret_cast<const char*>(notes.data()) + name, note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && owner == std::string_view("GNU", sizeof "GNU")) {
      std::string text;
      for (const std::byte byte : notes.subspan(description, note.n_descsz)) {
        text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
      }
      return text;
    }
    notes = notes.subspan(end);
  }
  return "";
}

struct Loaded {
  std::string path, id;
};

int add(dl_phdr_info* info, std::size_t, void* found) {
  const std::string_view path = info->dlpi_name;
  if (path.find('/') == std::string_view::npos) return 0;  // the program itself, and the kernel's
  Loaded loaded{.path = std::string(path), .id = ""};
  for (const ElfW(Phdr) & header : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (header.p_type != PT_NOTE || !loaded.id.empty()) continue;
    const auto* notes = reinterpret_cast<const std::byte*>(info->dlpi_addr + header.p_vaddr);
    loaded.id = build_id({notes, header.p_memsz});
  }
  static_cast<std::vector<Loaded>*>(found)->push_back(std::move(loaded));
  return 0;
}

}  // namespace

std::set<std::string> loaded_libraries() {
  std::vector<Loaded> found;
  dl_iterate_phdr(add, &found);
  std::set<std::string> libraries;
  for (const auto& [path, id] : found) {
    const std::string content =
        id.empty() ? metrics::hash_text(files::MappedFile(path).bytes()) : id;
    libraries.insert(std::filesystem::path(path).filename().string() + ' ' + content);
  }
  return libraries;
}

}  // namespace warpgauge::process
