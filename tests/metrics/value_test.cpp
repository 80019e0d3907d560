// Values as text.
#include "metrics/base/value.h"

#include <gtest/gtest.h>

#include <limits>

namespace warpgauge::metrics::value_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ToText, WholeNumbersHaveNoPoint) {
  EXPECT_EQ(to_text(0.0), "0");
  EXPECT_EQ(to_text(-0.0), "0");
  EXPECT_EQ(to_text(31744.0), "31744");
  EXPECT_EQ(to_text(-3.0), "-3");
  EXPECT_EQ(to_text(1e15), "1000000000000000");
  EXPECT_EQ(to_text(kMaxExactWhole), "9007199254740992");
}

TEST(ToText, FractionsHaveSixDigits) {
  EXPECT_EQ(to_text(0.75), "0.75");
  EXPECT_EQ(to_text(2.0 / 3), "0.666667");
  EXPECT_EQ(to_text(1234.56789), "1234.57");
  EXPECT_EQ(to_text(1e-9), "1e-09");
}

TEST(ToText, LargeNumbersKeepTheirDigits) {
  EXPECT_EQ(to_text(1234567.5), "1234568");
  EXPECT_EQ(to_text(1e300), "1e+300");
}

TEST(ToText, WordsNothingAndWhatIsNoNumber) {
  EXPECT_EQ(to_text(std::string("registers")), "registers");
  EXPECT_EQ(to_text(Value()), "-");
  EXPECT_EQ(to_text(kNan), "nan");
  EXPECT_EQ(to_text(-kNan), "nan");
  EXPECT_EQ(to_text(-kInfinity), "-inf");
}

TEST(ExactText, ReadsBackAsTheSameNumber) {
  EXPECT_EQ(exact_text(-0.0), "0");
  EXPECT_EQ(exact_text(-kNan), "nan");
  EXPECT_EQ(exact_text(917504.0), "917504");
  EXPECT_EQ(exact_text(0.1), "0.1");
  for (const double number : {2.0 / 3, 1e300, 123456789.125, kMaxExactWhole}) {
    EXPECT_EQ(std::stod(exact_text(number)), number);
  }
}

}  // namespace
}  // namespace warpgauge::metrics::value_test
