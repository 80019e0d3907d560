// The median and its confidence interval.
#include "metrics/facts/median.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace warpgauge::metrics::median_test {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(estimate_median({3, 1, 2}).median, 2);
  EXPECT_EQ(estimate_median({4, 1, 3, 2}).median, 2.5);
  EXPECT_EQ(estimate_median({7}).median, 7);
  EXPECT_THROW(estimate_median({}), std::invalid_argument);
}

/// Ranks of the sign test's interval, as tables of nonparametric statistics print them.
TEST(Median, IntervalsAreThoseOfTheTables) {
  struct Row {
    int n, low, high;
  };
  for (const auto& [n, low, high] :
       {Row{1, 1, 1}, Row{5, 1, 5}, Row{6, 1, 6}, Row{8, 1, 8}, Row{9, 2, 8}, Row{10, 2, 9},
        Row{15, 4, 12}, Row{20, 6, 15}, Row{25, 8, 18}, Row{50, 18, 33}, Row{100, 40, 61}}) {
    const MedianEstimate estimate = estimate_median(one_to(n));
    EXPECT_EQ(estimate.interval.low, low) << n;
    EXPECT_EQ(estimate.interval.high, high) << n;
    EXPECT_EQ(estimate.samples, n);
  }
}

TEST(Median, SpreadIsTheLargerSide) {
  const MedianEstimate estimate = {.median = 10, .interval = {9, 12}, .samples = 9};
  EXPECT_DOUBLE_EQ(estimate.spread(), 0.2);
  EXPECT_EQ(estimate_median({0, 0, 0}).spread(), 0);
}

/// 2,000 sets of 25 values of a skewed distribution with the median ln 2.
TEST(Median, NineteenOfTwentyIntervalsHoldTheTrueMedian) {
  std::mt19937 random(1);
  std::exponential_distribution<double> times(1);
  int holds = 0;
  for (int set = 0; set < 2000; ++set) {
    std::vector<double> values(25);
    for (double& value : values) value = times(random);
    const auto [low, high] = estimate_median(values).interval;
    if (low <= std::log(2.0) && std::log(2.0) <= high) ++holds;
  }
  EXPECT_GE(holds, 1900);
  EXPECT_LE(holds, 1970);  // 95.7 % is what 25 values give: the interval is not wider than needed
}

}  // namespace
}  // namespace warpgauge::metrics::median_test
