// Spilled registers that no access stands beside, from the machine code to the counts of a launch:
// oracle/spilled.cu. At [R1 + a number], each costs a sector for each 4 bytes and group of 8 lanes
// with some that execute it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/emulator/counting/line_counts.h"
#include "harness/emulator/counting/machine_flow.h"
#include "harness/emulator/counting/sass_match.h"
#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/memory/memory.h"
#include "tests/emulator/kept_line.h"
#include "tests/emulator/kernel_run.h"
#include "tests/emulator/recorded_code.h"

namespace warpgauge::emulator::counting::spills_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Spilled : public testing::TestWithParam<const char*> {
 protected:
  static constexpr std::uint32_t kBlocks = 3;

  /// Accesses to local memory of all lines.
  struct Local {
    std::uint64_t requests = 0, sectors = 0;
    std::string reason;  ///< why they are not exact
  };
  /// Spills of the machine code, and words of 4 bytes that a lane moves in them.
  struct Code {
    std::uint64_t requests = 0, words = 0;
  };

  static OracleAnswer about(const Recorded& recorded, const std::string& kernel) {
    return recorded.about(kernel.c_str());
  }

  Local run(const std::string& kernel, std::uint32_t threads, int number) const {
    return counted(kernel, launch(kernel, threads, number), about(recorded_, kernel).trust);
  }
  machine::LaunchOutcome launch(const std::string& kernel, std::uint32_t threads,
                                int number) const {
    machine::Machine machine(machine::Architecture{}, machine::limited());
    machine::Program& program = machine.load(ptx::parse(recorded_.ptx, "spilled.ptx"));
    machine::Kernel& found = *machine.find_kernel(program, kernel);
    const OracleAnswer answer = about(recorded_, kernel);
    EXPECT_TRUE(answer.extras.empty()) << answer.trust.executions.of({}).unknown;
    machine.set_access_plans(found, answer.plans);
    constexpr std::size_t kBytes = 4 * 24 * 256;
    struct {
      std::byte *output, *input;
      int number;
    } const parameters = {memory(machine, kBytes), memory(machine, kBytes), number};
    return machine.run(found, {.grid = {kBlocks, 1, 1},
                               .block = {threads, 1, 1},
                               .parameters = std::as_bytes(std::span(&parameters, 1))});
  }
  static Local counted(const std::string& kernel, const machine::LaunchOutcome& outcome,
                       const KernelTrust& trust) {
    CountTable table;
    table.add(kernel, outcome, std::make_shared<KernelTrust>(trust));
    Local sum;
    for (const metrics::LineCounts& line : table.take()) {
      sum.requests += line.counts.local_requests;
      sum.sectors += line.counts.local_sectors;
      const auto trust = line.trust.find("local");
      if (trust != line.trust.end()) sum.reason = trust->second.reason;
    }
    return sum;
  }

  /// The spills of a kernel in its loop, those that its branch decides, and the others.
  struct Spills {
    Code repeated, decided, always;
  };
  Spills spills_of(const std::string& kernel) const {
    const metrics::Cubin cubin(std::as_bytes(std::span(recorded_.cubin)));
    const metrics::SourceLines sources(cubin);
    const metrics::PtxLines lines(cubin);
    const MachineFlow flow({cubin, sources, lines}, kernel);
    Spills out;
    for (const auto& instruction : metrics::memory_instructions(cubin, kernel)) {
      if (!metrics::is_local(instruction.op)) continue;
      const std::size_t block = flow.block_at(instruction.pc);
      const bool repeated = flow.innermost_loop(block) < flow.loops().size();
      const bool decided = !flow.deciders(block).empty();
      Code& code = repeated ? out.repeated : decided ? out.decided : out.always;
      ++code.requests;
      code.words += static_cast<std::uint64_t>(instruction.width / 4);
    }
    EXPECT_GT(out.repeated.requests + out.decided.requests, 0u) << kernel;
    return out;
  }

