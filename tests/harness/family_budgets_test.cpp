// Budget files beside families: found, read before anything is run, and never silently lost.
#include "harness/cases/family_budgets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "harness/build_info.h"
#include "harness/cases/selected_cases.h"
#include "harness/gate/gate.h"
#include "warpgauge/problem.h"

namespace warpgauge::family_budgets_test {
namespace {

namespace fs = std::filesystem;
using metrics::BudgetError;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A source tree of its own, removed again after the test.
class FamilyBudgetsTest : public testing::Test {
 protected:
  FamilyBudgetsTest() {
    std::string name = (fs::temp_directory_path() / "warpgauge_budgets_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": cannot be made");
    root_ = name;
  }
  ~FamilyBudgetsTest() override { fs::remove_all(root_); }

  fs::path write(const fs::path& path, std::string_view text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
    return root_ / path;
  }

  /// A case that is registered in <folder>/family.cu, which is there.
  Case make_case(const std::string& folder, const std::string& family,
                 const std::string& variant) const {
    return {.id = {family, variant, "f32", "64"},
            .file = write(folder + "/family.cu", "// source\n").string(),
            .line = 1,
            .make_problem = nullptr,
            .launch = nullptr};
  }

  fs::path root_;
};

std::string limit(const FamilyBudgets& budgets, const Case& test_case, std::string_view metric) {
  const metrics::Limit* found = budgets.of(test_case.id).find(test_case.id, "sm_90", metric);
  return found == nullptr ? "none" : found->str();
}

TEST_F(FamilyBudgetsTest, LieBesideTheSourceOfTheirFamily) {
  const Case copy = make_case("copy", "copy", "plain"), sum = make_case("sum", "sum", "plain");
  write("copy/budgets.toml", "[default]\nregisters = 20\n");
  write("sum/budgets.toml", "[plain.sm_90]\nregisters = 30\n");
  Registry registry;
  registry.add(copy);
  registry.add(sum);
  const FamilyBudgets budgets(registry);
  EXPECT_EQ(budget_path(copy), root_ / "copy/budgets.toml");
  EXPECT_EQ(limit(budgets, copy, "registers"), "<= 20");
  EXPECT_EQ(limit(budgets, sum, "registers"), "<= 30");
}

TEST_F(FamilyBudgetsTest, AFamilyWithoutAFileHasTheBuiltInOnes) {
  const Case copy = make_case("copy", "copy", "plain");
  Registry registry;
  registry.add(copy);
  const FamilyBudgets budgets(registry);
  EXPECT_EQ(limit(budgets, copy, "shared.bank_conflicts"), "= 0");
  EXPECT_EQ(limit(budgets, copy, "spill.store_bytes"), "= 0");
  EXPECT_EQ(limit(budgets, copy, "registers"), "none");
}

TEST_F(FamilyBudgetsTest, AreOfTheFamilyTheyLieBeside) {
  write("copy/budgets.toml", "[default]\nregisters = 20\n\n[scattered]\nregisters = 9\n");
  Registry registry;
  registry.add(make_case("copy", "copy", "plain"));
  registry.add(make_case("sum", "sum", "scattered"));
  EXPECT_THAT(
      [&] { FamilyBudgets{registry}; },
      ThrowsMessage<BudgetError>(AllOf(HasSubstr("copy/budgets.toml:4:"), HasSubstr("scattered"))));
}

TEST_F(FamilyBudgetsTest, AnyBrokenFileIsAnErrorWithItsPlace) {
  write("sum/budgets.toml", "[default]\nregister = 20\n");
  Registry registry;
  registry.add(make_case("copy", "copy", "plain"));
  registry.add(make_case("sum", "sum", "plain"));
  EXPECT_THAT([&] { FamilyBudgets{registry}; },
              ThrowsMessage<BudgetError>(AllOf(HasSubstr((root_ / "sum/budgets.toml:2:1").string()),
                                               HasSubstr("registers"))));
}

TEST_F(FamilyBudgetsTest, AFolderInPlaceOfTheFileIsAnError) {
  fs::create_directories(root_ / "copy/budgets.toml");
  Registry registry;
  registry.add(make_case("copy", "copy", "plain"));
  EXPECT_THAT([&] { FamilyBudgets{registry}; },
              ThrowsMessage<BudgetError>(HasSubstr("copy/budgets.toml")));
}

TEST_F(FamilyBudgetsTest, ALinkToNothingIsAnError) {
  Registry registry;
  registry.add(make_case("copy", "copy", "plain"));
  fs::create_symlink("gone.toml", root_ / "copy/budgets.toml");
  EXPECT_THAT([&] { FamilyBudgets{registry}; },
              ThrowsMessage<BudgetError>(
                  HasSubstr("copy/budgets.toml: a link to gone.toml, which is not")));
  write("copy/gone.toml", "[default]\nregisters = 20\n");
  EXPECT_EQ(limit(FamilyBudgets(registry), make_case("copy", "copy", "plain"), "registers"),
            "<= 20");
}

TEST_F(FamilyBudgetsTest, ANearMissOfTheNameIsAnError) {
  const Case copy = make_case("copy", "copy", "plain");
  Registry registry;
  registry.add(copy);
  write("copy/budgets.toml", "[default]\nregisters = 20\n");
  write("copy/settings.toml", "colour = true\n");
  for (const char* name : {"budget.toml", "Budgets.toml", "BUDGETS.TOML", "bugdets.toml"}) {
    const fs::path file = write(fs::path("copy") / name, "[default]\nregisters = 1\n");
    EXPECT_THAT([&] { FamilyBudgets{registry}; },
                ThrowsMessage<BudgetError>(AllOf(HasSubstr(file.string() + ": is not read"),
                                                 HasSubstr("rename the file"))));
    fs::remove(file);
  }
  EXPECT_EQ(limit(FamilyBudgets(registry), copy, "registers"), "<= 20");
}

TEST_F(FamilyBudgetsTest, StandAboveThoseOfTheProject) {
  const Case copy = make_case("copy", "copy", "plain"), sum = make_case("sum", "sum", "plain");
  Registry registry;
  registry.add(copy);
  registry.add(sum);
  write("copy/budgets.toml", "[default]\nregisters = 20\n");
  const fs::path project =
      write("warpgauge.toml", "[default]\nregisters = 30\n[sum.sm_90]\nregisters = 40\n[other]\n");
  const FamilyBudgets budgets(registry, project);
  EXPECT_EQ(limit(budgets, copy, "registers"), "<= 20");
  EXPECT_EQ(limit(budgets, sum, "registers"), "<= 40");
  EXPECT_EQ(budgets.of(sum.id).find(sum.id, "sm_90", "registers")->origin, project.string() + ":4");
  EXPECT_THAT(
      budgets.about(),
      testing::ElementsAre(
          "budgets of the project: " + project.string(),
          project.string() + " has sections of families that are not in this program: other"));
  EXPECT_THAT(FamilyBudgets(registry).about(), testing::IsEmpty());
  EXPECT_THAT([&] { FamilyBudgets(registry, root_ / "gone.toml"); },
              ThrowsMessage<BudgetError>(HasSubstr("gone.toml: cannot be read")));
}

TEST(ProjectFile, LiesInTheSourceFolderOfTheProject) {
  EXPECT_EQ(kBuildInfo.project_file, std::string(kBuildInfo.source_root) + "/warpgauge.toml");
}

TEST_F(FamilyBudgetsTest, CasesComeBehindThoseThatTheirLimitsAreMultiplesOf) {
  Registry registry;
  for (const char* variant : {"best", "better", "good", "alone"}) {
    registry.add(make_case("copy", "copy", variant));
  }
  write("copy/budgets.toml",
        "[best]\nregisters = { max = 2, of = \"better.f32\" }\n"
        "[better.sm_75]\nregisters = { max = 2, of = \"good.f32\" }\n");
  const FamilyBudgets budgets(registry);
  const auto variants = [&](const Selection& selection) {
    std::vector<std::string> names;
    for (const Case* selected : selected_cases(registry, budgets, selection))
      names.push_back(selected->id.variant);
    return names;
  };
  EXPECT_THAT(variants({}), testing::ElementsAre("good", "better", "best", "alone"));
  EXPECT_THAT(variants({.filter = {"copy.best.*"}}),
              testing::ElementsAre("good", "better", "best"));
  EXPECT_THAT(variants({.filter = {"copy.best.*"}, .exclude = {"copy.good.*"}}),
              testing::ElementsAre("better", "best"));
}

// A program that was carried to another machine, or a source tree that was moved: the built-in
// defaults in place of its budgets would let most of what it measures pass.
TEST_F(FamilyBudgetsTest, ASourceThatIsNotThereIsAnError) {
  Registry registry;
  registry.add(make_case("copy", "copy", "plain"));
  fs::remove_all(root_ / "copy");
  EXPECT_THAT([&] { FamilyBudgets{registry}; },
              ThrowsMessage<BudgetError>(
                  AllOf(HasSubstr("copy/family.cu: not found"), HasSubstr("where it was built"))));
}

TEST_F(FamilyBudgetsTest, AFamilyInTwoFoldersIsAnError) {
  write("second/budgets.toml", "[default]\nregisters = 20\n");
  Registry registry;
  registry.add(make_case("first", "copy", "plain"));
  registry.add(make_case("second", "copy", "padded"));
  EXPECT_THAT([&] { FamilyBudgets{registry}; },
              ThrowsMessage<BudgetError>(
                  AllOf(HasSubstr("second/family.cu:1:"), HasSubstr("keep it in one folder"))));
}

TEST_F(FamilyBudgetsTest, AFileOfTwoFamiliesIsAnError) {
  Registry registry;
  registry.add(make_case("all", "copy", "plain"));
  registry.add(make_case("all", "sum", "plain"));
  EXPECT_NO_THROW(FamilyBudgets{registry});  // the built-in ones hold for both
  write("all/budgets.toml", "[plain]\nregisters = 20\n");
  EXPECT_THAT([&] { FamilyBudgets{registry}; },
              ThrowsMessage<BudgetError>(AllOf(HasSubstr("all/budgets.toml: families 'copy' and "),
                                               HasSubstr("BUDGETS <folder>"))));
}

// In a process of its own, which ends as a program would: the registry is that of this one.
TEST_F(FamilyBudgetsTest, ABrokenFileStopsTheGateBeforeAnythingIsRun) {
  write("copy/budgets.toml", "[default]\n\"shared.conflicts\" = 0\n");
  const fs::path out = root_ / "out";
  EXPECT_EXIT(
      {
        Registry::instance().add(make_case("copy", "copy", "plain"));
        int code = 0;
        try {
          code = gate::run_gate({.selection = {.filter = {"faulty.good.*"}}, .out = out});
        } catch (const std::exception& error) {
          std::cerr << error.what();
          code = outcome::kFault;
        }
        std::_Exit(code);
      },
      testing::ExitedWithCode(outcome::kFault), "copy/budgets.toml:2:1: .*shared.conflicts");
  EXPECT_FALSE(fs::exists(out / "facts.jsonl"))
      << "not even for a family that the filter leaves out";
}

}  // namespace
}  // namespace warpgauge::family_budgets_test
