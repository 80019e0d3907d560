// Accesses that stand elsewhere in the machine code than in the PTX, or there several times.
#include "harness/emulator/counting/match_position.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/counting/line_counts.h"
#include "harness/emulator/machine/core/outcome.h"
#include "tests/emulator/kept_line.h"
#include "tests/emulator/recorded_code.h"

namespace warpgauge::emulator::counting::match_position_test {
namespace {

using metrics::Confidence;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PlacesOf : public testing::TestWithParam<const char*> {
 protected:
  /// The only access of `kernel` whose text begins so.
  int line(const char* kernel, const std::string& text) const {
    const auto lines = recorded_.lines(kernel, text);
    EXPECT_EQ(lines.size(), 1u) << kernel << ": " << text;
    return lines.empty() ? 0 : lines.front();
  }

  void expect_all_exact(const char* kernel) const {
    const OracleAnswer answer = recorded_.about(kernel);
    EXPECT_THAT(answer.trust.by_text_line, Not(IsEmpty()));
    for (const auto& [line, trust] : answer.trust.by_text_line) {
      EXPECT_EQ(trust.confidence, Confidence::exact) << recorded_.line(line) << trust.reason;
    }
  }

  const Recorded recorded_ =
      Recorded::with_ptx(std::string("oracle/places.") + GetParam() + ".cubin");
};

TEST_P(PlacesOf, WhatStandsWhereThePtxHasItIsExact) {
  expect_all_exact("as_written");
  EXPECT_THAT(recorded_.about("as_written").trust.conditions, IsEmpty());
}

TEST_P(PlacesOf, CopiesOfALoopAreExactWhereLanesLeaveItTogether) {
  const OracleAnswer answer = recorded_.about("copies_of_a_loop");
  const int load = line("copies_of_a_loop", "ld.global.f32");
  ASSERT_TRUE(answer.trust.conditions.contains(load));
  const std::set<int> branches = answer.trust.conditions.find(load)->second.without.divided;
  const KernelTrust::Ways divided{branches, {}};
  ASSERT_EQ(branches.size(), 1u);
  EXPECT_THAT(recorded_.line(*branches.begin()), HasSubstr(" bra "));
  EXPECT_GT(*branches.begin(), load) << "at the end of the loop";
  EXPECT_EQ(answer.trust.of(load, KernelTrust::Ways{}).confidence, Confidence::exact);
  EXPECT_EQ(answer.trust.of(load, KernelTrust::Ways{{load}, {}}).confidence, Confidence::exact);
  EXPECT_EQ(answer.trust.of(load, divided).confidence, Confidence::estimate);
  EXPECT_THAT(answer.trust.of(load, divided).reason, HasSubstr("lanes of a warp that part"));
}

TEST_P(PlacesOf, WhatIsLoadedAgainInALoopIsNotExact) {
  const OracleAnswer answer = recorded_.about("loaded_again");
  int again = 0, once = 0;
  for (const int load : recorded_.lines("loaded_again", "ld.global")) {
    const metrics::Trust& trust = answer.trust.of(load);
    if (trust.confidence == Confidence::exact) {
      ++once;
    } else {
      ++again;
      EXPECT_THAT(trust.reason, HasSubstr("in the loop that ends in line "));
      EXPECT_THAT(trust.reason, HasSubstr("which has it outside"));
    }
  }
  EXPECT_EQ(again, 3);
  EXPECT_EQ(once, 37);
}

TEST_P(PlacesOf, WhatIsPutBehindABranchIsExactWhereNoLaneTakesIt) {
  const OracleAnswer answer = recorded_.about("needed_later");
  const int load = line("needed_later", "ld.global.u64");
  ASSERT_EQ(answer.plans.watched.size(), 1u);
  const int branch = *answer.plans.watched.begin();
  EXPECT_THAT(recorded_.line(branch), HasSubstr("bra"));
  EXPECT_LT(branch, recorded_.lines("needed_later", "ld.global.f32").front());
  EXPECT_EQ(answer.trust.of(load, KernelTrust::Ways{}).confidence, Confidence::exact);
  const metrics::Trust& taken = answer.trust.of(load, KernelTrust::Ways{{}, {branch}});
  EXPECT_EQ(taken.confidence, Confidence::estimate);
  EXPECT_THAT(taken.reason, HasSubstr("has it behind the branch in line "));
  const int store = line("needed_later", "st.global.f32");
  EXPECT_EQ(answer.trust.of(store).confidence, Confidence::exact);
}

TEST_P(PlacesOf, LanesThatMeetBeforeItMakeOneAccess) {
  expect_all_exact("meet_before");
  const int load = line("meet_before", "ld.global.f32");
  EXPECT_FALSE(recorded_.about("meet_before").trust.conditions.contains(load));
}

TEST_P(PlacesOf, LanesThatMeetOnlyBehindItMakeOneAccessForEachWay) {
  const OracleAnswer answer = recorded_.about("meet_behind");
  const int load = recorded_.lines("meet_behind", "ld.global.u32").back();
  EXPECT_EQ(answer.trust.of(load).confidence, Confidence::exact);
  ASSERT_TRUE(answer.trust.conditions.contains(load));
  for (const int branch : answer.trust.conditions.find(load)->second.without.divided) {
    EXPECT_THAT(recorded_.line(branch), HasSubstr("bra"));
    EXPECT_EQ(answer.trust.of(load, KernelTrust::Ways{{branch}, {}}).confidence,
              Confidence::estimate);
  }
}

TEST_P(PlacesOf, ALoadOnConditionIsTheLoadBehindTheBranch) {
  expect_all_exact("load_on_condition");
}

TEST_P(PlacesOf, ALoadThatStandsBesideAStoreIsNotEarly) { expect_all_exact("conditions_in_one"); }

TEST_P(PlacesOf, ALoadOfSharedMemoryThatMayBeEarlyIsExactWhereNoLaneGoesPastIt) {
  const OracleAnswer answer = recorded_.about("load_alone");
  const int load = line("load_alone", "ld.shared");
  ASSERT_TRUE(answer.trust.conditions.contains(load));
  const std::set<int> branches = answer.trust.conditions.find(load)->second.without.taken;
  ASSERT_EQ(branches.size(), 1u);
  const int branch = *branches.begin();
  EXPECT_TRUE(answer.plans.watched.contains(branch));
  EXPECT_THAT(recorded_.line(branch), HasSubstr("bra"));
  EXPECT_LT(branch, load);
  EXPECT_EQ(answer.trust.of(load, KernelTrust::Ways{}).confidence, Confidence::exact);
  const metrics::Trust& past = answer.trust.of(load, KernelTrust::Ways{{}, {branch}});
  EXPECT_EQ(past.confidence, Confidence::estimate);
  EXPECT_THAT(past.reason, HasSubstr("may make it also where the branch in line "));
  for (const char* const others : {"ld.global", "st."}) {
    for (const int other : recorded_.lines("load_alone", others)) {
      EXPECT_EQ(answer.trust.of(other, KernelTrust::Ways{{}, {branch}}), metrics::Trust{});
    }
  }
}

TEST_P(PlacesOf, ABranchMayHaveTheLineOfWhereItLeads) { expect_all_exact("loop_or_nothing"); }

TEST_P(PlacesOf, TheTargetsOfASwitchAreKnown) { expect_all_exact("one_of_many"); }

/// The trust in the loads of a launch in which a warp divides at the branch in line 7, or none
/// does.
std::map<std::string, metrics::Trust, std::less<>> trust_of_launch(bool divides) {
  machine::LaunchOutcome outcome;
  outcome.totals.push_back({.text_line = 5, .source = kept_line("a.cu", 1), .access = {}});
  outcome.totals.back().access.space = machine::AccessTotals::Space::global_load;
  outcome.totals.back().access.requests = 1;
  if (divides) outcome.branches.push_back({7, kept_line("a.cu", 2), 1});
  KernelTrust trust;
  trust.by_text_line[5] = {};
  trust.conditions.insert({5, {{{7}, {}}, {Confidence::estimate, "they part"}}});
  CountTable table;
  table.add("k", outcome, std::make_shared<KernelTrust>(trust));
  for (const metrics::LineCounts& line : table.take()) {
    if (line.line == 1) return line.trust;
  }
  return {{"no line", {}}};
}

TEST(Copies, AreEstimatesInLaunchesThatDivide) {
  EXPECT_THAT(trust_of_launch(false), IsEmpty());
  const auto trust = trust_of_launch(true);
  ASSERT_TRUE(trust.contains("global"));
  EXPECT_EQ(trust.at("global").reason, "they part");
}

TEST(UnsettledMemory, MakesEstimatesOfWhatItDecides) {
  machine::LaunchOutcome outcome;
  outcome.totals.push_back({.text_line = 5, .source = kept_line("a.cu", 1), .access = {}});
  outcome.totals.back().access.space = machine::AccessTotals::Space::global_load;
  outcome.totals.back().access.requests = 1;
  KernelTrust trust;
  trust.by_text_line[5] = {};
  trust.unsettled.by_text_line[5] = {Confidence::estimate, "an index from memory"};
  trust.unsettled.uncounted.push_back(
      {{"a.cu", 2}, "shared", {Confidence::estimate, "memory decides it"}});
  const auto reasons = [&](const MemoryState& memory) {
    CountTable table;
    table.add("k", outcome, std::make_shared<KernelTrust>(trust), memory);
    std::map<int, std::string> reasons;
    for (const metrics::LineCounts& line : table.take()) {
      for (const auto& [group, known] : line.trust) {
        if (line.line != 0) reasons[line.line] = group + ": " + known.reason;
      }
    }
    return reasons;
  };
  EXPECT_THAT(reasons({}), IsEmpty());
  EXPECT_EQ(reasons({metrics::Memory::unsettled}),
            (std::map<int, std::string>{{1, "global: an index from memory"},
                                        {2, "shared: memory decides it"}}));
  EXPECT_EQ(
      reasons({metrics::Memory::unsettled, "a.cu:1 and a.cu:3"}),
      (std::map<int, std::string>{{1, "global: an index from memory (a race of a.cu:1 and a.cu:3)"},
                                  {2, "shared: memory decides it (a race of a.cu:1 and a.cu:3)"}}));
}

INSTANTIATE_TEST_SUITE_P(Recorded, PlacesOf, testing::Values("sm_75", "sm_90"),
                         [](const auto& suite) { return std::string(suite.param); });

}  // namespace
}  // namespace warpgauge::emulator::counting::match_position_test
