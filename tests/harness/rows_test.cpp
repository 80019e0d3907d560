#include "harness/commands/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace warpgauge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

std::vector<Row> read(const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "rows.toml";
  std::ofstream(path) << text;
  return read_rows(path);
}

Case make_case(const std::string& family, const std::string& variant, const std::string& size) {
  return {.id = {family, variant, "f32", size}, .file = "kernels/x.cu", .line = 7};
}

TEST(Rows, AreReadInTheOrderOfTheFile) {
  const std::vector<Row> rows = read(
      "[kernels]\n2 = \"second\"\n10 = { title = \"tenth\", library = \"cuBLAS\" }\n"
      "[tools]\nT1 = { title = \"timing\", command = \"warpgauge-bench\" }\n");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].id, "2");
  EXPECT_EQ(rows[0].title, "second");
  EXPECT_EQ(rows[1].library, "cuBLAS");
  EXPECT_EQ(rows[2].command, "warpgauge-bench");
}

TEST(Rows, ABadFileIsToldWithItsPlace) {
  const auto refused = [](const std::string& text, const std::string& message) {
    EXPECT_THAT([&] { read(text); }, ThrowsMessage<std::invalid_argument>(HasSubstr(message)))
        << text;
  };
  refused("[kernels]\n1 = \n", "rows.toml:2:");
  refused("[kernels]\n1 = 5\n", "rows.toml:2:5: a row needs a title");
  refused("[kernels]\n1 = { library = \"x\" }\n", "a row needs a title");
  refused("[tools]\nT1 = \"a title alone\"\n", "rows.toml:2:");
  refused("[others]\n1 = \"x\"\n", "rows.toml:1:1: unknown; there are the tables");
  refused("", "has no rows");
  EXPECT_THROW(read_rows("/nonexistent/rows.toml"), std::invalid_argument);
}

TEST(Rows, SayWhatCoversThem) {
  Registry registry;
  registry.add(make_case("copy", "plain", "1"));
  registry.add(make_case("copy", "plain", "2"));
  registry.add(make_case("copy", "wide", "1"));
  registry.add(CoveredRow{.row = "1", .family = "copy", .file = "kernels/x.cu", .line = 3});
  const RowsReport report =
      report_rows({{"1", "copies", "", ""}, {"T2", "times", "bench", ""}}, registry);
  EXPECT_THAT(report.table, HasSubstr("1    copies: copy (2 variants, 3 cases)\n"));
  EXPECT_THAT(report.table, HasSubstr("T2   times: bench\n"));
  EXPECT_THAT(report.table, HasSubstr("2 of 2 rows covered; 1 families, 2 variants, 3 cases\n"));
  EXPECT_THAT(report.problems, IsEmpty());
}

TEST(Rows, WhatNothingCoversIsAProblemUnlessALibraryIsMissing) {
  Registry registry;
  registry.add(make_case("copy", "plain", "1"));
  registry.add(CoveredRow{.row = "9", .family = "copy", .file = "kernels/x.cu", .line = 3});
  const RowsReport report =
      report_rows({{"1", "copies", "", ""}, {"2", "products", "", "cuBLAS"}}, registry);
  EXPECT_THAT(report.table, HasSubstr("1    copies: NOT COVERED\n"));
  EXPECT_THAT(report.table, HasSubstr("2    products: left out, for this build has no cuBLAS\n"));
  EXPECT_THAT(report.table, HasSubstr("0 of 2 rows covered"));
  EXPECT_THAT(report.problems,
              ElementsAre("nothing covers row 1", "kernels/x.cu:3: there is no row 9"));
}

// A family that registered a row, but no case, covers nothing.
TEST(Rows, AFamilyWithoutCasesCoversNothing) {
  Registry registry;
  registry.add(CoveredRow{.row = "1", .family = "copy", .file = "kernels/x.cu", .line = 3});
  EXPECT_THAT(report_rows({{"1", "copies", "", ""}}, registry).problems,
              ElementsAre("nothing covers row 1"));
}

}  // namespace
}  // namespace warpgauge
