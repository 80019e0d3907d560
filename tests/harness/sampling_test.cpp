// The number of timings of a case.
#include "harness/bench/sampling.h"

#include <gtest/gtest.h>

#include <thread>

namespace warpgauge::sampling_test {
namespace {

using namespace std::chrono_literals;

bench::Sampling quick() { return {.least = 15, .most = 101, .precision = 0.01, .warm_up = 0ms}; }

TEST(Sampling, StopsWhenTheMedianIsKnown) {
  const auto estimate = bench::sample(quick(), [] { return 2.5; });
  EXPECT_EQ(estimate.samples, 15);
  EXPECT_EQ(estimate.median, 2.5);
  EXPECT_TRUE(quick().is_stable(estimate));
}

TEST(Sampling, GoesOnUntilItIsKnown) {
  int run = 0;  // the first 20 runs are far apart, the others are alike
  const auto estimate = bench::sample(quick(), [&run] { return ++run <= 20 ? run * 10.0 : 5.0; });
  EXPECT_GT(estimate.samples, 15);
  EXPECT_LT(estimate.samples, 101);
  EXPECT_EQ(estimate.median, 5.0);
}

TEST(Sampling, GivesUpHonestly) {
  int run = 0;
  const auto estimate = bench::sample(quick(), [&run] { return ++run % 2 == 0 ? 1.0 : 2.0; });
  EXPECT_EQ(estimate.samples, 101);
  EXPECT_FALSE(quick().is_stable(estimate));
}

TEST(Sampling, GivesUpWhenTimeIsOver) {
  bench::Sampling sampling = quick();
  sampling.time_limit = 0s;
  int run = 0;
  const auto estimate = bench::sample(sampling, [&run] { return ++run % 2 == 0 ? 1.0 : 2.0; });
  EXPECT_EQ(estimate.samples, 15);
}

TEST(Sampling, WarmsUpWithoutCountingIt) {
  bench::Sampling sampling = quick();
  sampling.least = sampling.most = 3;
  sampling.warm_up = 100ms;  // many runs, on a busy machine, too
  int run = 0;
  const auto slow_at_first = [&run] {
    std::this_thread::sleep_for(1ms);
    return ++run <= 1 ? 1000.0 : 1.0;
  };
  EXPECT_EQ(bench::sample(sampling, slow_at_first).median, 1.0);
  EXPECT_GT(run, 4);
}

TEST(Sampling, WarmsUpNoLongerThanTheGpuWasIdle) {
  const bench::Sampling usual{.warm_up = 30ms};
  EXPECT_EQ(usual.after(1h).warm_up, 30ms);
  EXPECT_EQ(usual.after(50ms).warm_up, 5ms);
  EXPECT_EQ(usual.after(51ms).warm_up, 6ms);
  EXPECT_EQ(usual.after(300ms).warm_up, 30ms);
}

}  // namespace
}  // namespace warpgauge::sampling_test
