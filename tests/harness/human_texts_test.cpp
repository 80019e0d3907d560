// Human texts are for people: with `x` in the place of each, an outcome has the same numbers,
// order, verdicts and exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/outcome/results_json.h"
#include "metrics/budgets/judge.h"
#include "tests/harness/outcome_facts.h"

namespace warpgauge::outcome::human_texts_test {
namespace {

namespace fs = std::filesystem;
using metrics::Fact;
using metrics::StoredRun;
using nlohmann::ordered_json;

const fs::path kData = WARPGAUGE_TEST_DATA;
constexpr Requirements kEverything = {.strict = true, .cubin = true, .cupti = true};

void replace(std::string& text) {
  if (!text.empty()) text = "x";
}

std::vector<StoredRun> without_words(std::vector<StoredRun> runs) {
  for (StoredRun& run : runs) {
    if (run.end) {
      for (std::string& text : run.end->left_out) replace(text);
    }
    for (Fact& fact : run.facts) {
      replace(fact.reason);
      replace(fact.confidence_reason);
      if (fact.limit) replace(fact.limit->reason);
      if (fact.machine) replace(fact.machine->disturbance);
    }
  }
  return runs;
}

/// The part of the results for programs: without texts for people, and with the unmeasured summed.
ordered_json numbers(const std::vector<StoredRun>& runs, const Requirements& requirements) {
  const Outcome outcome(runs, {.requirements = requirements});
  ordered_json results = results_json(outcome, true);
  for (ordered_json& finding : results["findings"]) {
    for (const char* text : {"reason", "confidence_reason", "budget", "text"}) finding.erase(text);
    if (finding.contains("limit")) finding["limit"].erase("reason");
  }
  for (ordered_json& test_case : results["cases"]) {
    for (ordered_json& value : test_case["values"]) value.erase("reason");
  }
  int count = 0, required = 0;
  for (const ordered_json& reason : results["unmeasured"]) {
    count += reason["count"].get<int>();
    required += reason["required"].get<int>();
  }
  results["unmeasured"] = {count, required};
  results["left_out"] = results["left_out"].size();
  return results;
}

std::vector<fs::path> recorded() {
  return {kData / "outcome" / "h100.jsonl", kData / "emit" / "canaries.jsonl",
          kData / "facts" / "good.jsonl", kData / "facts" / "good_time.jsonl"};
}

TEST(HumanTexts, DecideNothingInAnOutcome) {
  for (const fs::path& path : recorded()) {
    const std::vector<StoredRun> runs = metrics::read_facts(path);
    const std::vector<StoredRun> bare = without_words(runs);
    for (const Requirements& requirements : {Requirements(), kEverything}) {
      const ordered_json before = numbers(runs, requirements), after = numbers(bare, requirements);
      EXPECT_EQ(before, after) << path << '\n' << ordered_json::diff(before, after);
      EXPECT_EQ(Outcome(runs, {.requirements = requirements}).headline(),
                Outcome(bare, {.requirements = requirements}).headline());
    }
  }
}

TEST(HumanTexts, DecideNothingForTheJudge) {
  for (const fs::path& path : recorded()) {
    std::vector<StoredRun> runs = metrics::read_facts(path), bare = without_words(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      for (std::size_t j = 0; j < runs[i].facts.size(); ++j) {
        Fact &fact = runs[i].facts[j], &other = bare[i].facts[j];
        metrics::judge(fact, metrics::Budgets(), {});
        metrics::judge(other, metrics::Budgets(), {});
        EXPECT_EQ(fact.verdict, other.verdict) << path << ' ' << fact.metric;
        EXPECT_EQ(fact.would, other.would) << path << ' ' << fact.metric;
        EXPECT_EQ(fact.cause, other.cause) << path << ' ' << fact.metric;
      }
    }
  }
}

}  // namespace
}  // namespace warpgauge::outcome::human_texts_test