  /// The spills outside of a loop, which all groups of lanes execute once.
  static Code once(const Spills& code) {
    return {code.always.requests + code.decided.requests, code.always.words + code.decided.words};
  }

  /// Expects five rounds in warps of 32 lanes and of 12: 4 groups of 8, and 2.
  void expect_five_rounds(const std::string& kernel) const {
    const Spills code = spills_of(kernel);
    const Local local = run(kernel, 44, 5);
    EXPECT_EQ(local.reason, "");
    EXPECT_EQ(local.requests, 2 * kBlocks * (once(code).requests + 5 * code.repeated.requests));
    EXPECT_EQ(local.sectors, 6 * kBlocks * (once(code).words + 5 * code.repeated.words));
  }

  const Recorded recorded_ =
      Recorded::with_ptx(std::string("oracle/spilled.") + GetParam() + ".cubin");

 private:
  static std::byte* memory(machine::Machine& machine, std::size_t bytes) {
    std::byte* const at =
        machine.memory().allocate(bytes, machine::memory::Memory::Kind::device, "test");
    std::memset(at, 0, bytes);
    return at;
  }
};

TEST_P(Spilled, EachRoundOfALoopExecutesThem) {
  const Spills code = spills_of("in_a_loop");
  for (const std::uint64_t rounds : {1, 5}) {
    const Local local = run("in_a_loop", 64, static_cast<int>(rounds));
    EXPECT_EQ(local.reason, "");
    constexpr std::uint64_t kWarps = 2 * kBlocks;
    EXPECT_EQ(local.requests, kWarps * (once(code).requests + rounds * code.repeated.requests));
    EXPECT_EQ(local.sectors, kWarps * 4 * (once(code).words + rounds * code.repeated.words));
  }
}

TEST_P(Spilled, ACallBetweenWhereLanesPartAndMeetChangesNothingBehindIt) {
  expect_five_rounds("beside_a_quotient");
}

TEST_P(Spilled, AWarpThatLacksLanesHasFewerGroups) { expect_five_rounds("in_a_loop"); }

TEST_P(Spilled, ThoseWithTheLineOfAnArrayAreNotOfTheArray) {
  const metrics::Cubin cubin(std::as_bytes(std::span(recorded_.cubin)));
  const metrics::PtxLines lines(cubin);
  const auto loads = recorded_.lines("beside_an_array", "ld.local");
  const auto has_line_of_load = [&](std::uint64_t pc) {
    const auto line = lines.find("beside_an_array", pc);
    return line && std::ranges::find(loads, *line) != loads.end();
  };
  ASSERT_TRUE(
      std::ranges::any_of(metrics::spills_and_refills(cubin, "beside_an_array"), has_line_of_load));
  expect_five_rounds("beside_an_array");
}

TEST_P(Spilled, StoresOfSeveralRoundsCountAsTheMachineCodeHasThem) {
  expect_five_rounds("cleared_array");
  expect_five_rounds("cleared_behind_a_load");
}

TEST_P(Spilled, StoresOfSeveralRoundsCountWhereNothingIsSpilled) {
  KernelTrust trust = about(recorded_, "cleared_array").trust;
  const machine::LaunchOutcome outcome = launch("cleared_array", 44, 5);
  const Local all = counted("cleared_array", outcome, trust);
  const std::size_t spilled = trust.spills.size();
  trust.spills.clear();
  const Local rest = counted("cleared_array", outcome, trust);
  EXPECT_GT(rest.requests, 0u);
  EXPECT_EQ(rest.requests < all.requests, spilled > 0);
}

