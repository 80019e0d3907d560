// Adds counts up by kernel and line, and keeps the common part of the chains of calls of a line.
#include "metrics/counting/counts_by_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace warpgauge::metrics::counts_by_line_test {
namespace {

using testing::IsEmpty;

const SourceLine kLine = {"own.h", 20};
const SourceLine kInlined = {"own.h", 20, {{"own.h", 20}, {"a.cu", 7}}};

TEST(CountsByLine, AddsUpTheCountsOfALine) {
  CountsByLine counts;
  counts.at("k", kLine).counts.instructions = 1;
  counts.at("k", kLine).counts.instructions += 2;
  const std::vector<LineCounts> lines = counts.take();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].counts.instructions, 3u);
}

TEST(CountsByLine, GivesItsCountsOnce) {
  CountsByLine counts;
  counts.at("k", kLine);
  EXPECT_EQ(counts.take().size(), 1u);
  EXPECT_THAT(counts.take(), IsEmpty());
}

TEST(CountsByLine, KeepsTheChainOfCallsThatAllInstructionsShare) {
  CountsByLine counts;
  counts.at("k", kInlined);
  counts.at("k", kInlined);
  EXPECT_EQ(counts.take().at(0).source(), kInlined);
}

TEST(CountsByLine, DoesNotRestoreAChainOfCallsThatAnInstructionDidNotShare) {
  CountsByLine counts;
  counts.at("k", kInlined);
  counts.at("k", kLine);
  counts.at("k", kInlined);
  EXPECT_EQ(counts.take().at(0).source(), kLine);
}

TEST(CountsByLine, TellsKernelsApart) {
  CountsByLine counts;
  counts.at("k", kInlined);
  counts.at("l", kLine);
  const std::vector<LineCounts> lines = counts.take();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].source(), kInlined);
  EXPECT_EQ(lines[1].source(), kLine);
}

}  // namespace
}  // namespace warpgauge::metrics::counts_by_line_test
