// Names of checks.
#include "harness/emulator/machine/core/checks.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

#include "metrics/base/check_rules.h"

namespace warpgauge::emulator::machine {
namespace {

// In the order of kCheckNames.
constexpr bool Checks::*kChecks[] = {
    &Checks::async,         &Checks::barriers, &Checks::proxies, &Checks::races,
    &Checks::uninitialised, &Checks::lanes,    &Checks::stores,  &Checks::shuffles,
    &Checks::allocations,   &Checks::unequal,
};
static_assert(std::size(kChecks) == std::size(metrics::kCheckNames));

}  // namespace

Checks checks_called(std::string_view names) {
  Checks checks{.async = false, .barriers = false};
  if (names == "none") return checks;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    if (name == "all") {
      for (bool Checks::*const check : kChecks) checks.*check = true;
      continue;
    }
    const auto* const found = std::ranges::find(metrics::kCheckNames, name);
    if (found == std::end(metrics::kCheckNames)) {
      std::string known;
      for (const std::string_view check : metrics::kCheckNames) known += std::string(check) + ", ";
      throw std::invalid_argument("'" + std::string(name) + "' is no check: there are " + known +
                                  "all, and none");
    }
    checks.*kChecks[found - metrics::kCheckNames] = true;
  }
  checks.async |= checks.proxies;
  return checks;
}

}  // namespace warpgauge::emulator::machine
