// Instructions of the machine code that a launch executes. Recorded: oracle/places.
#include "harness/emulator/counting/execution_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "harness/emulator/counting/line_counts.h"
#include "harness/emulator/machine/core/outcome.h"
#include "metrics/machine_code/sass.h"
#include "tests/emulator/kept_line.h"
#include "tests/emulator/recorded_code.h"

namespace warpgauge::emulator::counting::execution_model_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Launches of a kernel that stages a value, and whose lanes write one or leave before.
class ExecutionModelOf : public testing::TestWithParam<const char*> {
 protected:
  static constexpr std::uint64_t kWarps = 8;

  /// Lanes of `left` warps leave; in `divided` of these warps 20 lanes leave and 12 stay.
  machine::LaunchOutcome launch(std::uint64_t left, std::uint64_t divided = 0) const {
    const std::uint64_t stay = kWarps - left + divided;
    machine::LaunchOutcome out;
    out.warps = kWarps;
    out.lane_groups = 4 * kWarps;
    out.branches.push_back({.text_line = branch(),
                            .divided = divided,
                            .warps = kWarps,
                            .taken = left,
                            .lane_groups = 4 * kWarps,
                            .taken_groups = 4 * (left - divided) + 3 * divided,
                            .untaken_groups = groups_that_stay(left, divided)});
    for (const char* text : {"ld.global", "st.shared"}) add(out, text, kWarps, 4 * kWarps);
    for (const char* text : {"ld.shared", "st.global"}) {
      add(out, text, stay, groups_that_stay(left, divided));
    }
    return out;
  }

  int branch() const {
    EXPECT_EQ(answer_.plans.watched.size(), 1u);
    return *answer_.plans.watched.begin();
  }
  /// The place of the only one of this kind in the machine code.
  std::size_t instruction(metrics::MemoryOp op) const {
    const metrics::Cubin cubin(std::as_bytes(std::span(recorded_.cubin)));
    for (const auto& instruction : metrics::memory_instructions(cubin, "as_written")) {
      if (instruction.op == op) return instruction.pc / metrics::SassWord::kBytes;
    }
    ADD_FAILURE() << "there is none";
    return 0;
  }
  static std::uint64_t instructions(const Executions& executions) {
    EXPECT_THAT(executions.unknown, IsEmpty());
    std::uint64_t sum = 0;
    for (const Executions::Line& line : executions.lines) sum += line.instructions;
    return sum;
  }

  const Recorded recorded_ =
      Recorded::with_ptx(std::string("oracle/places.") + GetParam() + ".cubin");
  const OracleAnswer answer_ = recorded_.about("as_written");
  const ExecutionModel& model_ = answer_.trust.executions;

 private:
  static std::uint64_t groups_that_stay(std::uint64_t left, std::uint64_t divided) {
    return 4 * (kWarps - left) + 2 * divided;
  }
  void add(machine::LaunchOutcome& out, const char* text, std::uint64_t requests,
           std::uint64_t lane_groups) const {
    const auto lines = recorded_.lines("as_written", text);
    ASSERT_EQ(lines.size(), 1u) << text;
    out.totals.push_back({.text_line = lines.front()});
    out.totals.back().access.requests = requests;
    out.totals.back().access.lane_groups = lane_groups;
  }
};

TEST_P(ExecutionModelOf, InstructionsBehindABranchExecuteInWarpsWithLanesThatStay) {
  const std::uint64_t none = instructions(model_.of(launch(kWarps)));
  const std::uint64_t all = instructions(model_.of(launch(0)));
  EXPECT_EQ(none % kWarps, 0u);
  EXPECT_EQ(all % kWarps, 0u);
  EXPECT_GT(none, 0u);
  EXPECT_GE(all / kWarps, none / kWarps + 3) << "a load, a store and the end";
  EXPECT_EQ(instructions(model_.of(launch(3))), none + (kWarps - 3) * (all - none) / kWarps);
  EXPECT_EQ(instructions(model_.of(launch(3, 1))), none + (kWarps - 2) * (all - none) / kWarps);
}

TEST_P(ExecutionModelOf, NoWarpDividesWhereLanesEnd) {
  const Executions executions = model_.of(launch(3, 1));
  for (const Executions::Line& line : executions.lines) EXPECT_EQ(line.divergent_branches, 0u);
}

