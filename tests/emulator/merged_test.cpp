// Accesses that ptxas makes one of, and counts that follow from those beside them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/counting/line_counts.h"
#include "harness/emulator/counting/machine_flow.h"
#include "harness/emulator/counting/sass_match.h"
#include "harness/emulator/machine/core/outcome.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/line_table.h"
#include "metrics/machine_code/sass.h"
#include "tests/emulator/kept_line.h"
#include "tests/emulator/recorded_code.h"

namespace warpgauge::emulator::counting::merged_test {
namespace {

using metrics::Confidence;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

class MergedOf : public testing::TestWithParam<const char*> {
 protected:
  /// The widths by which the accesses of `kernel` whose text begins so count, 0 for none; all are
  /// exact.
  std::vector<int> exact_widths(const char* kernel, const std::string& text) const {
    const OracleAnswer answer = recorded_.about(kernel);
    std::map<int, machine::AccessPlan> plans;
    for (const auto& entry : answer.plans.entries) plans[entry.text_line] = entry.plan;
    std::vector<int> widths;
    for (const PtxAccess& access : accesses_of(recorded_.module, kernel)) {
      if (!recorded_.line(access.text_line).starts_with(text)) continue;
      const metrics::Trust& trust = answer.trust.of(access.text_line);
      EXPECT_EQ(trust.confidence, Confidence::exact) << access.text_line << ": " << trust.reason;
      const auto plan = plans.find(access.text_line);
      widths.push_back(plan == plans.end() ? access.width : plan->second.width);
    }
    return widths;
  }

