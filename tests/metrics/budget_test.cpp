// Budgets that can be used: forms of limits, and which limit applies.
#include "metrics/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "metrics/confidence.h"

namespace warpgauge::metrics {
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

}  // namespace
}  // namespace warpgauge::metrics
