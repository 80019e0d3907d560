// The tables of the driver's functions. They are declared without their parameters, and for that
// the toolkit's declarations must not be seen here.
#include "harness/emulator/driver/functions.h"

#include "harness/emulator/driver/emulated_functions.h"
#include "harness/emulator/driver/unsupported_functions.h"

namespace warpgauge::emulator::driver {

#define WARPGAUGE_DECLARE_EMULATED(name, version) extern "C" int name();
WARPGAUGE_EMULATED_DRIVER_FUNCTIONS(WARPGAUGE_DECLARE_EMULATED)
#undef WARPGAUGE_DECLARE_EMULATED
#define WARPGAUGE_DECLARE(name) extern "C" int name();
WARPGAUGE_UNSUPPORTED_DRIVER_FUNCTIONS(WARPGAUGE_DECLARE)
#undef WARPGAUGE_DECLARE

namespace {

struct Row {
  std::string_view symbol;
  int (*function)();
  int version = 0;  ///< the version of CUDA that it came with

  /// Names have no underscore but before _v2, _ptds and _ptsz.
  std::string_view name() const { return symbol.substr(0, symbol.find('_')); }
};

#define WARPGAUGE_EMULATED_ROW(name, version) Row{#name, name, version},
#define WARPGAUGE_ROW(name) Row{#name, name},
const Row kEmulated[] = {WARPGAUGE_EMULATED_DRIVER_FUNCTIONS(WARPGAUGE_EMULATED_ROW)};
const Row kUnsupported[] = {WARPGAUGE_UNSUPPORTED_DRIVER_FUNCTIONS(WARPGAUGE_ROW)};
#undef WARPGAUGE_EMULATED_ROW
#undef WARPGAUGE_ROW

/// The row of the newest version, of those with this name and a version up to `version`.
template <std::size_t count>
FoundFunction newest(const Row (&rows)[count], std::string_view name, int version) {
  const Row* best = nullptr;
  FoundFunction found;
  for (const Row& row : rows) {
    if (row.name() != name) continue;
    found.is_known = true;
    if (row.version <= version && (best == nullptr || best->version < row.version)) best = &row;
  }
  if (best != nullptr) found.address = reinterpret_cast<void*>(best->function);
  return found;
}

}  // namespace

FoundFunction find_function(std::string_view name, int version) {
  const FoundFunction emulated = newest(kEmulated, name, version);
  if (emulated.address != nullptr) return emulated;
  FoundFunction refused = newest(kUnsupported, name, version);
  refused.is_known |= emulated.is_known;
  return refused;
}

}  // namespace warpgauge::emulator::driver
