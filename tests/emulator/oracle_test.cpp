// The oracle: recorded pairs of PTX and machine code, and pairs that do not
// belong together.
#include "harness/emulator/counting/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "metrics/machine_code/cubin.h"
#include "tests/emulator/recorded_code.h"

namespace warpgauge::emulator::counting::oracle_test {
namespace {

using machine::AccessPlan;
using metrics::Confidence;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Role = machine::AccessPlan::Role;

machine::AccessPlan plan_of(const OracleAnswer& answer, int line) {
  for (const auto& entry : answer.plans.entries) {
    if (entry.text_line == line) return entry.plan;
  }
  return {};
}

Confidence confidence_of(const OracleAnswer& answer, int line) {
  const auto found = answer.trust.by_text_line.find(line);
  return found == answer.trust.by_text_line.end() ? answer.trust.otherwise.confidence
                                                  : found->second.confidence;
}

class OracleOf : public testing::TestWithParam<const char*> {};

TEST_P(OracleOf, FindsEveryAccess) {
  const Recorded recorded(GetParam());
  for (const ptx::Function& function : recorded.module.functions) {
    const auto answer = recorded.about(function.name.c_str());
    const auto accesses = accesses_of(recorded.module, function.name);
    EXPECT_EQ(answer.trust.by_text_line.size(), accesses.size()) << function.name;
    EXPECT_TRUE(
        std::ranges::is_sorted(answer.plans.entries, {}, &machine::AccessPlans::Entry::text_line));
    for (const auto& [line, trust] : answer.trust.by_text_line) {
      EXPECT_EQ(trust.reason.empty(), trust.confidence == Confidence::exact) << line;
    }
  }
}

TEST_P(OracleOf, ConflictFreeColumnsCountAsTheyAreWritten) {
  const Recorded recorded(GetParam());
  const auto answer = recorded.about("columns");
  EXPECT_THAT(answer.plans.entries, IsEmpty());
  EXPECT_THAT(answer.extras, IsEmpty());
  EXPECT_EQ(recorded.lines("columns", "ld.shared.").size(), 32u);
  for (const auto& [line, trust] : answer.trust.by_text_line) {
    EXPECT_EQ(trust.confidence, Confidence::exact) << line;
  }
}

TEST_P(OracleOf, NeighboursInARowCountAsOneWideLoad) {
  const Recorded recorded(GetParam());
  const auto answer = recorded.about("wide_rows");
  const auto loads = recorded.lines("wide_rows", "ld.shared.f32");
  ASSERT_EQ(loads.size(), 32u);
  // For sm_100 and later the computation of the address hides its alignment from ptxas.
  const bool merged = GetParam() != std::string("sm_120");
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const machine::AccessPlan plan = plan_of(answer, loads[i]);
    const Role expected = !merged ? Role::as_written : i % 4 == 0 ? Role::leader : Role::absorbed;
    EXPECT_EQ(plan.role, expected) << i;
    EXPECT_EQ(plan.width, expected == Role::leader ? 16 : 0) << i;
  }
  for (const auto& [line, trust] : answer.trust.by_text_line) {
    EXPECT_EQ(trust.confidence, Confidence::exact) << line << ": " << trust.reason;
  }
}

TEST_P(OracleOf, AtomicsOfSharedMemoryAreWhatTheMachineMakesOfThem) {
  const Recorded recorded(GetParam());
  const auto answer = recorded.about("shared_atomics");
  const auto sums = recorded.lines("shared_atomics", "atom.shared.add.f32");
  const auto counts = recorded.lines("shared_atomics", "atom.shared.add.u32");
  ASSERT_EQ(sums.size(), 1u);
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(plan_of(answer, sums[0]).role, Role::compare_and_swap);
  EXPECT_EQ(confidence_of(answer, sums[0]), Confidence::estimate);
  EXPECT_THAT(answer.trust.by_text_line.at(sums[0]).reason, HasSubstr("compare and swap"));
  const bool has_popc = GetParam() != std::string("sm_75");
  EXPECT_EQ(plan_of(answer, counts[0]).role, has_popc ? Role::one_for_all : Role::as_written);
  EXPECT_EQ(confidence_of(answer, counts[0]), Confidence::exact);
  EXPECT_THAT(answer.extras, IsEmpty()) << "the loads of the loop belong to the atomic";
}

/// The only atomic of `kernel`, by its PTX.
int atomic_of(const Recorded& recorded, const char* kernel, const std::string& ptx) {
  auto lines = recorded.lines(kernel, "atom." + ptx);
  for (const int line : recorded.lines(kernel, "red." + ptx)) lines.push_back(line);
  EXPECT_EQ(lines.size(), 1u) << kernel;
  return lines.empty() ? 0 : lines[0];
}

TEST_P(OracleOf, OneLaneForAllIsTheSameRequestOfGlobalMemory) {
  const Recorded recorded(GetParam());
  const int line = atomic_of(recorded, "one_counter", "global.add");
  const auto answer = recorded.about("one_counter");
  EXPECT_EQ(plan_of(answer, line).role, Role::as_written);
  EXPECT_EQ(confidence_of(answer, line), Confidence::exact);
}

TEST_P(OracleOf, OneLaneMakesOneWavefrontForAllInSharedMemory) {
  const Recorded recorded(GetParam());
  for (const std::string kernel : {"one_shared_counter", "one_shared_sum"}) {
    const int line = atomic_of(recorded, kernel.c_str(), "shared.add");
    const auto answer = recorded.about(kernel.c_str());
    // Without REDUX only full warps add up.
    const bool only_full = kernel == "one_shared_sum" && GetParam() == std::string("sm_75");
    EXPECT_EQ(plan_of(answer, line).role, only_full ? Role::as_written : Role::one_for_all);
    EXPECT_EQ(confidence_of(answer, line), only_full ? Confidence::estimate : Confidence::exact);
    const std::string reason = answer.trust.by_text_line.at(line).reason;
    EXPECT_THAT(reason, only_full ? HasSubstr("one lane") : HasSubstr(""));
  }
}

TEST_P(OracleOf, AnArrayThatBecameRegistersCountsNothing) {
  const Recorded recorded(GetParam());
  const auto answer = recorded.about("sine");
  int local = 0;
  for (const auto& [line, trust] : answer.trust.by_text_line) {
    EXPECT_EQ(trust.confidence, Confidence::exact) << line;
    const bool is_local = recorded.line(line).find(".local.") != std::string::npos;
    EXPECT_EQ(plan_of(answer, line).role, is_local ? Role::absorbed : Role::as_written) << line;
    local += is_local ? 1 : 0;
  }
  EXPECT_EQ(local, 5);
  EXPECT_THAT(answer.extras, IsEmpty());
}

TEST_P(OracleOf, SpillsExecuteWithTheAccessesBesideThem) {
  const Recorded recorded(GetParam());
  const auto answer = recorded.about("spills");
  EXPECT_THAT(answer.extras, IsEmpty());
  EXPECT_THAT(answer.trust.spills, Not(IsEmpty()));
  for (const KernelTrust::Spill& spill : answer.trust.spills) {
    EXPECT_THAT(recorded.line(spill.text_line), HasSubstr(".global."));
    EXPECT_EQ(spill.source.file, "/tmp/warpgauge/oracle.cu");
    EXPECT_GE(spill.width, 4);
  }
  for (const auto& [line, trust] : answer.trust.by_text_line) {
    EXPECT_EQ(trust.confidence, Confidence::exact) << "global accesses stay as they are";
  }
}

TEST_P(OracleOf, ALoadOfAPartCountsByItsWidth) {
  const Recorded recorded(GetParam());
  const auto loads = recorded.lines("narrowed", "ld.global.nc.v4.f32");
  ASSERT_EQ(loads.size(), 1u);
  const auto answer = recorded.about("narrowed");
  EXPECT_EQ(confidence_of(answer, loads[0]), Confidence::exact);
  EXPECT_EQ(plan_of(answer, loads[0]).role, Role::leader);
  EXPECT_EQ(plan_of(answer, loads[0]).width, 4);
}

TEST_P(OracleOf, WithoutMachineCodeTheSameIsForetold) {
  const Recorded recorded(GetParam());
  const auto known = recorded.about("wide_rows");
  const auto predicted = Oracle(recorded.module, "no machine code").about("wide_rows");
  EXPECT_EQ(predicted.trust.otherwise.confidence, Confidence::predicted);
  EXPECT_THAT(predicted.trust.otherwise.reason, HasSubstr("no machine code"));
  EXPECT_THAT(predicted.trust.by_text_line, IsEmpty());
  ASSERT_EQ(predicted.plans.entries.size(), known.plans.entries.size());
  for (std::size_t i = 0; i < known.plans.entries.size(); ++i) {
    EXPECT_EQ(predicted.plans.entries[i].text_line, known.plans.entries[i].text_line);
    EXPECT_EQ(predicted.plans.entries[i].plan.role, known.plans.entries[i].plan.role);
    EXPECT_EQ(predicted.plans.entries[i].plan.width, known.plans.entries[i].plan.width);
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, OracleOf, testing::Values("sm_75", "sm_90", "sm_120"),
                         [](const auto& suite) { return std::string(suite.param); });

/// Why `recorded` cannot be compared; "" if it can.
std::string refusal(const Recorded& recorded, const char* kernel = "columns") {
  const auto answer = recorded.about(kernel);
  return answer.trust.by_text_line.empty() ? answer.trust.otherwise.reason : "";
}

TEST(Oracle, RefusesMachineCodeOfOtherPtx) {
  Recorded recorded("sm_90");
  ASSERT_EQ(refusal(recorded), "");
  recorded.ptx.replace(recorded.ptx.find("ld.shared.f32"), 13, "ld.shared.b32");
  EXPECT_THAT(refusal(recorded), HasSubstr("the machine code was made from other PTX: its line "));
  recorded.ptx = oracle_ptx("sm_120");
  EXPECT_THAT(refusal(recorded), HasSubstr("the machine code was made from other PTX: its line "));
  recorded = Recorded("sm_90");
  recorded.ptx += "\nret;";
  EXPECT_THAT(refusal(recorded), HasSubstr("the machine code was made from other PTX"));
}

TEST(Oracle, ACommentMoreIsNotOtherPtx) {
  Recorded recorded("sm_90");
  recorded.ptx.insert(recorded.ptx.find(';') + 1, "  // nothing");
  EXPECT_EQ(refusal(recorded), "");
}

TEST(Oracle, RefusesWhatItDoesNotKnow) {
  Recorded recorded("sm_90");
  EXPECT_THAT(refusal(recorded, "no_such_kernel"), HasSubstr("lacks this kernel"));
  const auto begin = recorded.cubin.data();
  const auto section =
      metrics::Cubin(std::as_bytes(std::span(recorded.cubin))).section(".nv_debug_line_sass");
  recorded.cubin[reinterpret_cast<const char*>(section.data()) - begin + 4] = 9;
  EXPECT_THAT(refusal(recorded), HasSubstr("its version is 9"));
  constexpr std::size_t kAbiVersion = 8;  // of e_ident
  recorded.cubin[kAbiVersion] = 9;
  EXPECT_THAT(refusal(recorded), HasSubstr("has format 9, and is known here up to format 8"));
  recorded.cubin = recorded_text("line_table/no_lines_sm90.cubin");
  EXPECT_THAT(refusal(recorded), HasSubstr("compiled without -lineinfo"));
  recorded.cubin = "no cubin";
  EXPECT_THAT(refusal(recorded), HasSubstr("not a usable cubin"));
}

/// Machine code for the test of metrics::OrderOfThreads.
class OrderOf : public testing::TestWithParam<const char*> {
 protected:
  /// The trust in the accesses of `kernel` whose text begins like `text`.
  std::vector<metrics::Trust> trust(const char* kernel, const std::string& text) const {
    const OracleAnswer answer = recorded_.about(kernel);
    std::vector<metrics::Trust> trust;
    for (const int line : recorded_.lines(kernel, text)) trust.push_back(answer.trust.of(line));
    EXPECT_THAT(trust, Not(IsEmpty())) << kernel << ": " << text;
    return trust;
  }

  const Recorded recorded_ = Recorded::with_ptx(std::string("sass/order.") + GetParam() + ".cubin");
};

const metrics::Trust kExact{};

TEST_P(OrderOf, WhatTheOrderOfThreadsDecidesIsAnEstimateWithTheSource) {
  const auto stores = trust("one_atomic_a_block", "st.global");
  EXPECT_THAT(stores, Each(Field(&metrics::Trust::confidence, Confidence::estimate)));
  EXPECT_THAT(stores, Each(Field(&metrics::Trust::reason,
                                 HasSubstr(" at order.cu:111 decides what this accesses"))));
  EXPECT_THAT(trust("spin", "ld.volatile"),
              Each(Field(&metrics::Trust::reason, HasSubstr("decides whether this executes"))));
  EXPECT_THAT(trust("spin_in_shared", "ld.volatile"),
              Each(Field(&metrics::Trust::confidence, Confidence::estimate)));
}

TEST_P(OrderOf, WhatDidNotExecuteNowMayAnotherTime) {
  const auto uncounted = [&](const char* kernel) {
    std::vector<int> lines;
    for (const auto& entry : recorded_.about(kernel).trust.uncounted) {
      EXPECT_EQ(entry.group, "global");
      EXPECT_EQ(entry.trust.confidence, Confidence::estimate);
      lines.push_back(entry.source.line);
    }
    std::ranges::sort(lines);
    return lines;
  };
  EXPECT_THAT(uncounted("last_block"), ElementsAre(46, 48)) << "the sum of all, and its store";
  EXPECT_THAT(uncounted("compaction"), IsEmpty()) << "a place, not whether";
}

TEST_P(OrderOf, TheRestOfSuchAKernelIsExact) {
  EXPECT_THAT(trust("one_atomic_a_block", "ld.global"), Each(kExact));
  EXPECT_THAT(trust("spin", "st.global"), Each(kExact));
  EXPECT_THAT(trust("histogram", "ld.global"), Each(kExact));
}

TEST(Oracle, WhatApproximateFunctionsDecideIsExactWhereTheirValuesWereSeen) {
  const auto trust = [](const std::string& architecture) {
    const auto recorded = Recorded::with_ptx("sass/approximation." + architecture + ".cubin");
    const auto loads = recorded.lines("looked_up", "ld.global");
    EXPECT_EQ(loads.size(), 2u);
    return recorded.about("looked_up").trust.of(loads.back());
  };
  EXPECT_EQ(trust("sm_90"), kExact);
  EXPECT_EQ(trust("sm_80").confidence, Confidence::estimate);
  EXPECT_THAT(trust("sm_80").reason, HasSubstr("its values are known for sm_90 only"));
}

class OracleOfWmma : public testing::Test {
 protected:
  /// The trust in the accesses of `kernel` whose text begins like `text`.
  std::vector<metrics::Trust> trust(const char* kernel, const std::string& text) const {
    const OracleAnswer answer = recorded_.about(kernel);
    std::vector<metrics::Trust> trust;
    for (const int line : recorded_.lines(kernel, text)) {
      EXPECT_EQ(plan_of(answer, line).role, Role::as_written) << recorded_.line(line);
      trust.push_back(answer.trust.of(line));
    }
    EXPECT_THAT(trust, Not(IsEmpty())) << kernel << ": " << text;
    return trust;
  }
  /// Parses the PTX once more, with something else in place of all `from`.
  void parse_with(const std::string& from, const std::string& to) {
    std::string text = recorded_.ptx;
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
    recorded_.module = ptx::parse(text, "other.ptx");
  }

  Recorded recorded_ = Recorded::with_ptx("oracle/wmma.sm_90.cubin");
};

auto estimate_because(const char* reason) {
  return Each(AllOf(Field(&metrics::Trust::confidence, Confidence::estimate),
                    Field(&metrics::Trust::reason, HasSubstr(reason))));
}

// Four LDG, one LDSM, four STG.
TEST_F(OracleOfWmma, IsExactWhereTheMachineCodeHasWhatCounts) {
  EXPECT_THAT(recorded_.about("tile").extras, IsEmpty());
  EXPECT_THAT(trust("tile", "wmma."), ElementsAre(kExact, kExact, kExact));
  EXPECT_THAT(trust("tile", "st.shared"), Each(kExact));
}

// Seven copies of each load, which warps that do not divide come to.
TEST_F(OracleOfWmma, IsExactInUnrolledLoops) {
  EXPECT_THAT(trust("row_of_tiles", "wmma."), ElementsAre(kExact, kExact, kExact));
}

TEST_F(OracleOfWmma, IsAnEstimateWherePtxasTookItOutOfALoop) {
  EXPECT_THAT(trust("same_tile", "wmma.load.a"), estimate_because("out of the loop"));
  EXPECT_THAT(trust("same_tile", "wmma.store"), Each(kExact));
}

// Two LDG.64 of four.
TEST_F(OracleOfWmma, IsAnEstimateWherePtxasRemovedAPart) {
  EXPECT_THAT(trust("part_of_a_tile", "wmma.load.c"), estimate_because("has other accesses"));
}

// The same number of accesses could be more copies of fewer.
TEST_F(OracleOfWmma, IsAnEstimateInUnrolledLoopsWhereARegisterIsNotRead) {
  parse_with(", {%r7, %r8, ", ", {%r8, %r8, ");
  EXPECT_THAT(trust("row_of_tiles", "wmma.load.a"), estimate_because("has other accesses"));
  EXPECT_THAT(trust("row_of_tiles", "wmma.store"), Each(kExact));
}

TEST_F(OracleOfWmma, IsAnEstimateBehindAPredicate) {
  EXPECT_THAT(trust("tile_or_ones", "wmma.load.a"), estimate_because("a condition decides"));
  EXPECT_THAT(trust("tile_or_ones", "wmma.store"), Each(kExact));
}

TEST_F(OracleOfWmma, LoadsRowsOfMatricesFromSharedMemoryOnly) {
  EXPECT_THAT(trust("tile_from_either", "wmma.load.a.sync.aligned.row.m16n16k16.f16"),
              Each(kExact));
  parse_with("wmma.load.b.sync.aligned.row.m16n16k16.shared",
             "wmma.load.b.sync.aligned.row.m16n16k16");
  EXPECT_THAT(trust("tile", "wmma.load.b"), estimate_because("has other accesses"));
}

TEST_F(OracleOfWmma, IsAnEstimateInFormsThatAreNotEmulated) {
  parse_with("m16n16k16.global.f16", "m16n16k8.global.f16");
  EXPECT_THAT(trust("tile", "wmma.load.a"), estimate_because("has other accesses"));
}

TEST_F(OracleOfWmma, IsAnEstimateOnOtherArchitectures) {
  recorded_ = Recorded::with_ptx("oracle/wmma.sm_80.cubin");
  EXPECT_THAT(trust("tile", "wmma."), estimate_because("for sm_90"));
  EXPECT_THAT(trust("tile", "st.shared"), Each(kExact));
}

TEST_P(OrderOf, ALoopOfCompareAndSwapKeepsItsOwnReason) {
  EXPECT_THAT(trust("swap_until_done", "atom.shared"),
              Each(Field(&metrics::Trust::reason, HasSubstr("repeats a compare and swap"))));
}

INSTANTIATE_TEST_SUITE_P(Recorded, OrderOf, testing::Values("sm_75", "sm_90", "sm_120"),
                         [](const auto& suite) { return std::string(suite.param); });

}  // namespace
}  // namespace warpgauge::emulator::counting::oracle_test
