// Comparisons with a reference, on host values: differences, and their messages.
#include "warpgauge/comparison.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace warpgauge::comparison_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t kTwoTo53 = std::int64_t{1} << 53;

template <typename T>
Comparison equal(const std::vector<T>& got, const std::vector<T>& expected) {
  Comparison comparison;
  comparison.equal(got, expected);
  return comparison;
}

template <typename T, typename Reference>
Comparison close(const std::vector<T>& got, const std::vector<Reference>& expected,
                 double tolerance) {
  Comparison comparison;
  comparison.close(got, expected, tolerance);
  return comparison;
}

TEST(Comparison, WithoutAnythingComparedHasNotPassed) {
  const Comparison untouched;
  EXPECT_FALSE(untouched.compared());
  EXPECT_FALSE(untouched.passed());
  EXPECT_EQ(untouched.failure(), "");

  const Comparison empty = equal<float>({}, {});
  EXPECT_FALSE(empty.compared()) << "no elements: nothing was compared";
  EXPECT_FALSE(empty.passed());
}

TEST(Comparison, MayBeOfNothingIfThatIsSaid) {
  Comparison comparison;
  comparison.counts_only();
  EXPECT_TRUE(comparison.passed());
  EXPECT_FALSE(comparison.compared());
  comparison.equal(std::vector<int>{1}, std::vector<int>{2});
  EXPECT_FALSE(comparison.passed()) << "what is compared all the same must be right";
}

TEST(Comparison, OfEqualValuesPasses) {
  EXPECT_TRUE(equal<float>({1, -0.5f, 0}, {1, -0.5f, 0}).passed());
  EXPECT_TRUE(equal<float>({-0.0f}, {0.0f}).passed());
  EXPECT_TRUE(equal<float>({kInfinity, -kInfinity}, {kInfinity, -kInfinity}).passed());
  EXPECT_TRUE(equal<std::int8_t>({-128, 127}, {-128, 127}).passed());
}

TEST(Comparison, SaysWhichElementDiffersFirstAndHowMany) {
  const Comparison comparison = equal<float>({0, 0.25f, 7, 8}, {0, 0.5f, 7, 9});
  EXPECT_TRUE(comparison.compared());
  EXPECT_FALSE(comparison.passed());
  EXPECT_EQ(comparison.failure(), "element 1 is 0.25, expected 0.5; 2 of 4 differ");
}

TEST(Comparison, TakesNanForWhatWasNeverWritten) {
  EXPECT_EQ(equal<float>({-kNan}, {1}).failure(),
            "element 0 is nan (never written?), expected 1; 1 of 1 differ");
  EXPECT_FALSE(equal<float>({kNan}, {kNan}).passed()) << "NaN differs from everything";
  EXPECT_FALSE((close<float, double>({kNan}, {1}, 0.5).passed()));
  EXPECT_FALSE((close<float, double>({1}, {kNan}, 0.5).passed()));
}

TEST(Comparison, ToleranceIsRelativeAboveOneAndAbsoluteBelow) {
  EXPECT_TRUE((close<double, double>({1000.5}, {1000}, 0.0009765625).passed()));
  EXPECT_FALSE((close<double, double>({1001}, {1000}, 0.0009765625).passed()));
  EXPECT_TRUE((close<double, double>({0.125}, {0}, 0.125).passed()));
  EXPECT_FALSE((close<double, double>({0.126}, {0}, 0.125).passed()));
  EXPECT_TRUE((close<float, double>({-1000.5f}, {-1000}, 0.0009765625).passed()));
}

TEST(Comparison, AToleranceThatMakesNoSenseIsAnError) {
  for (const double tolerance :
       {-1.0, -1e-300, 1.0, 1e300, double{kNan}, double{kInfinity}, -double{kInfinity}}) {
    EXPECT_THROW((close<float, double>({1}, {1}, tolerance)), std::invalid_argument) << tolerance;
  }
  EXPECT_TRUE((close<float, double>({1}, {1}, 0).passed()));
  EXPECT_FALSE((close<float, double>({1.5f}, {1}, 0).passed()));
}

TEST(Comparison, OnlyInfinityIsCloseToInfinity) {
  EXPECT_TRUE((close<float, double>({kInfinity}, {kInfinity}, 1e-5).passed()));
  EXPECT_FALSE((close<float, double>({0}, {kInfinity}, 1e-5).passed()));
  EXPECT_FALSE((close<float, double>({-kInfinity}, {kInfinity}, 1e-5).passed()));
  EXPECT_FALSE((close<float, double>({kInfinity}, {1}, 1e-5).passed()));
}

TEST(Comparison, OfIntegersIsExactBeyondWhatDoublesHold) {
  const Comparison comparison = equal<std::int64_t>({kTwoTo53 + 1}, {kTwoTo53});
  EXPECT_EQ(comparison.failure(),
            "element 0 is 9007199254740993, expected 9007199254740992; 1 of 1 differ");
  EXPECT_TRUE(equal<std::int64_t>({kTwoTo53 + 1}, {kTwoTo53 + 1}).passed());
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(equal<std::uint64_t>({kMost}, {kMost - 1}).failure(),
            "element 0 is 18446744073709551615, expected 18446744073709551614; 1 of 1 differ");
}

TEST(Comparison, OfIntegersOfTwoTypesGoesByValue) {
  EXPECT_FALSE((close<std::int32_t, std::uint32_t>({-1}, {4294967295u}, 0).passed()));
  EXPECT_TRUE((close<std::uint8_t, std::int64_t>({200}, {200}, 0).passed()));
  EXPECT_EQ((close<std::int8_t, std::int64_t>({65}, {66}, 0).failure()),
            "element 0 is 65, expected 66; 1 of 1 differ");
}

TEST(Comparison, AddedErrorsCompareNothing) {
  Comparison comparison;
  comparison.add_errors(std::vector<float>{1, 5}, std::vector<double>{1, 4});
  EXPECT_EQ(comparison.errors().count, 2u);
  EXPECT_EQ(comparison.errors().sum_absolute, 1.0);
  EXPECT_FALSE(comparison.compared());
  EXPECT_FALSE(comparison.passed());
  comparison.add_errors(std::vector<float>{1}, std::vector<double>{1, 4});
  EXPECT_FALSE(comparison.failure().empty());
}

TEST(Comparison, OfIntegersHeedsATolerance) {
  EXPECT_TRUE((close<std::uint8_t, std::int64_t>({101}, {100}, 0.01).passed()));
  EXPECT_FALSE((close<std::uint8_t, std::int64_t>({102}, {100}, 0.01).passed()));
}

TEST(Comparison, OfDifferentCountsFails) {
  EXPECT_EQ(equal<float>({1, 2}, {1}).failure(), "2 elements, but the reference has 1");
  const Comparison nothing_expected = equal<float>({1}, {});
  EXPECT_FALSE(nothing_expected.passed());
  EXPECT_FALSE(equal<float>({}, {1}).passed());
}

TEST(Comparison, KeepsTheFirstFailureOfSeveralOutputs) {
  Comparison comparison;
  comparison.equal(std::vector{1, 2}, std::vector{1, 2});
  EXPECT_TRUE(comparison.passed());
  comparison.equal(std::vector{1, 2}, std::vector{1, 3});
  comparison.equal(std::vector{9}, std::vector{8, 7});
  comparison.equal(std::vector{5}, std::vector{5});
  EXPECT_FALSE(comparison.passed()) << "a later success does not undo it";
  EXPECT_EQ(comparison.failure(), "element 1 is 2, expected 3; 1 of 2 differ");
}

}  // namespace
}  // namespace warpgauge::comparison_test
