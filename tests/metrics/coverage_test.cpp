// Coverage as lcov's tracefiles.
#include "metrics/counting/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpgauge::metrics::coverage_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Coverage some() {
  FileCoverage file;
  file.lines = {{3, {2, 0}}, {4, {}}};
  file.branches = {{{3, 7, false}, {2, 0}}, {{4, 1, true}, {}}};
  file.functions = {{"f<int, 2>(int)", {3, 2}}, {"g", {4, 0}}};
  return {{"/a, b.cu", file}};
}

TEST(Lcov, HasEveryRecordThatItsReadersWant) {
  EXPECT_EQ(lcov_text(some()),
            "TN:\nSF:/a, b.cu\nFN:3,f<int, 2>(int)\nFN:4,g\nFNDA:2,f<int, 2>(int)\nFNDA:0,g\n"
            "FNF:2\nFNH:1\nBRDA:3,7,0,2\nBRDA:3,7,1,0\nBRDA:4,1,2,-\nBRDA:4,1,3,-\nBRF:4\nBRH:1\n"
            "DA:3,2\nDA:4,0\nLF:2\nLH:1\nend_of_record\n");
}

TEST(Lcov, PartsAddUp) {
  Coverage twice = some();
  add(twice, some());
  EXPECT_EQ(read_lcov(lcov_text(some()) + lcov_text(some())), twice);
  EXPECT_EQ(twice.at("/a, b.cu").functions.at("g").line, 4);
}

TEST(Lcov, APartThatIsNoWholeIsRefusedWithItsLine) {
  const auto whole = lcov_text(some());
  const auto error = [](const std::string& text) { return [=] { read_lcov(text); }; };
  EXPECT_THAT(error(whole.substr(0, whole.find("LF"))),
              ThrowsMessage<CoverageError>(HasSubstr("has no end")));
  EXPECT_THAT(error("TN:\nSF:a\nDA:x,1\n"),
              ThrowsMessage<CoverageError>(HasSubstr("line 3 of the coverage: 'x'")));
  EXPECT_THAT(error("DA:1,1\n"), ThrowsMessage<CoverageError>(HasSubstr("outside of a record")));
}

TEST(CoverageTotals, ABranchHasTwoSides) {
  EXPECT_EQ(headline(totals(some())), "coverage: 50.0 % of 2 lines, 25.0 % of 4 branches");
  FileCoverage file;
  for (int line = 1; line <= 1234; ++line) file.lines[line] = {1, 32};
  EXPECT_EQ(headline(totals({{"a.cu", file}})), "coverage: 100.0 % of 1,234 lines, no branches");
}

}  // namespace
}  // namespace warpgauge::metrics::coverage_test
