// Budgets by the names of kernels, for programs whose cases are not registered.
#include <gmock/gmock.h>

#include <fstream>
#include <string>
#include <vector>

#include "metrics/budgets/budget.h"

namespace warpgauge::metrics::kernel_budgets_test {
namespace {

TEST(KernelBudgets, TheLongestGlobWinsWhateverTheArchitecture) {
  const std::string path = testing::TempDir() + "kernel_budgets.toml";
  std::ofstream(path) << "[default]\nregisters = 9\n"
                         "[\"*\".sm_90]\nregisters = 1\n\"stack.bytes\" = 1\n"
                         "[\"add\"]\nregisters = 2\n"
                         "[\"add\".sm_80]\nregisters = 3\n"
                         "[\"*operator/*\"]\nregisters = 4\n"
                         "[\"f.1\"]\nregisters = 5\n[\"*long_name\"]\nregisters = 6\n";
  const Budgets all = Budgets::load_unregistered(path);
  EXPECT_THAT(all.section_names(),
              testing::UnorderedElementsAre("*", "add", "*operator/*", "f.1", "*long_name"));
  const CaseId id{"program", "add", "x", "run"};
  const Budgets of_add = all.of_kernel(id, std::vector<std::string>{"add"});
  const auto limit = [&](const char* arch, const char* metric) {
    return of_add.find(id, arch, metric)->str();
  };
  EXPECT_EQ(limit("sm_90", "registers"), "<= 2");
  EXPECT_EQ(limit("sm_80", "registers"), "<= 3");
  EXPECT_EQ(limit("sm_90", "stack.bytes"), "<= 1");
  EXPECT_EQ(of_add.find(id, "sm_80", "stack.bytes"), nullptr);
  const std::vector<std::string> other = {"my::operator/(int)"};
  EXPECT_EQ(all.of_kernel(id, other).find(id, "sm_80", "registers")->str(), "<= 4");
  const CaseId f{"program", "f", "1", "run"};
  const std::vector<std::string> names = {"a_long_name", "f.1"};
  EXPECT_EQ(all.of_kernel(f, names).find(f, "sm_80", "registers")->str(), "<= 5") << "its id";
}

}  // namespace
}  // namespace warpgauge::metrics::kernel_budgets_test
