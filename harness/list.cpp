#include "harness/list.h"

#include <fmt/format.h>

#include <vector>

#include "harness/archs.h"
#include "harness/registry.h"
#include "harness/summary.h"

namespace warpgauge {

int list_cases(const std::string& filter) {
  const std::vector<const Case*> cases = Registry::instance().select(filter);
  if (cases.empty()) {
    fmt::print(stderr, "--filter '{}' selects no case; `warpgauge list` shows all\n", filter);
    return kFault;
  }
  for (const Case* one : cases) fmt::print("{}\n", one->id.str());
  return kWithinBudget;
}

int list_archs() {
  for (const std::string& arch : chosen_archs({})) fmt::print("{}\n", arch);
  return kWithinBudget;
}

}  // namespace warpgauge
