// Finds the functions of a static CUDA runtime by the names in .symtab, which nvcc leaves there,
// and writes a jump at the beginning of each.
#include "harness/audit/static_runtime.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "metrics/machine_code/elf_sections.h"

namespace warpgauge::audit {
namespace {

using metrics::ElfSection;
using Bytes = std::span<const std::byte>;

/// The names of all that is not public in the static runtime begin so.
constexpr std::string_view kOwnNames = "libcudart_static_";
/// Came with CUDA 13.0, whose interface the emulated runtime has.
constexpr std::string_view kSinceThisCuda = "cudaMemGetDefaultMemPool";

[[noreturn]] void fail(const std::string& why) { throw std::runtime_error(why); }

/// The bytes of a file; none where it cannot be read, as the kernel's own, which is none.
class File {
 public:
  explicit File(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status {};
    if (fstat(file, &status) == 0 && status.st_size > 0) {
      const auto size = static_cast<std::size_t>(status.st_size);
      void* const place = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
      if (place != MAP_FAILED) bytes_ = {static_cast<const std::byte*>(place), size};
    }
    close(file);
  }
  ~File() {
    if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

struct Symbol {
  std::string_view name;
  std::uint64_t address = 0, size = 0;
  std::size_t section = 0;
};

/// The functions in a table of symbols. `names` is the section of their names.
template <typename Use>
void each_function(const ElfSection& table, const ElfSection& names, Use use) {
  const std::string_view texts(reinterpret_cast<const char*>(names.bytes.data()),
                               names.bytes.size());
  for (Bytes rest = table.bytes; rest.size() >= sizeof(Elf64_Sym);
       rest = rest.subspan(sizeof(Elf64_Sym))) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, rest.data(), sizeof symbol);
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC || symbol.st_shndx == SHN_UNDEF || symbol.st_name >= texts.size()) {
      continue;
    }
    const std::string_view name = texts.substr(symbol.st_name);
    use(Symbol{name.substr(0, name.find('\0')), symbol.st_value, symbol.st_size, symbol.st_shndx});
  }
}

template <typename Use>
void each_function(const std::vector<ElfSection>& sections, std::uint32_t type, Use use) {
  for (const ElfSection& section : sections) {
    if (section.type != type || section.link >= sections.size()) continue;
    each_function(section, sections[section.link], use);
  }
}

bool has_names_of_runtime(const std::vector<ElfSection>& sections) {
  return std::ranges::any_of(sections, [&](const ElfSection& section) {
    if (section.type != SHT_SYMTAB || section.link >= sections.size()) return false;
    const Bytes names = sections[section.link].bytes;
    return memmem(names.data(), names.size(), kOwnNames.data(), kOwnNames.size()) != nullptr;
  });
}

/// The static runtime in a file: one section of code.
struct Runtime {
  const ElfSection* code = nullptr;
  std::vector<Symbol> functions;  ///< those that have a name of CUDA, by address
  bool is_of_this_cuda = false;
};

/// nullopt where the file has none.
std::optional<Runtime> runtime_in(const std::vector<ElfSection>& sections) {
  if (!has_names_of_runtime(sections)) return std::nullopt;
  // Others may have functions with a name of CUDA, but not among those of the runtime.
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;
  std::vector<Symbol> named;
  each_function(sections, SHT_SYMTAB, [&](const Symbol& symbol) {
    if (symbol.name.starts_with(kOwnNames)) {
      begin = std::min(begin, symbol.address);
      end = std::max(end, symbol.address + symbol.size);
    } else if (symbol.name.starts_with("cuda") || symbol.name.starts_with("__cuda")) {
      named.push_back(symbol);
    }
  });
  std::erase_if(
      named, [&](const Symbol& symbol) { return symbol.address < begin || symbol.address >= end; });
  if (named.empty()) return std::nullopt;
  std::ranges::sort(named, {}, &Symbol::address);
  const std::size_t section = named.front().section;
  if (section >= sections.size() ||
      std::ranges::any_of(named, [&](const Symbol& s) { return s.section != section; })) {
    fail("its functions are in several sections");
  }
  const bool is_of_this_cuda =
      std::ranges::find(named, kSinceThisCuda, &Symbol::name) != named.end();
  return Runtime{&sections[section], std::move(named), is_of_this_cuda};
}

using Code = std::vector<std::byte>;

template <typename Value>
void append(Code& code, Value value) {
  const std::size_t at = code.size();
  code.resize(at + sizeof value);
  std::memcpy(code.data() + at, &value, sizeof value);
}

void append(Code& code, std::initializer_list<unsigned char> bytes) {
  for (const unsigned char byte : bytes) code.push_back(std::byte{byte});
}

Code jump_to(std::uintptr_t target) {
  Code code;
  append(code, {0xff, 0x25, 0, 0, 0, 0});  // jmp *(the 8 bytes behind it)
  append(code, target);
  return code;
}

/// Calls `refusal` with a text, which stays where it is.
Code refusing(std::uintptr_t refusal, const std::string& what) {
  Code code;
  append(code, {0x48, 0xbf});  // mov rdi, the text
  append(code, strdup(what.c_str()));
  const Code jump = jump_to(refusal);
  code.insert(code.end(), jump.begin(), jump.end());
  return code;
}

constexpr std::size_t kNearJump = 5;

Code near_jump(std::uint64_t from, std::uint64_t to) {
  Code code;
  append(code, {0xe9});
  append(code, static_cast<std::int32_t>(to - (from + kNearJump)));
  return code;
}

/// What stands at the beginning of a function from now on: nothing where the function stays.
Code code_for(const Symbol& function, const Runtime& runtime, const std::string& path,
              const EmulatedRuntime& emulated) {
  const bool is_public = function.name.starts_with("cuda");
  const std::uintptr_t target = emulated.find(function.name);
  if (runtime.is_of_this_cuda && target != 0) return jump_to(target);
  if (!is_public) return {};  // registers kernels, which is all that it does
  const auto refused = [&](std::string_view which, std::string_view remedy) {
    return refusing(emulated.refusal(),
                    fmt::format("{} {} (build {} with {})", function.name, which, path, remedy));
  };
  return runtime.is_of_this_cuda ? refused("of a later CUDA", "the CUDA of this emulator")
                                 : refused("of a CUDA before 13.0", "CUDA 13");
}

/// Bytes to be written at an address in the file.
struct Change {
  std::uint64_t address = 0;
  Code code;
};

/// Room behind the beginnings of functions that are not reached any more.
class Room {
 public:
  /// Takes what is behind the first bytes of a function.
  void add(const Symbol& function, std::size_t used) {
    if (function.size > used) free_.push_back({function.address + used, function.size - used});
  }
  /// Throws std::runtime_error if there is not so much.
  std::uint64_t take(std::size_t bytes) {
    for (auto& [address, size] : free_) {
      if (size < bytes) continue;
      const std::uint64_t place = address;
      address += bytes;
      size -= bytes;
      return place;
    }
    fail("there is no room for jumps in it");
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> free_;
};

/// All that is to be written, by address.
std::vector<Change> changes_for(const Runtime& runtime, const std::string& path,
                                const EmulatedRuntime& emulated) {
  struct Led {
    const Symbol* function;
    Code code;
  };
  std::vector<Led> led;
  for (const Symbol& function : runtime.functions) {
    Code code = code_for(function, runtime, path, emulated);
    const bool is_public = function.name.starts_with("cuda");
    if (code.empty() || (function.size < kNearJump && !is_public)) continue;
    if (function.size < kNearJump) {
      fail(fmt::format("{} has {} bytes, too few for a jump", function.name, function.size));
    }
    if (!led.empty() &&
        led.back().function->address + led.back().function->size > function.address) {
      fail(fmt::format("{} and {} share code", led.back().function->name, function.name));
    }
    led.push_back({&function, std::move(code)});
  }
  Room room;
  for (const auto& [function, code] : led) {
    if (function->size >= code.size()) room.add(*function, code.size());
  }
  std::vector<Change> changes;
  for (auto& [function, code] : led) {
    if (function->size >= code.size()) {
      changes.push_back({function->address, std::move(code)});
      continue;
    }
    const std::uint64_t place = room.take(code.size());
    changes.push_back({place, std::move(code)});
    changes.push_back({function->address, near_jump(function->address, place)});
  }
  std::ranges::sort(changes, {}, &Change::address);
  return changes;
}

/// Throws std::runtime_error if memory has other code than the file.
void require_same(const Runtime& runtime, std::uintptr_t base, const std::vector<Change>& changes) {
  const auto& [code, functions, is_of_this_cuda] = runtime;
  for (const Change& change : changes) {
    const std::uint64_t offset = change.address - code->address;
    if (change.address < code->address || offset > code->bytes.size() ||
        change.code.size() > code->bytes.size() - offset) {
      fail("its functions are not in the section of their code");
    }
    if (std::memcmp(reinterpret_cast<const void*>(base + change.address),
                    code->bytes.data() + offset, change.code.size()) != 0) {
      fail("its code is not that of the file");
    }
  }
}

/// Throws std::runtime_error if the pages cannot be written: nothing is then.
void write(std::uintptr_t base, const std::vector<Change>& changes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = (base + changes.front().address) / page * page;
  const std::uintptr_t end = base + changes.back().address + changes.back().code.size();
  const auto protect = [&](int protection) {
    return mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;
  };
  // Executable all the time: another thread may be in a function beside them.
  if (!protect(PROT_READ | PROT_WRITE | PROT_EXEC)) {
    fail(fmt::format(
        "its code cannot be written ({}: a system that is hardened, as by SELinux's execmod or "
        "systemd's MemoryDenyWriteExecute)",
        std::strerror(errno)));
  }
  for (const Change& change : changes) {
    std::memcpy(reinterpret_cast<void*>(base + change.address), change.code.data(),
                change.code.size());
  }
  protect(PROT_READ | PROT_EXEC);
}

}  // namespace

EmulatedRuntime::EmulatedRuntime(const Loaded& library) {
  const File file(library.path);
  if (file.bytes().empty()) fail(library.path + " cannot be read");
  each_function(metrics::elf_sections(file.bytes()), SHT_DYNSYM, [&](const Symbol& function) {
    functions_.emplace(function.name, library.base + function.address);
  });
}

std::uintptr_t EmulatedRuntime::find(std::string_view name) const {
  const auto found = functions_.find(std::string(name));
  return found == functions_.end() ? 0 : found->second;
}

void replace_in(const Loaded& file, const EmulatedRuntime& (*emulated)()) {
  const File mapped(file.path);
  if (mapped.bytes().empty()) return;
  const std::vector<ElfSection> sections = metrics::elf_sections(mapped.bytes());
  const std::optional<Runtime> runtime = runtime_in(sections);
  if (!runtime) return;
  const std::vector<Change> changes = changes_for(*runtime, file.path, emulated());
  if (changes.empty()) return;
  require_same(*runtime, file.base, changes);
  write(file.base, changes);
}

}  // namespace warpgauge::audit
