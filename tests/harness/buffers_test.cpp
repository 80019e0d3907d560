// Contents of buffers, and problems in a dry run: what must work without a GPU.
#include "warpgauge/buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "harness/cases/launch_log.h"
#include "harness/cases/run_seed.h"
#include "warpgauge/comparison.h"
#include "warpgauge/problem.h"

namespace warpgauge::buffers_test {
namespace {

using testing::Each;
using testing::Ge;
using testing::Le;

constexpr std::size_t kMany = 200000;

TEST(Size, HasExtentsSlowestFirst) {
  const Size size({2, 3, 5});
  EXPECT_EQ(size[0], 2);
  EXPECT_EQ(size[2], 5);
  EXPECT_THROW(size[3], std::out_of_range);
  EXPECT_EQ(size.count(), 30);
  EXPECT_EQ(Size({100000, 100000}).count(), 10'000'000'000) << "more than 32 bits hold";
}

TEST(RandomValues, AreTheSameForTheSameSeed) {
  EXPECT_EQ(random_values<float>(1000, 7), random_values<float>(1000, 7));
  EXPECT_NE(random_values<float>(1000, 7), random_values<float>(1000, 8));
  EXPECT_EQ(random_values<int>(1000, 7), random_values<int>(1000, 7));
}

// The C++ standard fixes what mt19937 gives, so these hold with every compiler and library: facts
// of two machines are of the same inputs.
TEST(RandomValues, AreTheSameOnEveryMachine) {
  EXPECT_EQ(random_values<std::int32_t>(4, 1),
            (std::vector<std::int32_t>{13665, 32674, 23603, 30557}));
}

TEST(RandomValues, AreOthersForEachRunSeed) {
  const std::vector<int> usual = random_values<int>(1000, 7);
  std::vector<std::vector<int>> known = {usual};
  for (const std::uint32_t run_seed : {0u, 1u, 2u, 3u, 4294967295u}) {
    const RunSeed other(run_seed);
    const std::vector<int> values = random_values<int>(1000, 7);
    EXPECT_EQ(values == usual, run_seed == 0);
    EXPECT_NE(values, random_values<int>(1000, 8)) << "two inputs still differ";
    if (run_seed != 0) {
      EXPECT_THAT(known, testing::Not(testing::Contains(values))) << run_seed;
    }
    known.push_back(values);
    EXPECT_THAT(values, Each(testing::AllOf(Ge(1), Le(32766))));
    EXPECT_THAT(random_values<float>(1000, 7),
                Each(testing::AllOf(testing::Ne(0), testing::Gt(-1), testing::Lt(1))));
  }
  EXPECT_EQ(random_values<int>(1000, 7), usual) << "after the run";
}

TEST(RandomValues, AShorterBufferHasTheBeginningOfALongerOne) {
  const std::vector<float> longer = random_values<float>(100, 3);
  EXPECT_EQ(random_values<float>(10, 3), std::vector<float>(longer.begin(), longer.begin() + 10));
}

TEST(RandomValues, AreTheSameWhetherTheyAreKeptOrMadeAnew) {
  constexpr std::size_t kNotKept = 3 << 20;
  const std::vector<float> few = random_values<float>(100, 1);
  const std::vector<float> many = random_values<float>(kNotKept, 1);
  ASSERT_EQ(many.size(), kNotKept);
  for (std::uint32_t other = 2; other < 20; ++other) random_values<float>(100, other);
  const std::vector<float> more = random_values<float>(1000, 1);
  EXPECT_EQ(few, std::vector<float>(many.begin(), many.begin() + 100));
  EXPECT_EQ(more, std::vector<float>(many.begin(), many.begin() + 1000));
}

template <typename T>
void expect_open_interval() {
  const std::vector<T> values = random_values<T>(kMany, 1);
  double sum = 0;
  for (const T value : values) {
    ASSERT_LT(std::abs(value), 1);
    ASSERT_NE(value, 0);
    sum += value;
  }
  EXPECT_LT(std::abs(sum / kMany), 0.01) << "both signs alike";
}

TEST(RandomValues, OfFloatingPointLieBetweenMinusOneAndOneAndAreNeverZero) {
  expect_open_interval<float>();
  expect_open_interval<double>();
}

TEST(RandomValues, OfFloatingPointAreExactInFloat) {
  for (const double value : random_values<double>(1000, 1)) {
    EXPECT_EQ(static_cast<double>(static_cast<float>(value)), value);
  }
}

template <typename T>
void expect_whole_range(int most) {
  const std::vector<T> values = random_values<T>(kMany, 1);
  EXPECT_THAT(values, Each(Ge(T{1})));
  EXPECT_THAT(values, Each(Le(static_cast<T>(most))));
  const std::set<T> distinct(values.begin(), values.end());
  EXPECT_GT(distinct.size(), 0.9 * most);
}

TEST(RandomValues, OfIntegersStartAtOneAndStaySmall) {
  expect_whole_range<std::int8_t>(125);
  expect_whole_range<std::uint8_t>(125);
  expect_whole_range<std::int16_t>(32766);
  expect_whole_range<std::int32_t>(32766);
  expect_whole_range<std::uint64_t>(32766);
}

TEST(RandomValues, OfNothingAreNone) { EXPECT_TRUE(random_values<float>(0, 1).empty()); }

/// Far larger than any memory: only a dry run can make it.
struct Huge : Problem {
  static constexpr std::size_t kCount = std::size_t{1} << 45;
  Input<float> a{*this, kCount};
  InOut<double> b{*this, kCount};
  Output<int> c{*this, kCount};
  void check(Comparison&) const override {}
};

TEST(DryRun, BuffersNeedNeitherDeviceNorMemory) {
  const LaunchLog log(LaunchLog::Mode::dry);
  Huge problem;
  EXPECT_EQ(problem.a.count(), Huge::kCount);
  for (const void* address : {static_cast<const void*>(static_cast<const float*>(problem.a)),
                              static_cast<const void*>(static_cast<double*>(problem.b)),
                              static_cast<const void*>(static_cast<int*>(problem.c))}) {
    ASSERT_NE(address, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % 256, 0u) << "as cudaMalloc aligns";
  }
}

TEST(DryRun, BuffersMayOutliveIt) {
  std::unique_ptr<Huge> problem;
  {
    const LaunchLog log(LaunchLog::Mode::dry);
    problem = std::make_unique<Huge>();
  }
  EXPECT_NO_THROW(problem.reset()) << "what was never allocated is not freed";
}

TEST(DryRun, HostContentsAreThereForReferences) {
  const LaunchLog log(LaunchLog::Mode::dry);
  struct Small : Problem {
    Input<float> given{*this, std::vector<float>{1, 2, 3}};
    Input<float> seeded{*this, 4, 9};
    InOut<int> both{*this, 5, 2};
    void check(Comparison&) const override {}
  } const problem;
  EXPECT_EQ(problem.given.host(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(problem.given.count(), 3u);
  EXPECT_EQ(problem.seeded.host(), random_values<float>(4, 9));
  EXPECT_EQ(problem.both.initial(), random_values<int>(5, 2));
  EXPECT_EQ(&problem.both.initial(), &problem.both.initial()) << "made once";
}

}  // namespace
}  // namespace warpgauge::buffers_test
