// Work on cases in processes: which cases they do, in which order, and what becomes of deaths.
#include "harness/gate/case_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measuring/blank_facts.h"
#include "tests/harness/own_family.h"

namespace warpgauge::gate::case_job_test {
namespace {

using metrics::Verdict;
using testing::ElementsAre;

/// What the processes do with a case.
using Measure = std::function<void(const Case&)>;

/// Jobs on the variants a, b and c, whose processes write a result of each case.
class CaseJobTest : public testing::Test {
 protected:
  explicit CaseJobTest(std::string_view budgets = "")
      : family_({"a", "b", "c"}, budgets),
        budgets_(family_.budgets()),
        log_(family_.folder() / "facts.jsonl",
             {.id = "r", .time = "2026-05-01T23:00:00Z", .command = "gate"}, budgets_,
             family_.all()) {}

  CaseWork work_on(std::vector<Cases> items, const Measure& measure = nullptr) {
    return {.items = std::move(items),
            .measure =
                [this, measure](const Cases& cases, bool) {
                  for (const Case* measured : cases) {
                    if (measure) measure(*measured);
                    log_.write({with_value(blank_fact(*measured, "sm_90"), "result.correct", 1.0)});
                  }
                  return process::ItemEnd::done;
                },
            .arch = "sm_90"};
  }
  /// "a pass", "b error": the results in the order in which they came.
  std::vector<std::string> results() {
    std::vector<std::string> results;
    for (const metrics::Fact& fact : log_.so_far()) {
      results.push_back(fact.id.variant + ' ' + std::string(to_string(fact.verdict)));
    }
    return results;
  }
  std::vector<std::string> reasons() {
    std::vector<std::string> reasons;
    for (const metrics::Fact& fact : log_.so_far()) {
      if (fact.verdict == Verdict::error) reasons.push_back(fact.reason);
    }
    return reasons;
  }
  const Case* at(const char* variant) const { return family_.at(variant); }

  const OwnFamily family_;
  const FamilyBudgets budgets_;
  FactLog log_;
};

TEST_F(CaseJobTest, DoesAllCases) {
  CaseJob(work_on(one_by_one(family_.all())), log_, budgets_, 0).finish("test", 1);
  EXPECT_THAT(results(), ElementsAre("a pass", "b pass", "c pass"));
}

TEST_F(CaseJobTest, LeavesOutCasesInProcessesThatWereStartedBefore) {
  for (const std::size_t early : {0, 2}) {
    CaseJob job(work_on(one_by_one(family_.all())), log_, budgets_, early);
    job.only({at("b")});
    job.finish("test", 1);
  }
  EXPECT_THAT(results(), ElementsAre("b pass", "b pass"));
}

TEST_F(CaseJobTest, LeavesOutCasesOfAnItem) {
  CaseJob job(work_on({{at("a"), at("b")}, {at("c")}}), log_, budgets_, 0);
  job.only({at("b")});
  job.finish("test", 1);
  EXPECT_THAT(results(), ElementsAre("b pass"));
}

TEST_F(CaseJobTest, ADeathIsAnErrorOfTheCasesOfItsItem) {
  const auto die = [](const Case& measured) {
    if (measured.id.variant == "b") std::raise(SIGABRT);
  };
  CaseJob(work_on({{at("a")}, {at("b")}, {at("c")}}, die), log_, budgets_, 0).finish("test", 1);
  EXPECT_THAT(results(), ElementsAre("a pass", "b error", "c pass"));
  EXPECT_THAT(reasons(), ElementsAre("killed by SIGABRT (Aborted)"));
}

TEST_F(CaseJobTest, AnExceptionIsAnErrorOfTheCasesThatWereToBeDone) {
  const auto fail = [](const Case&) { throw std::runtime_error("it does not fit"); };
  CaseJob job(work_on({{at("a"), at("b"), at("c")}}, fail), log_, budgets_, 0);
  job.only({at("a"), at("c")});
  job.finish("test", 1);
  EXPECT_THAT(results(), ElementsAre("a error", "c error"));
  EXPECT_THAT(reasons(), ElementsAre("it does not fit (in one of 2 cases)",
                                     "it does not fit (in one of 2 cases)"));
  for (const metrics::Fact& fact : log_.so_far()) EXPECT_EQ(fact.arch, "sm_90");
}

class CaseJobWithRatio : public CaseJobTest {
 protected:
  CaseJobWithRatio() : CaseJobTest("[a]\nregisters = { max = 2, of = \"c.f32\" }\n") {}
};

TEST_F(CaseJobWithRatio, ACaseWaitsForThoseThatItsBudgetsAreMultiplesOf) {
  CaseJob(work_on({{at("a")}, {at("b")}, {at("c")}}), log_, budgets_, 0).finish("test", 1);
  EXPECT_THAT(results(), ElementsAre("b pass", "c pass", "a pass"));
}

TEST_F(CaseJobWithRatio, AnItemDoesNotWaitForItself) {
  CaseJob(work_on({{at("a"), at("c")}, {at("b")}}), log_, budgets_, 0).finish("test", 1);
  EXPECT_THAT(results(), ElementsAre("a pass", "c pass", "b pass"));
}

}  // namespace
}  // namespace warpgauge::gate::case_job_test
