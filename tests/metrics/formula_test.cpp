// Formulas: their values, and where the errors point.
#include "metrics/facts/formula.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

namespace warpgauge::metrics::formula_test {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

double value(std::string_view text, const std::vector<double>& values = {}) {
  return Formula(text)(values);
}

TEST(Formula, IsARatioOrAShare) {
  EXPECT_EQ(value("hits", {3}), 3);
  EXPECT_EQ(value("hits / requests", {3, 4}), 0.75);
  EXPECT_EQ(value("100 * hits / (hits + misses)", {300, 100}), 75);
}

TEST(Formula, BindsProductsFirstAndFromTheLeft) {
  EXPECT_EQ(value("2 + 3 * 4 - 5"), 9);
  EXPECT_EQ(value("(2 + 3) * 4"), 20);
  EXPECT_EQ(value("24 / 4 / 3"), 2);
  EXPECT_EQ(value("10 - 4 - 3"), 3);
  EXPECT_EQ(value("10 - (4 - 3)"), 9);
  EXPECT_EQ(value(" 1.5*( 2 )"), 3);
  EXPECT_EQ(value("1e-3"), 0.001);
}

TEST(Formula, DividesByZeroAsNumbersDo) {
  EXPECT_TRUE(std::isnan(value("hits / (hits + misses)", {0, 0})));
  EXPECT_EQ(value("hits / misses", {1, 0}), HUGE_VAL);
}

TEST(Formula, NamesEachOnceInTheirOrder) {
  const Formula formula("b.sum / (a__x.sum + b.sum + _c2)");
  std::vector<std::string> names;
  std::vector<std::size_t> offsets;
  for (const Formula::Name& name : formula.names()) {
    names.push_back(name.text);
    offsets.push_back(name.offset);
  }
  EXPECT_THAT(names, ElementsAre("b.sum", "a__x.sum", "_c2"));
  EXPECT_THAT(offsets, ElementsAre(0, 9, 28));
}

TEST(Formula, OfNothingHasNoValue) {
  EXPECT_TRUE(std::isnan(Formula()({})));
  EXPECT_TRUE(Formula().names().empty());
}

std::string error_of(std::string_view text) {
  try {
    Formula(text, {"table", 7, 12});
  } catch (const CatalogError& error) {
    return error.what();
  }
  return "none";
}

TEST(Formula, ErrorsPointAtThePlace) {
  EXPECT_EQ(error_of("a / "), "table:7:16: in the formula 'a / ': a name or number is missing");
  EXPECT_EQ(error_of("100 a"), "table:7:16: in the formula '100 a': an operator is missing");
  EXPECT_EQ(error_of("(a + b"), "table:7:18: in the formula '(a + b': ')' is missing");
  EXPECT_THAT(error_of(""), StartsWith("table:7:12: "));
  EXPECT_THAT(error_of("a + b)"), StartsWith("table:7:17: "));
  EXPECT_THAT(error_of("a ^ b"), StartsWith("table:7:14: "));
  EXPECT_THAT(error_of("-a"), StartsWith("table:7:12: "));
  EXPECT_THAT(error_of("a+b+c+d+e+f+g+h+i"), StartsWith("table:7:28: "));
}

TEST(Formula, HasALongestLength) {
  std::string sum = "1";
  for (int i = 0; i < 15; ++i) sum += "+1";
  EXPECT_EQ(value(sum), 16);
  EXPECT_THAT(error_of(sum + "+1"), ::testing::HasSubstr("too long"));
}

}  // namespace
}  // namespace warpgauge::metrics::formula_test