  const Recorded recorded_ =
      Recorded::with_ptx(std::string("oracle/merged.") + GetParam() + ".cubin");
};

TEST_P(MergedOf, AWideLoadMayHoldMoreThanIsAskedFor) {
  EXPECT_THAT(exact_widths("more_than_asked_for", "ld.shared"), ElementsAre(16, 0, 0, 16, 0, 0, 0));
}

TEST_P(MergedOf, VariablesBesideEachOtherAreOneAccess) {
  EXPECT_THAT(exact_widths("two_variables", "st.shared"), ElementsAre(0, 8));
  EXPECT_THAT(exact_widths("two_variables", "ld.shared"), ElementsAre(8, 0));
}

TEST_P(MergedOf, OneStoreForEachWayIsAsWritten) {
  EXPECT_THAT(exact_widths("stored_once", "st.shared"), ElementsAre(4, 4));
}

TEST_P(MergedOf, WhatEachRoundOfALoopExecutesIsNotThatOfAnotherLoop) {
  EXPECT_THAT(exact_widths("in_two_loops", "ld.local.f32"), ElementsAre(4, 8, 0, 4, 8, 0, 4));
}

TEST_P(MergedOf, WhatARoundMayNotComeToMayBeThatOfAnotherLoop) {
  const OracleAnswer answer = recorded_.about("in_loops_that_end_early");
  const auto loads = recorded_.lines("in_loops_that_end_early", "ld.local.f32 %f");
  ASSERT_EQ(loads.size(), 6u);
  for (const int load : {loads[0], loads[2], loads[3], loads[5]}) {
    EXPECT_THAT(answer.trust.of(load).reason, HasSubstr("may have made one of it and the access"));
  }
}

TEST_P(MergedOf, WhatTheMachineCodeLacksIsAnEstimate) {
  const auto loads = recorded_.lines("loads_in_vain", "ld.shared.v2");
  ASSERT_EQ(loads.size(), 1u);
  const metrics::Trust trust = recorded_.about("loads_in_vain").trust.of(loads.front());
  EXPECT_EQ(trust.confidence, Confidence::estimate);
  EXPECT_THAT(trust.reason, HasSubstr("ptxas removed it"));
}

TEST_P(MergedOf, SavedRegistersExecuteWithWhatEachCallExecutes) {
  const OracleAnswer answer = recorded_.about("saved_around_a_call");
  EXPECT_THAT(answer.extras, IsEmpty());
  ASSERT_THAT(answer.trust.spills, Not(IsEmpty()));
  for (const KernelTrust::Spill& spill : answer.trust.spills) {
    EXPECT_THAT(recorded_.line(spill.text_line), HasSubstr("ld.global.nc.f32"));
  }
}

TEST_P(MergedOf, AKernelAndItsFunctionsDoNotExecuteTogether) {
  const metrics::Cubin cubin(std::as_bytes(std::span(recorded_.cubin)));
  const metrics::SourceLines sources(cubin);
  const metrics::PtxLines lines(cubin);
  const char* const kernel = "saved_around_a_call";
  const MachineFlow machine({cubin, sources, lines}, kernel);
  std::map<metrics::MemoryOp, std::size_t> blocks;  // the function loads and saves, it stores
  for (const auto& instruction : metrics::memory_instructions(cubin, kernel)) {
    blocks[instruction.op] = machine.block_at(instruction.pc);
  }
  using metrics::MemoryOp;
  EXPECT_TRUE(machine.execute_together(blocks.at(MemoryOp::stl), blocks.at(MemoryOp::ldg)));
  EXPECT_TRUE(machine.execute_together(blocks.at(MemoryOp::ldg), blocks.at(MemoryOp::stl)));
  EXPECT_FALSE(machine.execute_together(blocks.at(MemoryOp::stg), blocks.at(MemoryOp::ldg)));
}

INSTANTIATE_TEST_SUITE_P(Recorded, MergedOf, testing::Values("sm_75", "sm_90"),
                         [](const auto& suite) { return std::string(suite.param); });

/// How far a load of one loop can be trusted where another loop lacks its own.
metrics::Trust trust_beside_removed(const Standing& place) {
  const PtxAccess loads[] = {{.text_line = 5, .width = 4, .base = "a", .block = 1},
                             {.text_line = 8, .width = 4, .base = "b", .block = 2}};
  Comparison comparison;
  comparison.spaces = {ptx::Space::global};
  comparison.matches.push_back(
      {.access = &loads[0], .standing = place, .block_last_line = 5, .loop_header_last_line = 4});
  comparison.matches.push_back(
      {.access = &loads[1], .block_last_line = 8, .loop_header_last_line = 7});
  comparison.matches[0].found.push_back({.op = metrics::MemoryOp::ldg, .width = 4});
  return conclude(std::move(comparison)).trust.of(5);
}

TEST(RemovedInAnotherLoop, WhatEachRoundComesToIsExact) {
  EXPECT_EQ(trust_beside_removed({.in_own_loop = true}).confidence, Confidence::exact);
}

TEST(RemovedInAnotherLoop, WhatMayStandElsewhereIsNotExact) {
  for (const Standing& place :
       {Standing{.in_own_loop = false}, Standing{.once = false, .in_own_loop = true},
        Standing{.decided = false, .in_own_loop = true}}) {
    const metrics::Trust trust = trust_beside_removed(place);
    EXPECT_EQ(trust.confidence, Confidence::estimate);
    EXPECT_THAT(trust.reason, HasSubstr("may have made one of it and the access in line 8"));
  }
}

TEST(RemovedInAnotherLoop, WhatAWideAccessHoldsIsNotMadeOneWithOthers) {
  // Two values beside each other are loaded as one, and a loop behind them loads as well.
  const PtxAccess loads[] = {{.text_line = 5, .width = 4, .base = "a", .block = 1},
                             {.text_line = 6, .width = 4, .base = "b", .block = 1},
                             {.text_line = 9, .width = 4, .base = "c", .block = 2}};
  Comparison comparison;
  comparison.spaces = {ptx::Space::global};
  for (const PtxAccess& load : loads) comparison.matches.push_back({.access = &load});
  comparison.matches[0].block_last_line = comparison.matches[1].block_last_line = 7;
  comparison.matches[2].block_last_line = comparison.matches[2].loop_header_last_line = 9;
  comparison.matches[0].found.push_back({.op = metrics::MemoryOp::ldg, .width = 8});
  comparison.matches[2].found.push_back({.op = metrics::MemoryOp::ldg, .width = 4});
  const OracleAnswer answer = conclude(std::move(comparison));
  for (const PtxAccess& load : loads) {
    EXPECT_EQ(answer.trust.of(load.text_line), metrics::Trust{}) << load.text_line;
  }
}

/// How far a load of 4 bytes can be trusted that the machine code has as one of 8 for several of a
/// loop, beside another access that it lacks.
metrics::Trust trust_beside(const PtxAccess& load, const PtxAccess& other) {
  Comparison comparison;
  comparison.matches = {{.access = &load}, {.access = &other}};
  comparison.matches[0].found.push_back({.op = metrics::MemoryOp::ldg, .width = 8});
  comparison.matches[0].standing.once = false;
  return conclude(std::move(comparison)).trust.of(load.text_line);
}

const PtxAccess kLoad{
    .text_line = 5, .width = 4, .base = "a", .offset = 8, .base_zeros = 3, .block = 1};

/// An access beside kLoad.
PtxAccess access_at(std::int64_t offset) {
  PtxAccess access = kLoad;
  access.text_line = 6;
  access.offset = offset;
  return access;
}

TEST(WideLoad, HoldsItsNeighbour) {
  EXPECT_EQ(trust_beside(kLoad, access_at(12)), metrics::Trust{});
  EXPECT_EQ(trust_beside(access_at(12), kLoad), metrics::Trust{}) << "behind it";
}

TEST(WideLoad, BeginsWhereItIsAligned) {
  const auto across = [](int base_zeros) {
    PtxAccess load = access_at(12), next = access_at(16);
    load.text_line = 5;
    load.base_zeros = next.base_zeros = base_zeros;
    return trust_beside(load, next).confidence;
  };
  EXPECT_EQ(across(3), Confidence::estimate) << "8 bytes begin at 8 or 16";
  EXPECT_EQ(across(2), Confidence::exact) << "they may be aligned";
}

TEST(WideLoad, HoldsNoOtherAccess) {
  std::vector<PtxAccess> others(7, access_at(12));
  others[0].block = 2;
  others[1].kind = PtxAccess::Kind::store;
  others[2].space = ptx::Space::shared;
  others[3].width = 2;
  others[4].base = "b";
  others[5].base_value = 1;
  others[6].offset = 16;
  for (const PtxAccess& other : others) {
    const metrics::Trust trust = trust_beside(kLoad, other);
    EXPECT_EQ(trust.confidence, Confidence::estimate) << &other - others.data();
    EXPECT_THAT(trust.reason, HasSubstr("for several executions of it"));
  }
}

/// How an atomic counts that the machine code has as these, with so many votes, where another
/// atomic has a vote.
struct JudgedAtomic {
  JudgedAtomic(std::initializer_list<metrics::MemoryOp> ops, std::ptrdiff_t votes,
               bool guarded = true) {
    const PtxAccess atomics[] = {{.text_line = 5, .kind = PtxAccess::Kind::atomic, .width = 4},
                                 {.text_line = 8, .kind = PtxAccess::Kind::atomic, .width = 4}};
    Comparison comparison;
    for (const PtxAccess& atomic : atomics) comparison.matches.push_back({.access = &atomic});
    for (const metrics::MemoryOp op : ops) {
      comparison.matches[0].found.push_back({.op = op, .width = 4, .guarded = guarded});
    }
    comparison.matches[0].votes = votes;
    comparison.matches[1].found.push_back({.op = metrics::MemoryOp::red, .width = 4});
    comparison.matches[1].votes = 1;
    const OracleAnswer answer = conclude(std::move(comparison));
    for (const auto& [line, plan] : answer.plans.entries) {
      if (line == 5) role = plan.role;
    }
    trust = answer.trust.of(5);
  }

