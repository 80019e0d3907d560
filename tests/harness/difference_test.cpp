// Values of two runs beside each other: causes, noise, and the lines behind a value.
#include "harness/diff/difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/diff/cause_rules.h"
#include "harness/diff/noise.h"

namespace warpgauge::diff::difference_test {
namespace {

using metrics::CaseContext;
using metrics::Fact;
using metrics::StoredRun;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::UnorderedElementsAre;

constexpr metrics::Launch kLaunch{
    .grid = {32, 1, 1}, .block = {256, 1, 1}, .dynamic_shared_bytes = 0, .count = 1};

/// A case of one kernel, launched once on a GPU.
struct ACase {
  std::string sass = "a", source = "5", code = "c", driver = "580";
  std::vector<metrics::Launch> launches = {kLaunch};
};

StoredRun run_of(const ACase& test_case, const std::string& metric, double value) {
  StoredRun run{.run = {.id = "r", .time = "2026-05-01T23:00:00Z", .toolkit = "13.0"},
                .facts = {},
                .end = {}};
  run.run.devices = {{.name = "H100", .driver = test_case.driver, .uuid_hash = "1"}};
  CaseContext context{.device = "H100", .code_hash = test_case.code};
  context.kernels = {{"kernel", test_case.sass, test_case.source, test_case.launches}};
  Fact fact{.id = {"x", "plain", "f32", "64"},
            .arch = "sm_90",
            .context = std::make_shared<const CaseContext>(std::move(context)),
            .metric = metric,
            .value = value,
            .source = "cupti",
            .kernel = "kernel",
            .confidence = "exact"};
  if (metric == "time.median_us") fact.interval = {value - 0.01, value + 0.01};
  run.facts.push_back(std::move(fact));
  return run;
}

Change change(const StoredRun& a, const StoredRun& b) {
  const std::vector<StoredRun> runs_a = {a}, runs_b = {b};
  const std::vector<Change> changes =
      find_changes(newest_of(runs_a), newest_of(runs_b), kUsualNoise);
  EXPECT_EQ(changes.size(), 1u);
  return changes.at(0);
}

Change conflicts(const ACase& a, const ACase& b) {
  return change(run_of(a, "shared.bank_conflicts", 1), run_of(b, "shared.bank_conflicts", 2));
}

Change times(const ACase& a, const ACase& b) {
  return change(run_of(a, "time.median_us", 10), run_of(b, "time.median_us", 20));
}

/// The rules as the history reads them: a cause, and what must be so.
std::string rules_text() {
  nlohmann::ordered_json rules = nlohmann::ordered_json::array();
  for (const CauseRule& rule : cause_rules()) {
    nlohmann::ordered_json conditions = nlohmann::ordered_json::object();
    if (rule.noisy) conditions["noisy"] = *rule.noisy;
    for (const auto& [name, wanted] :
         {std::pair("whole_case", rule.whole_case), std::pair("source", rule.source),
          std::pair("code", rule.code), std::pair("launches", rule.launches),
          std::pair("compiler", rule.compiler), std::pair("driver", rule.driver)}) {
      if (wanted) conditions[name] = to_string(*wanted);
    }
    rules.push_back({{"cause", to_string(rule.cause)}, {"if", std::move(conditions)}});
  }
  return rules.dump(1) + '\n';
}

TEST(Causes, RulesAreThoseThatTheHistoryReads) {
  const auto file =
      std::filesystem::path(WARPGAUGE_TEST_DATA) / "../../harness/diff/cause_rules.json";
  if (std::getenv("WARPGAUGE_WRITE_GOLDEN") != nullptr) std::ofstream(file) << rules_text();
  std::ifstream stream(file);
  const std::string copy{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(copy, rules_text()) << "write it again with WARPGAUGE_WRITE_GOLDEN=1";
}

TEST(Causes, OfExactCounts) {
  EXPECT_THAT(conflicts({}, {.sass = "b", .source = "6"}).cause, Optional(Cause::code));
  EXPECT_THAT(conflicts({}, {.source = "6"}).cause, Optional(Cause::code));
  EXPECT_THAT(conflicts({}, {.sass = "b"}).cause, Optional(Cause::compiler));
  EXPECT_THAT(conflicts({.source = ""}, {.sass = "b"}).cause, Optional(Cause::code_or_compiler));
  EXPECT_THAT(conflicts({}, {}).cause, Optional(Cause::input_or_counter));
  EXPECT_THAT(conflicts({.sass = ""}, {}).cause, Optional(Cause::input_or_counter));
  EXPECT_THAT(conflicts({.sass = "", .source = ""}, {}).cause, Optional(Cause::unknown));
  metrics::Launch other = kLaunch;
  other.grid = {1, 1, 1};
  EXPECT_THAT(conflicts({}, {.launches = {other}}).cause, Optional(Cause::launch));
  other = kLaunch;
  other.count = 2;
  EXPECT_THAT(conflicts({}, {.launches = {other}}).cause, Optional(Cause::launch));
}

TEST(Causes, OfTimes) {
  const Change moved = times({}, {});
  EXPECT_THAT(moved.cause, Optional(Cause::environment));
  EXPECT_EQ(moved.kind, ChangeKind::moved);
  const Change driven = times({}, {.driver = "590"});
  EXPECT_THAT(driven.cause, Optional(Cause::driver));
  EXPECT_EQ(driven.kind, ChangeKind::moved);
  EXPECT_THAT(driven.details, ElementsAre("driver 580 -> 590"));
  EXPECT_THAT(times({}, {.source = "6"}).cause, Optional(Cause::environment)) << "a comment";
  EXPECT_THAT(times({}, {.code = "d"}).cause, Optional(Cause::launch));
  EXPECT_THAT(times({}, {.sass = "b", .code = "d"}).cause, Optional(Cause::compiler));
  EXPECT_THAT(times({}, {.code = ""}).cause, Optional(Cause::unknown));
  EXPECT_EQ(times({}, {.code = ""}).kind, ChangeKind::worse) << "not known to be the same code";
}

/// Metrics and marks of one case, from the worst on.
using Values = std::vector<std::pair<std::string, double>>;
std::vector<std::pair<std::string_view, ChangeKind>> kinds(const Values& a, const Values& b) {
  const auto run = [](const Values& values, const ACase& test_case) {
    StoredRun all = run_of(test_case, values.front().first, values.front().second);
    for (const auto& [metric, value] : std::span(values).subspan(1)) {
      all.facts.push_back(run_of(test_case, metric, value).facts.front());
      all.facts.back().context = all.facts.front().context;
    }
    return all;
  };
  const std::vector<StoredRun> runs_a = {run(a, {})}, runs_b = {run(b, {.sass = "b"})};
  std::vector<std::pair<std::string_view, ChangeKind>> found;
  std::vector<Change> changes = find_changes(newest_of(runs_a), newest_of(runs_b), kUsualNoise);
  sort_worst_first(changes);
  for (const Change& change : changes) {
    found.emplace_back(change.metric->id, change.kind);
  }
  return found;
}

TEST(Order, SpillsStandBeforeWhatTheyAreMadeOfAndOccupancyBeforeRegisters) {
  EXPECT_THAT(kinds({{"code.bytes", 1000},
                     {"registers", 32},
                     {"stack.bytes", 8},
                     {"spill.load_bytes", 64},
                     {"occupancy.theoretical", 1}},
                    {{"code.bytes", 9000},
                     {"registers", 64},
                     {"stack.bytes", 800},
                     {"spill.load_bytes", 68},
                     {"occupancy.theoretical", 0.5}}),
              ElementsAre(std::pair("spill.load_bytes", ChangeKind::worse),
                          std::pair("stack.bytes", ChangeKind::worse),
                          std::pair("occupancy.theoretical", ChangeKind::worse),
                          std::pair("registers", ChangeKind::worse),
                          std::pair("code.bytes", ChangeKind::worse)));
}

TEST(Order, SizesThatGrowOrShrinkByAQuarterAreNeitherWorseNorBetter) {
  const auto kind = [](double a, double b) {
    return kinds({{"code.bytes", a}}, {{"code.bytes", b}}).at(0).second;
  };
  EXPECT_EQ(kind(1000, 1250), ChangeKind::changed);
  EXPECT_EQ(kind(1000, 1251), ChangeKind::worse);
  EXPECT_EQ(kind(1000, 750), ChangeKind::changed);
  EXPECT_EQ(kind(1000, 749), ChangeKind::better);
  EXPECT_EQ(kind(0, 16), ChangeKind::worse) << "of no share";
}

TEST(Order, WhatFailsIsWorseEvenWhereTheValueOnlyExplains) {
  const StoredRun measured = run_of({}, "registers.most", 32);
  StoredRun failed = measured;
  failed.facts.front().value = {};
  failed.facts.front().verdict = metrics::Verdict::error;
  EXPECT_EQ(change(measured, run_of({}, "registers.most", 40)).kind, ChangeKind::changed);
  EXPECT_EQ(change(measured, failed).kind, ChangeKind::worse);
  EXPECT_EQ(change(failed, measured).kind, ChangeKind::better);
}

TEST(Noise, SharesArePercentOrFractions) {
  EXPECT_THAT(share_from("3%"), Optional(testing::DoubleEq(0.03)));
  EXPECT_THAT(share_from("0.04"), Optional(0.04));
  EXPECT_THAT(share_from("0"), Optional(0.0));
  for (const char* text : {"3", "-1%", "nan", "much", "%", "", "3%%", "101%", " 3%"}) {
    EXPECT_EQ(share_from(text), std::nullopt) << text;
  }
}

TEST(Noise, IsBeyondOnlyWithBothTheIntervalsAndTheShare) {
  const auto time = [](double value, double half) {
    Fact fact{.metric = "time.median_us", .value = value};
    fact.interval = {value - half, value + half};
    return fact;
  };
  EXPECT_FALSE(is_beyond_noise(time(10, 1), time(11.5, 1), 0.03)) << "the intervals overlap";
  EXPECT_FALSE(is_beyond_noise(time(10, 0.01), time(10.29, 0.01), 0.03));
  EXPECT_TRUE(is_beyond_noise(time(10, 0.01), time(10.31, 0.01), 0.03));
  EXPECT_TRUE(is_beyond_noise(time(10, 0.01), time(9, 0.01), 0.03));
}

class Lines : public testing::Test {
 protected:
  static std::vector<LineChange> changed(const LineValues& a, const LineValues& b) {
    std::vector<LineChange> lines = line_changes(a, b, metrics::metric("shared.bank_conflicts"));
    std::erase_if(lines, [](const LineChange& line) { return line.kind == ChangeKind::same; });
    return lines;
  }
  static LineKey at(int line, const char* kernel = "kernel") { return {kernel, "x.cu", line}; }
};

TEST_F(Lines, ThatOnlyHaveAnotherNumberAreTheSame) {
  EXPECT_THAT(changed({{at(40), 60}, {at(41), 60}}, {{at(45), 60}, {at(46), 60}}), IsEmpty());
  const auto lines = changed({{at(40), 60}, {at(41), 40}}, {{at(45), 60}, {at(46), 70}});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(std::pair(lines[0].place, lines[0].kind), std::pair(at(46), ChangeKind::added));
  EXPECT_EQ(std::pair(lines[1].place, lines[1].kind), std::pair(at(41), ChangeKind::gone));
}

TEST_F(Lines, OfOtherKernelsAreOthers) {
  const auto lines = changed({{at(40, "one"), 1}}, {{at(40, "two"), 1}});
  EXPECT_EQ(lines.size(), 2u);
}

TEST_F(Lines, ThatMovedMostComeFirst) {
  const auto lines = changed({{at(1), 5}, {at(2), 5}}, {{at(1), 6}, {at(2), 1}});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(std::pair(lines[0].place.line, lines[0].kind), std::pair(2, ChangeKind::better));
  EXPECT_EQ(std::pair(lines[1].place.line, lines[1].kind), std::pair(1, ChangeKind::worse));
}

}  // namespace
}  // namespace warpgauge::diff::difference_test
