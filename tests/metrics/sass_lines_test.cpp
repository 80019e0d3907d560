// Lines of counts out of counts of instructions, and what they say of counts that are not exact.
#include "metrics/cupti/sass_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/metrics/recorded_file.h"

namespace warpgauge::metrics::sass_lines_test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// Counts of kernels of order.cu for sm_90, as CUPTI gives them.
class SassLinesTest : public testing::Test {
 protected:
  struct Access {
    std::uint32_t pc;
    SassMetric kind;
  };
  /// `kernel` executed, and of its accesses to global memory these.
  std::vector<LineCounts> counted(const char* kernel, const std::vector<Access>& accesses) {
    SassRecords records;
    records[{1, kernel, 0}][SassMetric::instructions] = 8;
    for (const auto& [pc, kind] : accesses) {
      SassValues& values = records[{1, kernel, pc}];
      values[SassMetric::instructions] = values[kind] = 8;
      values[SassMetric::global_sectors] = 32;
    }
    return lines_.add_up(records);
  }

  const std::vector<std::byte> image_ = recorded_file("sass/order.sm_90.cubin");
  SassLines lines_{[this](std::uint32_t) { return std::span<const std::byte>(image_); }};
};

const LineCounts& line(const std::vector<LineCounts>& lines, int number) {
  const auto found = std::ranges::find(lines, number, &LineCounts::line);
  if (found == lines.end()) throw std::out_of_range("no line " + std::to_string(number));
  return *found;
}

TEST_F(SassLinesTest, CountsThatDependOnNothingAreExact) {
  const auto lines = counted("histogram", {});
  ASSERT_FALSE(lines.empty());
  for (const LineCounts& line : lines) EXPECT_THAT(line.trust, IsEmpty());
}

TEST_F(SassLinesTest, AnAddressThatAnAtomicDecidesMakesAnEstimateOfItsLine) {
  const auto lines = counted("one_atomic_a_block", {{0x140, SassMetric::global_loads},
                                                    {0x190, SassMetric::global_stores}});
  const Trust& trust = trust_in(line(lines, 114), "global.store.sectors");
  EXPECT_EQ(trust.confidence, Confidence::estimate);
  EXPECT_THAT(trust.reason,
              AllOf(StartsWith("what an atomic returns at "),
                    EndsWith(" at order.cu:111 decides what this accesses, so the count can depend "
                             "on the order of threads")));
  EXPECT_EQ(trust_in(line(lines, 114), "instructions").confidence, Confidence::exact);
}

TEST_F(SassLinesTest, AnAddressOfWhatDoesNotExecuteIsNoDoubt) {
  for (const LineCounts& line : counted("one_atomic_a_block", {})) {
    EXPECT_THAT(line.trust, IsEmpty()) << line.line;
  }
}

TEST_F(SassLinesTest, ALoopThatMayRunAgainMakesEstimatesOfAllItsCounts) {
  const auto lines = counted("spin", {{0x30, SassMetric::global_loads}});
  for (const char* metric : {"global.load.requests", "instructions", "branches.divergent"}) {
    const Trust& trust = trust_in(line(lines, 67), metric);
    EXPECT_EQ(trust.confidence, Confidence::estimate) << metric;
    EXPECT_THAT(trust.reason, AllOf(StartsWith("what a volatile or strong load reads at "),
                                    HasSubstr("order.cu:67 decides whether this executes")));
  }
  EXPECT_EQ(trust_in(line(lines, 67), "shared.requests").confidence, Confidence::exact);
}

TEST_F(SassLinesTest, WhatDidNotExecuteThisTimeMayAnotherTime) {
  const auto lines = counted("last_block", {});
  EXPECT_EQ(line(lines, 46).counts, Counts{});
  EXPECT_EQ(trust_in(line(lines, 46), "global.load.requests").confidence, Confidence::estimate);
}

TEST_F(SassLinesTest, AKernelThatDidNotExecuteHasNoLines) {
  SassRecords records;
  records[{1, "last_block", 0}] = {};  // CUPTI lists all that could be called
  EXPECT_THAT(lines_.add_up(records), IsEmpty());
}

TEST(SassLinesWithoutCode, OnlyAsyncCopiesAreDoubted) {
  SassLines lines([](std::uint32_t) { return std::span<const std::byte>(); });
  const auto confidence_of = [&](SassMetric kind) {
    SassRecords records;
    SassValues& values = records[{1, "kernel", 0}];
    values[SassMetric::instructions] = values[kind] = 8;
    const auto found = lines.add_up(records);
    return trust_in(found.at(0), "shared.wavefronts").confidence;
  };
  EXPECT_EQ(confidence_of(SassMetric::async_copies), Confidence::estimate);
  EXPECT_EQ(confidence_of(SassMetric::instructions), Confidence::exact);
}

}  // namespace
}  // namespace warpgauge::metrics::sass_lines_test