  machine::AccessPlan::Role role = machine::AccessPlan::Role::as_written;
  metrics::Trust trust;
};

TEST(OneLaneForAll, IsTheSameRequestOfGlobalMemory) {
  using metrics::MemoryOp;
  for (const MemoryOp op : {MemoryOp::red, MemoryOp::atomg, MemoryOp::atomg_cas}) {
    for (const std::ptrdiff_t votes : {0, 1}) {
      const JudgedAtomic judged({op}, votes);
      EXPECT_EQ(judged.role, machine::AccessPlan::Role::as_written);
      EXPECT_EQ(judged.trust, metrics::Trust{});
    }
  }
}

TEST(OneLaneForAll, NeedsAVoteForEachAtomic) {
  using metrics::MemoryOp;
  using Role = machine::AccessPlan::Role;
  for (const auto& judged :
       {JudgedAtomic({MemoryOp::atoms}, 1), JudgedAtomic({MemoryOp::atoms, MemoryOp::red}, 2)}) {
    EXPECT_EQ(judged.role, Role::one_for_all);
    EXPECT_EQ(judged.trust, metrics::Trust{});
  }
  for (const auto& judged :
       {JudgedAtomic({MemoryOp::atoms}, 0), JudgedAtomic({MemoryOp::atoms, MemoryOp::red}, 1)}) {
    EXPECT_EQ(judged.role, Role::as_written);
    EXPECT_THAT(judged.trust.reason, HasSubstr("may let one lane do it"));
  }
  const JudgedAtomic by_each({MemoryOp::atoms}, 1, false);
  EXPECT_EQ(by_each.role, Role::as_written);
  EXPECT_EQ(by_each.trust, metrics::Trust{});
}

TEST(OneLaneForAll, IsWhatAPopulationCountIs) {
  using metrics::MemoryOp;
  const JudgedAtomic counted({MemoryOp::atoms_popc}, 0, false);
  EXPECT_EQ(counted.role, machine::AccessPlan::Role::one_for_all);
  EXPECT_EQ(counted.trust, metrics::Trust{});
  const JudgedAtomic both({MemoryOp::atoms_popc, MemoryOp::atoms}, 0, false);
  EXPECT_EQ(both.role, machine::AccessPlan::Role::as_written);
  EXPECT_THAT(both.trust.reason, HasSubstr("the machine code has ATOMS"));
}

/// The counts of a launch in which the access in line 5 had 2 requests, of 4 and of 3 groups of 8
/// lanes, and a register of 8 bytes was spilled beside it. It divided at the branch in line 7.
metrics::LineCounts spill_beside(bool exact) {
  machine::LaunchOutcome outcome;
  outcome.totals.push_back({.text_line = 5, .source = kept_line("a.cu", 1), .access = {}});
  outcome.totals.back().access.space = machine::AccessTotals::Space::global_load;
  outcome.totals.back().access.requests = 2;
  outcome.totals.back().access.lane_groups = 7;
  outcome.branches.push_back({7, kept_line("a.cu", 2), 1});
  KernelTrust trust;
  trust.by_text_line[5] = {};
  if (!exact) trust.conditions.insert({5, {{{7}, {}}, {Confidence::estimate, "they part"}}});
  trust.spills.push_back({{"a.cu", 3}, 8, 5});
  CountTable table;
  table.add("k", outcome, std::make_shared<KernelTrust>(trust));
  for (metrics::LineCounts& line : table.take()) {
    if (line.line == 3) return line;
  }
  return {};
}

TEST(LinesOfAccesses, AreThoseOfTheMachineCode) {
  machine::LaunchOutcome outcome;
  for (const int text_line : {5, 6}) {
    outcome.totals.push_back(
        {.text_line = text_line, .source = kept_line("a.cu", text_line), .access = {}});
    outcome.totals.back().access.space = machine::AccessTotals::Space::global_load;
    outcome.totals.back().access.requests = 2;
  }
  KernelTrust trust;
  trust.by_text_line[5] = trust.by_text_line[6] = {};
  trust.sources[5] = {"a.cu", 6};
  CountTable table;
  table.add("k", outcome, std::make_shared<KernelTrust>(trust));
  std::map<int, std::uint64_t> loads;
  for (const metrics::LineCounts& line : table.take()) {
    if (line.counts.global_load_requests > 0) loads[line.line] = line.counts.global_load_requests;
  }
  EXPECT_THAT(loads, ElementsAre(Pair(6, 4u)));
}

TEST(Spills, CountAsOftenAsTheAccessBesideThem) {
  const metrics::LineCounts line = spill_beside(true);
  EXPECT_EQ(line.counts.local_requests, 2u);
  EXPECT_EQ(line.counts.local_sectors, 14u);
  EXPECT_THAT(line.trust, IsEmpty());
}

TEST(Spills, AreTrustedAsTheAccessBesideThem) {
  const metrics::LineCounts line = spill_beside(false);
  ASSERT_TRUE(line.trust.contains("local"));
  EXPECT_EQ(line.trust.at("local").reason, "they part");
}

}  // namespace
}  // namespace warpgauge::emulator::counting::merged_test
