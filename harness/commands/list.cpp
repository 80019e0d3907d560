#include "harness/commands/list.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "harness/archs.h"
#include "harness/commands/rows.h"
#include "harness/outcome/exit_code.h"
#include "harness/registry.h"

namespace warpgauge {

namespace fs = std::filesystem;

int list_cases(const std::string& filter, bool large) {
  for (const Case* one : Registry::instance().select(filter, large)) {
    fmt::print("{}\n", one->id.str());
  }
  return kWithinBudget;
}

int list_rows() {
  const Registry& registry = Registry::instance();
  if (registry.cases().empty()) throw std::invalid_argument("this program has no families");
  const fs::path families = fs::path(registry.cases().front().file).parent_path().parent_path();
  const RowsReport report = report_rows(read_rows(families / "rows.toml"), registry);
  fmt::print("{}", report.table);
  for (const std::string& problem : report.problems) fmt::print(stderr, "{}\n", problem);
  return report.problems.empty() ? kWithinBudget : kFault;
}

int list_archs() {
  for (const std::string& arch : chosen_archs({})) fmt::print("{}\n", arch);
  return kWithinBudget;
}

}  // namespace warpgauge
