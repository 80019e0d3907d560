// A library that the loader tells of all files that it loads (LD_AUDIT, rtld-audit(7)), before
// their code runs: those with a CUDA runtime linked into them get the emulated one in its place. It
// also tells which functions they find: those of compilers get an option more.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/audit/compilers.h"
#include "harness/audit/static_runtime.h"
#include "metrics/machine_code/elf_sections.h"

namespace warpgauge::audit {
namespace {

// The loader calls one function at a time.
std::vector<Loaded> fresh;            // loaded since it was last consistent
std::optional<Loaded> emulated_file;  // of the emulated runtime, which is preloaded

/// The emulated runtime lies in the folder of this library.
bool is_emulated_runtime(const std::string& path) {
  Dl_info own{};
  if (dladdr(&fresh, &own) == 0) return false;
  const std::string here(own.dli_fname);
  return path.starts_with(here.substr(0, here.rfind('/') + 1) + "libcudart.so.");
}

const EmulatedRuntime& emulated() {
  static const EmulatedRuntime& runtime = *new EmulatedRuntime(*emulated_file);
  return runtime;
}

/// The program itself has no name.
Loaded loaded_of(const link_map& map) {
  std::error_code unknown;
  if (*map.l_name != '\0') return {map.l_name, map.l_addr};
  return {std::filesystem::read_symlink("/proc/self/exe", unknown).string(), map.l_addr};
}

void replace_in_fresh() {
  for (const Loaded& file : std::exchange(fresh, {})) {
    try {
      replace_in(file, emulated);
    } catch (const metrics::ElfError&) {  // no file that nvcc wrote
    } catch (const std::exception& error) {
      std::fprintf(stderr,
                   "warpgauge: %s: the CUDA runtime that is linked into it is not emulated: %s; "
                   "build it with -cudart shared\n",
                   file.path.c_str(), error.what());
    }
  }
}

}  // namespace
}  // namespace warpgauge::audit

using namespace warpgauge::audit;

extern "C" {

unsigned la_version(unsigned version) { return std::min<unsigned>(version, LAV_CURRENT); }

unsigned la_objopen(link_map* map, Lmid_t, std::uintptr_t*) {
  Loaded file = loaded_of(*map);
  if (is_emulated_runtime(file.path)) {
    emulated_file = std::move(file);
  } else {
    fresh.push_back(std::move(file));
  }
  return is_compiler(map->l_name) ? LA_FLG_BINDTO : LA_FLG_BINDFROM;
}

/// Of what a file with LA_FLG_BINDFROM finds in one with LA_FLG_BINDTO, also by dlsym().
std::uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned, std::uintptr_t*, std::uintptr_t*,
                            unsigned*, const char* name) {
  return with_line_tables(name, symbol->st_value);
}

/// Also of what could not be loaded to its end.
unsigned la_objclose(std::uintptr_t* map) {
  const std::uintptr_t base = reinterpret_cast<const link_map*>(*map)->l_addr;
  std::erase_if(fresh, [&](const Loaded& file) { return file.base == base; });
  return 0;
}

void la_activity(std::uintptr_t*, unsigned flag) {
  if (flag == LA_ACT_CONSISTENT && emulated_file) replace_in_fresh();
}

}  // extern "C"