TEST_P(Spilled, StoresOfSeveralRoundsAreEstimatesWhereTheModelDoesNotHold) {
  const OracleAnswer answer = about(recorded_, "cleared_array");
  ASSERT_EQ(answer.trust.on_stack.size(), 1u);
  machine::LaunchOutcome outcome;
  outcome.warps = 1;  // which comes to no branch
  const int store = answer.trust.on_stack.begin()->first;
  outcome.totals.push_back({.text_line = store, .source = kept_line("a.cu", 1), .access = {}});
  outcome.totals.back().access.space = machine::AccessTotals::Space::local;
  outcome.totals.back().access.requests = 64;
  CountTable table;
  table.add("cleared_array", outcome, std::make_shared<KernelTrust>(answer.trust));
  std::uint64_t requests = 0;
  for (const metrics::LineCounts& line : table.take()) {
    if (line.counts.local_requests == 0) continue;
    requests += line.counts.local_requests;
    ASSERT_TRUE(line.trust.contains("local"));
    EXPECT_THAT(line.trust.at("local").reason, HasSubstr("for several executions of it"));
  }
  EXPECT_EQ(requests, 64u) << "those of the PTX";
}

TEST_P(Spilled, PtxasSaysWhichInstructionsSpill) {
  const metrics::Cubin cubin(std::as_bytes(std::span(recorded_.cubin)));
  std::set<std::uint64_t> local;
  for (const auto& instruction : metrics::memory_instructions(cubin, "in_a_loop")) {
    if (metrics::is_local(instruction.op)) local.insert(instruction.pc);
  }
  EXPECT_EQ(metrics::spills_and_refills(cubin, "in_a_loop"), local);
  EXPECT_THAT(metrics::spills_and_refills(cubin, "cleared_array"), testing::IsEmpty());
}

TEST_P(Spilled, BehindABranchTheLanesCountThatTakeTheWay) {
  const Spills code = spills_of("behind_a_branch");
  for (const std::uint64_t lanes : {0, 1, 12, 24, 32}) {
    const Local local = run("behind_a_branch", 32, static_cast<int>(lanes));
    EXPECT_EQ(local.reason, "");
    const std::uint64_t warps = lanes == 0 ? 0 : 1, groups = (lanes + 7) / 8;
    EXPECT_EQ(local.requests, kBlocks * (code.always.requests + warps * code.decided.requests));
    EXPECT_EQ(local.sectors, kBlocks * (4 * code.always.words + groups * code.decided.words));
  }
}

TEST_P(Spilled, LanesThatLeaveALoopEarlierCountNoMore) {
  const Spills code = spills_of("rounds_by_lane");
  const Local local = run("rounds_by_lane", 32, 0);
  EXPECT_EQ(local.reason, "");
  // The group n of 8 lanes has 2 n rounds in its first half and 2 n + 1 in its second.
  constexpr std::uint64_t kRounds = 7, kGroups = 1 + 3 + 5 + 7;
  EXPECT_EQ(local.requests, kBlocks * (once(code).requests + kRounds * code.repeated.requests));
  EXPECT_EQ(local.sectors, kBlocks * (4 * once(code).words + kGroups * code.repeated.words));
}

TEST_P(Spilled, AreEstimatesWhereTheModelDoesNotHold) {
  OracleAnswer answer = about(recorded_, "in_a_loop");
  CountTable table;
  machine::LaunchOutcome outcome;
  outcome.warps = 1;  // which comes to no branch
  table.add("in_a_loop", outcome, std::make_shared<KernelTrust>(answer.trust));
  std::vector<std::string> reasons;
  for (const metrics::LineCounts& line : table.take()) {
    const auto trust = line.trust.find("local");
    if (trust != line.trust.end()) reasons.push_back(trust->second.reason);
  }
  EXPECT_THAT(reasons, Not(testing::IsEmpty()));
  EXPECT_THAT(reasons, testing::Each(HasSubstr("comes to the branch in line")));
}

INSTANTIATE_TEST_SUITE_P(Recorded, Spilled, testing::Values("sm_75", "sm_90"),
                         [](const auto& suite) { return std::string(suite.param); });

}  // namespace
}  // namespace warpgauge::emulator::counting::spills_test
