// Budgets that can be used: forms of limits, and which limit applies.
#include "metrics/budgets/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/facts/confidence.h"

namespace warpgauge::metrics::budget_test {
namespace {

using namespace std::chrono_literals;

const CaseId kNaive = {"transpose", "naive", "f32", "64x64"};
const CaseId kTiled = {"transpose", "tiled", "f32", "64x64"};
const CaseId kTiledLarge = {"transpose", "tiled", "f32", "1024x1024"};
const CaseId kTiledDouble = {"transpose", "tiled", "f64", "64x64"};
const std::vector<CaseId> kCases = {kNaive, kTiled, kTiledLarge, kTiledDouble};

Budgets parse(const std::string& text) { return Budgets::parse(text, "budgets.toml", kCases); }

/// The limit that the file `[default]` + `line` sets for `metric`.
Limit limit(const std::string& metric, const std::string& line) {
  return *parse("[default]\n" + line).find(kNaive, "sm_90", metric);
}

std::string text(const Limit* limit) { return limit ? limit->str() : "none"; }

TEST(Limit, APlainNumberFollowsTheDirection) {
  EXPECT_EQ(limit("registers", "registers = 32").str(), "<= 32");
  EXPECT_EQ(limit("occupancy.theoretical", "\"occupancy.theoretical\" = 0.5").str(), ">= 0.5");
  EXPECT_EQ(limit("shared.wavefronts_ideal", "\"shared.wavefronts_ideal\" = 64").str(), "= 64");
  EXPECT_EQ(limit("occupancy.limiter", "\"occupancy.limiter\" = \"warps\"").str(), "= warps");
}

TEST(Limit, ACounterHasOneByItsName) {
  const std::string id = "counter.sm__inst_executed.sum";
  const Budgets budgets =
      parse("[default]\n\"" + id + "\" = { max = 10, tolerance = 0.05 }\n[naive.sm_90]\n" +
            "\"counter.dram__bytes.sum\" = { equal = 4, tolerance = 0.5 }");
  EXPECT_EQ(text(budgets.find(kTiled, "sm_90", id)), "<= 10 ± 5%");
  const auto last_id = [&](const CaseId& case_id, std::string_view arch) {
    return budgets.metrics(case_id, arch).back()->id;
  };
  EXPECT_EQ(last_id(kNaive, "sm_90"), id);
  EXPECT_EQ(last_id(kNaive, "sm_75"), id);
  EXPECT_EQ(budgets.metrics(kNaive, "sm_90").size(), budgets.metrics(kTiled, "sm_90").size() + 1);
  EXPECT_EQ(budgets.metrics(kNaive, "sm_75").size(), budgets.metrics(kTiled, "sm_75").size());
}

TEST(Limit, AnInlineTableSaysAll) {
  const Limit all = limit("registers",
                          "registers = { max = 40, min = 2, tolerance = \"5%\","
                          " until = 2027-01-31, reason = \"new tile\" }");
  EXPECT_EQ(all.str(), ">= 2 and <= 40 ± 5% until 2027-01-31");
  EXPECT_EQ(all.max, 40);
  EXPECT_EQ(all.min, 2);
  EXPECT_EQ(all.tolerance, 0.05);
  EXPECT_EQ(all.until, 2027y / 1 / 31);
  EXPECT_EQ(all.reason, "new tile");
  EXPECT_EQ(all.origin, "budgets.toml:2");
  EXPECT_EQ(limit("registers", "registers = { equal = 32 }").str(), "= 32");
}

TEST(Limit, ToleranceIsPercentOrFraction) {
  const auto tolerance = [](const std::string& text) {
    return limit("time.median_us", "\"time.median_us\" = { max = 9, tolerance = " + text + " }")
        .tolerance;
  };
  EXPECT_EQ(tolerance("0.05"), 0.05);
  EXPECT_EQ(tolerance("\"5%\""), 0.05);
  EXPECT_EQ(tolerance("\"2.5%\""), 0.025);
  EXPECT_EQ(tolerance("1"), 1);
}

TEST(Limit, MayBeATableOfItsOwn) {
  EXPECT_EQ(text(parse("[default.registers]\nmax = 32").find(kNaive, "", "registers")), "<= 32");
}

TEST(Limit, TextKeepsAllDigits) {
  EXPECT_EQ(limit("registers", "registers = { equal = 917504 }").str(), "= 917504");
  EXPECT_EQ(limit("occupancy.theoretical", "\"occupancy.theoretical\" = 0.6666667").str(),
            ">= 0.6666667");
  EXPECT_EQ(limit("dram.bytes", "\"dram.bytes\" = { max = 123456789.5, tolerance = 0.015 }").str(),
            "<= 123456789.5 ± 1.5%");
}

TEST(Budgets, BuiltInDefaults) {
  const Budgets budgets;
  EXPECT_EQ(text(budgets.find(kNaive, "sm_90", "result.correct")), "= 1");
  for (const char* metric :
       {"shared.bank_conflicts", "spill.store_bytes", "spill.load_bytes", "local.sectors"}) {
    const Limit* limit = budgets.find(kNaive, "sm_90", metric);
    ASSERT_NE(limit, nullptr) << metric;
    EXPECT_EQ(limit->str(), "= 0");
    EXPECT_THAT(limit->text(), testing::StartsWith("= 0 (built-in default: a kernel "));
    EXPECT_EQ(limit->origin, kBuiltInOrigin);
  }
  EXPECT_EQ(budgets.find(kNaive, "sm_90", "registers"), nullptr);
}

TEST(Budgets, TheMostSpecialWins) {
  const Budgets budgets = parse(R"(
[default]
registers = 10
"shared.bank_conflicts" = { max = 1, reason = "theory" }
[default.sm_90]
registers = 11
["tiled"]
registers = 20
["tiled.f32"]
registers = 30
["tiled.f32".sm_75]
registers = 31
["tiled.f32@1024x1024"]
registers = 40
["tiled.f32@1024x1024".sm_100a]
registers = 41
)");
  EXPECT_EQ(text(budgets.find(kNaive, "sm_75", "registers")), "<= 10");
  EXPECT_EQ(text(budgets.find(kNaive, "sm_90", "registers")), "<= 11");
  EXPECT_EQ(text(budgets.find(kNaive, "", "registers")), "<= 10");
  EXPECT_EQ(text(budgets.find(kTiledDouble, "sm_90", "registers")), "<= 20");
  EXPECT_EQ(text(budgets.find(kTiled, "sm_90", "registers")), "<= 30");
  EXPECT_EQ(text(budgets.find(kTiled, "sm_75", "registers")), "<= 31");
  EXPECT_EQ(text(budgets.find(kTiledLarge, "sm_75", "registers")), "<= 40");
  EXPECT_EQ(text(budgets.find(kTiledLarge, "sm_100a", "registers")), "<= 41");
  EXPECT_EQ(text(budgets.find(kTiledLarge, "sm_100a", "shared.bank_conflicts")), "<= 1");
  EXPECT_EQ(text(budgets.find(kTiledLarge, "sm_100a", "local.sectors")), "= 0");
}

TEST(Budgets, OnlyOneArchitectureMayBeNamed) {
  const Budgets budgets = parse("[\"tiled.f32\".sm_75]\nregisters = 20");
  EXPECT_EQ(text(budgets.find(kTiled, "sm_75", "registers")), "<= 20");
  EXPECT_EQ(budgets.find(kTiled, "sm_90", "registers"), nullptr);
}

TEST(Budgets, ArchitecturesOfOneNumberInheritNothing) {
  const Budgets budgets = parse(R"(
[default]
registers = 10
[default.sm_90]
registers = 20
[default.sm_100a]
registers = 30
[default.sm_100f]
registers = 40
)");
  const auto limit = [&](const char* arch) {
    return text(budgets.find(kNaive, arch, "registers"));
  };
  EXPECT_EQ(limit("sm_90"), "<= 20");
  EXPECT_EQ(limit("sm_90a"), "<= 10");
  EXPECT_EQ(limit("sm_100"), "<= 10");
  EXPECT_EQ(limit("sm_100a"), "<= 30");
  EXPECT_EQ(limit("sm_100f"), "<= 40");
}

TEST(Budgets, EmptyFilesAndByteOrderMarksAreFine) {
  EXPECT_EQ(text(parse("").find(kNaive, "", "local.sectors")), "= 0");
  EXPECT_EQ(text(parse("# nothing yet\n").find(kNaive, "", "local.sectors")), "= 0");
  const Budgets marked = parse("\xEF\xBB\xBF[default]\r\nregisters = 32\r\n");
  EXPECT_EQ(text(marked.find(kNaive, "", "registers")), "<= 32");
}

TEST(Budgets, GateOnStandsBeforeTheSections) {
  EXPECT_EQ(Budgets().gate_on(), Confidence::exact);
  EXPECT_EQ(parse("[default]\nregisters = 32\n").gate_on(), Confidence::exact);
  for (const char* word : {"exact", "predicted", "estimate"}) {
    const Budgets budgets =
        parse(std::string("gate_on = \"") + word + "\"\n[default]\nregisters = 32\n");
    EXPECT_EQ(to_string(budgets.gate_on()), word);
    EXPECT_EQ(text(budgets.find(kNaive, "", "registers")), "<= 32");
  }
}

TEST(Budgets, AVariantMayBeCalledGateOn) {
  const std::vector<CaseId> cases = {{"transpose", "gate_on", "f32", "64x64"}};
  const Budgets budgets = Budgets::parse("[gate_on]\nregisters = 32\n", "budgets.toml", cases);
  EXPECT_EQ(text(budgets.find(cases[0], "", "registers")), "<= 32");
  EXPECT_EQ(budgets.gate_on(), Confidence::exact);
}

TEST(Budgets, LoadReadsAFile) {
  const auto path = std::filesystem::path(testing::TempDir()) / "warpgauge_budgets.toml";
  std::ofstream(path) << "[naive]\nregisters = 32\n";
  const Budgets budgets = Budgets::load(path, "kernels/naive.toml", kCases);
  ASSERT_NE(budgets.find(kNaive, "", "registers"), nullptr);
  EXPECT_EQ(budgets.find(kNaive, "", "registers")->origin, "kernels/naive.toml:2");
  std::filesystem::remove(path);
}

TEST(Ratios, DoNotHoldForTheCaseThatTheyAreOf) {
  const std::vector<CaseId> cases = {kNaive, kTiled};
  const Budgets budgets = Budgets::parse(
      "[default]\n\"shared.bank_conflicts\" = { max = 2, of = \"naive.f32\", reason = \"r\" }",
      "budgets.toml", cases);
  EXPECT_EQ(text(budgets.find(kTiled, "sm_90", "shared.bank_conflicts")), "<= 2 x naive.f32");
  EXPECT_EQ(text(budgets.find(kNaive, "sm_90", "shared.bank_conflicts")), "= 0");
  EXPECT_EQ(budgets.ratios_of(kTiled), std::set<CaseId>{kNaive});
  EXPECT_EQ(budgets.ratios_of(kNaive), std::set<CaseId>());
}

/// A file that is removed again.
class File {
 public:
  explicit File(std::string_view text) { std::ofstream(path_) << text; }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "/project_budgets.toml";
};

TEST(Project, StandsBelowTheFamilyAndAboveTheBuiltIn) {
  const File file(
      "gate_on = \"estimate\"\n"
      "[default]\nregisters = 10\ninstructions = 10\n\"stack.bytes\" = 10\n"
      "\"local.sectors\" = { max = 10, reason = \"r\" }\n"
      "[default.sm_75]\ninstructions = 75\n"
      "[transpose]\nregisters = 20\n\"stack.bytes\" = 20\n"
      "[reduce]\nregisters = 30\n");
  const Budgets project = Budgets::load_project(file.path(), "warpgauge.toml");
  Budgets budgets = parse("[default]\n\"stack.bytes\" = 40\n[tiled]\n\"stack.bytes\" = 50");
  EXPECT_EQ(text(budgets.find(kNaive, "sm_90", "registers")), "none");
  budgets.rest_on(project);
  const auto found = [&](const CaseId& id, std::string_view metric, std::string_view arch) {
    return text(budgets.find(id, arch, metric));
  };
  EXPECT_EQ(found(kTiled, "stack.bytes", "sm_90"), "<= 50");   // a section of the family's file
  EXPECT_EQ(found(kNaive, "stack.bytes", "sm_90"), "<= 40");   // its default
  EXPECT_EQ(found(kNaive, "registers", "sm_90"), "<= 20");     // the project's for the family
  EXPECT_EQ(found(kNaive, "instructions", "sm_90"), "<= 10");  // the project's for all
  EXPECT_EQ(found(kNaive, "instructions", "sm_75"), "<= 75");
  EXPECT_EQ(found(kNaive, "local.sectors", "sm_90"), "<= 10");  // in place of the built-in one
  EXPECT_EQ(found(kNaive, "spill.load_bytes", "sm_90"), "= 0");
  EXPECT_EQ(budgets.find(kNaive, "sm_90", "registers")->origin, "warpgauge.toml:10");
  EXPECT_EQ(budgets.gate_on(), Confidence::estimate);
  Budgets exact = parse("gate_on = \"exact\"");
  exact.rest_on(project);
  EXPECT_EQ(exact.gate_on(), Confidence::exact);
}

TEST(Project, RefusesWhatHoldsForNoFamily) {
  const auto error = [](std::string_view text) -> std::string {
    const File file(text);
    try {
      Budgets::load_project(file.path(), "warpgauge.toml");
    } catch (const BudgetError& error) {
      return error.what();
    }
    return "no error";
  };
  using testing::HasSubstr;
  EXPECT_THAT(error("[\"transpose.tiled\"]"),
              HasSubstr("warpgauge.toml:1:2: 'transpose.tiled' is not a family"));
  EXPECT_THAT(error("[default]\nregister = 1"),
              HasSubstr(":2:1: unknown metric 'register', did you mean 'registers'?"));
  EXPECT_THAT(error("[default.sm_91]\nregisters = 1"), HasSubstr("unknown architecture 'sm_91'"));
  EXPECT_THAT(error("[default]\nregisters = { max = 2, of = \"naive.f32\" }"),
              HasSubstr(":2:29: 'naive.f32' is a case of one family"));
}

}  // namespace
}  // namespace warpgauge::metrics::budget_test
