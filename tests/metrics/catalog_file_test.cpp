// The file of the table of metrics: its columns, and where errors point.
#include "metrics/facts/catalog_file.h"

#include <gmock/gmock.h>

#include <string>

#include "metrics/counting/count_formula.h"
#include "metrics/cupti/cupti.h"

namespace warpgauge::metrics::catalog_file_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kWords = R"(direction = "lower"
class = "exact"
meaning = "What it counts."
good = "Few."
cure = "Do less."
)";

/// A metric with one line more than every metric has, which is line 7.
std::string metric_with(std::string_view line, std::string_view source = "cupti-sass") {
  return "['x.y']\n" + std::string(kWords) + std::string(line) + "\nunit = 'sectors'\nsource = '" +
         std::string(source) + "'\n" + (source == "cupti-sass" ? "cupti_names = ['a__b']\n" : "");
}

std::string error_of(std::string_view text) {
  try {
    parse_catalog(text, "table");
  } catch (const CatalogError& error) {
    return error.what();
  }
  return "none";
}

TEST(CatalogFile, HasAMetricOfTwoCountersInOneRow) {
  const Catalog catalog = parse_catalog(
      metric_with("formula = '100 * a__hit.sum / (a__hit.sum + a__miss.sum)'", "cupti-range"),
      "table");
  ASSERT_EQ(catalog.metrics.size(), 1u);
  const Metric& metric = catalog.metrics[0];
  EXPECT_EQ(metric.id, "x.y");
  EXPECT_EQ(metric.unit, "sectors");
  EXPECT_EQ(metric.direction, Direction::lower);
  EXPECT_EQ(metric.cls, Class::exact);
  EXPECT_EQ(metric.cost, Cost::direct);
  EXPECT_EQ(metric.source, Source::range);
  EXPECT_THAT(metric.cupti_names, ElementsAre("a__hit.sum", "a__miss.sum"));
  EXPECT_EQ(metric.formula(std::vector<double>{1, 3}), 25);
}

TEST(CatalogFile, HasARatioOfCounts) {
  const Catalog catalog =
      parse_catalog(metric_with("formula = 'local_sectors / local_requests'"), "table");
  const CountFormula ratio(catalog.metrics.at(0).formula);
  Counts counts;
  counts.local_sectors = 6;
  counts.local_requests = 4;
  EXPECT_EQ(ratio(counts), 1.5);
}

TEST(CatalogFile, KeepsTheOrderAndMakesBlanksOfLineBreaks) {
  const std::string second = "['a']\nunit = '1'\nsource = 'run'\n" + std::string(kWords);
  const Catalog catalog =
      parse_catalog(metric_with("ideal = \"\"\"\na\"\"\"\nformula = 'instructions'") + second, "");
  ASSERT_EQ(catalog.metrics.size(), 2u);
  EXPECT_EQ(catalog.metrics[0].id, "x.y");
  EXPECT_EQ(catalog.metrics[1].id, "a");
  std::string text = metric_with("cost = 'size'", "run");
  text.replace(text.find("What it"), 7, "What\nit").replace(text.find("\"What"), 1, "\"\"\"");
  text.replace(text.find("counts.\""), 8, "counts.\"\"\"");
  EXPECT_EQ(parse_catalog(text, "").metrics.at(0).meaning, "What it counts.");
}

TEST(CatalogFile, RefusesABadRowWithItsPlace) {
  EXPECT_EQ(error_of(metric_with("cost = 'big'", "run")),
            "table:7:8: 'cost' has the unknown word 'big'");
  EXPECT_EQ(error_of(metric_with("cost = 'sise'", "run")),
            "table:7:8: 'cost' has the unknown word 'sise', did you mean 'size'?");
  EXPECT_EQ(error_of(metric_with("formulas = 'a__b'", "run")),
            "table:7:1: unknown column 'formulas', did you mean 'formula'?");
  EXPECT_EQ(error_of(metric_with("cost = 3", "run")), "table:7:8: 'cost' must be a text");
  EXPECT_EQ(error_of(metric_with("nsight_names = 'a'", "run")),
            "table:7:16: 'nsight_names' must be a list");
  EXPECT_EQ(error_of(metric_with("ideal = 'z'", "run")), "table:7:9: there is no metric 'z'");
  EXPECT_EQ(error_of(metric_with("built_in = 0", "run")), "table:1:2: 'x.y' has no 'why_built_in'");
  EXPECT_EQ(error_of(metric_with("built_in = ''", "run")),
            "table:1:2: 'x.y' needs the number 'built_in'");
  EXPECT_EQ(error_of("['x.y']\n" + std::string(kWords)), "table:1:2: 'x.y' has no 'source'");
  EXPECT_EQ(error_of("x = 1"), "table:1:1: 'x' is not a table");
  EXPECT_THAT(error_of("['x.y']\n" + std::string(kWords) + "[\"x.y\"]\n"), StartsWith("table:7:"));
  EXPECT_THAT(error_of("[x.y"), StartsWith("table:1:"));
  EXPECT_EQ(error_of("# a comment\n[*.y]\n"), "table:2:1: this line is not TOML");
}

TEST(CatalogFile, RefusesABadFormulaWithItsPlace) {
  EXPECT_THAT(error_of(metric_with("formula = 'a__b +'", "cupti-range")),
              StartsWith("table:7:18: "));
  EXPECT_EQ(error_of(metric_with("formula = 'a__b / hits'", "cupti-range")),
            "table:7:19: in the formula 'a__b / hits': 'hits' is no counter of CUPTI");
  EXPECT_THAT(error_of(metric_with("formula = 'a__b'", "run")), HasSubstr("cannot have a formula"));
  EXPECT_EQ(error_of(metric_with("")), "table:1:2: 'x.y' needs a formula, being of 'cupti-sass'");
}

TEST(CatalogFile, RefusesAnUnknownCountWithItsPlace) {
  const Catalog catalog =
      parse_catalog(metric_with("formula = 'instructions / local_sector'"), "table");
  try {
    const CountFormula formula(catalog.metrics.at(0).formula);
    FAIL() << formula(Counts{});
  } catch (const CatalogError& error) {
    EXPECT_STREQ(error.what(),
                 "table:7:27: in the formula 'instructions / local_sector': there is no count "
                 "'local_sector', did you mean 'local_sectors'?");
  }
}

TEST(CatalogFile, OfTheProgramHasKnownCountersAlone) {
  for (const Metric& metric : built_in_catalog().metrics) {
    if (metric.source != Source::range) continue;
    for (const std::string_view name : metric.cupti_names) EXPECT_EQ(unknown_counter(name), "");
  }
}

TEST(CatalogFile, HasARowForCounters) {
  const CounterForm& counter = built_in_catalog().counter;
  EXPECT_EQ(counter.longest, 256u);
  EXPECT_EQ(counter.units.front(),
            (std::pair<std::string_view, std::string_view>(".ratio", "ratio")));
  EXPECT_EQ(counter.units.back(), (std::pair<std::string_view, std::string_view>("", "counts")));
  EXPECT_THAT(error_of("['counter.*']\n" + std::string(kWords) +
                       "source = 'run'\npattern = 'a'\n"
                       "longest = 3\nunits = [['x', 'y']]\n"),
              StartsWith("table:10:9: the last unit"));
}

}  // namespace
}  // namespace warpgauge::metrics::catalog_file_test
