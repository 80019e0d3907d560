#include "harness/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "harness/explain.h"
#include "harness/registry.h"
#include "harness/summary.h"
#include "metrics/cupti.h"
#include "metrics/nearest.h"

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

int explain_case(const std::string& id) {
  const std::vector<Case>& cases = Registry::instance().cases();
  const auto found =
      std::ranges::find(cases, id, [](const Case& one) { return one.id.str(); });
  if (found == cases.end()) {
    std::vector<std::string> ids;
    for (const Case& one : cases) ids.push_back(one.id.str());
    throw std::invalid_argument(fmt::format("no case is called '{}'{}; `warpgauge list` shows all",
                                            id, metrics::did_you_mean(id, ids)));
  }
  fmt::print("{}\n{}\n", id, explain_static(*found));
  try {
    fmt::print("{}", explain(*found));
  } catch (const metrics::Unmeasured& unmeasured) {
    fmt::print("counts per line: unmeasured: {}\n", unmeasured.what());
    return kNotMeasured;
  }
  return kWithinBudget;
}

}  // namespace warpgauge
