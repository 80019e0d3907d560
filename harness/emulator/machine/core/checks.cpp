// Names of checks.
#include "harness/emulator/machine/core/checks.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace warpgauge::emulator::machine {
namespace {

constexpr std::pair<std::string_view, bool Checks::*> kChecks[] = {
    {"async", &Checks::async},
    {"barriers", &Checks::barriers},
    {"proxies", &Checks::proxies},
    {"races", &Checks::races},
    {"uninitialised", &Checks::uninitialised},
    {"lanes", &Checks::lanes},
    {"stores", &Checks::stores},
    {"shuffles", &Checks::shuffles},
    {"allocations", &Checks::allocations},
    {"unequal", &Checks::unequal},
};

}  // namespace

Checks checks_called(std::string_view names) {
  Checks checks{.async = false, .barriers = false};
  if (names == "none") return checks;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    if (name == "all") {
      for (const auto& [known, check] : kChecks) checks.*check = true;
      continue;
    }
    const auto found =
        std::ranges::find(kChecks, name, [](const auto& known) { return known.first; });
    if (found == std::end(kChecks)) {
      throw std::invalid_argument("'" + std::string(name) + "' is no check: there are " +
                                  std::string(kNamesOfChecks) + ", all, and none");
    }
    checks.*found->second = true;
  }
  checks.async |= checks.proxies;
  return checks;
}

}  // namespace warpgauge::emulator::machine