TEST_P(ExecutionModelOf, ABranchThatExecutesAnotherNumberOfTimesIsNotTheSame) {
  machine::LaunchOutcome other = launch(0);
  ++other.branches[0].warps;
  EXPECT_THAT(model_.of(other).unknown, HasSubstr("comes to the branch in line"));
}

TEST_P(ExecutionModelOf, AnAccessThatExecutesAnotherNumberOfTimesIsElsewhere) {
  machine::LaunchOutcome other = launch(0);
  --other.totals.back().access.requests;
  EXPECT_THAT(model_.of(other).unknown, HasSubstr("comes to the access in line"));
}

TEST_P(ExecutionModelOf, KnowsHowManyGroupsOfLanesExecuteAnInstruction) {
  ExecutionModel model = model_;
  const auto first = model.follow(0), behind = model.follow(instruction(metrics::MemoryOp::stg));
  ASSERT_TRUE(first && behind);
  const Executions executions = model.of(launch(3, 1));
  EXPECT_THAT(executions.followed_unknown, IsEmpty());
  EXPECT_EQ(executions.followed[*first].warps, kWarps);
  EXPECT_EQ(executions.followed[*first].lane_groups, 4 * kWarps);
  EXPECT_EQ(executions.followed[*behind].warps, kWarps - 2);
  EXPECT_EQ(executions.followed[*behind].lane_groups, 4 * (kWarps - 3) + 2);
}

TEST_P(ExecutionModelOf, OtherLanesAtABranchOrAnAccessAreNotTheSame) {
  machine::LaunchOutcome at_branch = launch(3, 1), at_access = at_branch;
  --at_branch.branches[0].lane_groups;
  --at_access.totals.back().access.lane_groups;
  for (const machine::LaunchOutcome& other : {at_branch, at_access}) {
    const Executions executions = model_.of(other);
    EXPECT_THAT(executions.unknown, IsEmpty());
    EXPECT_THAT(executions.followed_unknown, HasSubstr("with other lanes"));
  }
}

TEST_P(ExecutionModelOf, OneInstructionIsNotTrustedMoreThanMany) {
  KernelTrust trust = answer_.trust;
  trust.execution_order = {metrics::Confidence::estimate, "the order decides"};
  machine::LaunchOutcome outcome = launch(kWarps - 1);
  for (machine::InstructionTotals& access : outcome.totals) access.source = kept_line("a.cu", 1);
  CountTable table;
  table.add("as_written", outcome, std::make_shared<KernelTrust>(trust));
  int alone = 0;
  for (const metrics::LineCounts& line : table.take()) {
    if (line.counts.instructions == 0) continue;
    ASSERT_TRUE(line.trust.contains("instructions")) << line.line;
    EXPECT_EQ(line.trust.at("instructions").reason, "the order decides");
    alone += line.counts.instructions == 1 ? 1 : 0;
  }
  EXPECT_GT(alone, 0) << "the warp that stays ends";
}

TEST_P(ExecutionModelOf, HasTheLinesOfAProgramThatThePtxIsAPartOf) {
  ExecutionModel moved = model_;
  moved.move_lines(100);
  machine::LaunchOutcome other = launch(3, 1);
  other.branches[0].text_line += 100;
  for (machine::InstructionTotals& totals : other.totals) totals.text_line += 100;
  EXPECT_EQ(instructions(moved.of(other)), instructions(model_.of(launch(3, 1))));
}

TEST_P(ExecutionModelOf, ABranchMayHaveTheLineOfWhatPredicatesStandFor) {
  const OracleAnswer answer = recorded_.about("one_way_by_predicates");
  EXPECT_THAT(answer.trust.executions.of({}).unknown, IsEmpty());
  ASSERT_EQ(answer.plans.watched.size(), 1u);
  EXPECT_THAT(recorded_.line(*answer.plans.watched.begin()), HasSubstr(" bra "));
}

TEST_P(ExecutionModelOf, CopiesOfALoopAreRefused) {
  const Executions executions =
      recorded_.about("copies_of_a_loop").trust.executions.of(machine::LaunchOutcome{});
  EXPECT_THAT(executions.unknown, HasSubstr("branch in line"));
  EXPECT_THAT(executions.lines, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Recorded, ExecutionModelOf, testing::Values("sm_75", "sm_90"),
                         [](const auto& suite) { return std::string(suite.param); });

}  // namespace
}  // namespace warpgauge::emulator::counting::execution_model_test
