// The control flow of machine code that is put together here, instruction by instruction.
#include "metrics/machine_code/sass_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace warpgauge::metrics::sass_flow_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// An instruction of the tests' code: a branch has a target, which is an index.
struct Written {
  enum Kind { kAdd, kExit, kBranch } kind;
  bool guarded = false;
  std::size_t target = 0;
};

constexpr Written kAdd{Written::kAdd};
constexpr Written kEnd{Written::kExit};
constexpr Written kEndIf{Written::kExit, true};

constexpr Written go(std::size_t target) { return {Written::kBranch, false, target}; }
constexpr Written go_if(std::size_t target) { return {Written::kBranch, true, target}; }

SassWord encoded(const Written& written, std::size_t index, int sm) {
  constexpr std::uint64_t kTrue = std::uint64_t{7} << 23;
  const std::uint64_t opcode = written.kind == Written::kAdd    ? 0x810
                               : written.kind == Written::kExit ? 0x94d
                                                                : 0x947;
  SassWord word{.pc = index * SassWord::kBytes,
                .low = opcode | (written.guarded ? 0 : SassWord::kAlways) << 12,
                .high = kTrue};
  if (written.kind != Written::kBranch) return word;
  // The distance from the next instruction, in units of 4 bytes.
  const std::int64_t distance =
      (static_cast<std::int64_t>(written.target) - static_cast<std::int64_t>(index) - 1) * 4;
  const auto field = static_cast<std::uint64_t>(sm < 90 ? distance : distance >> 8);
  if (sm >= 90) word.low |= (static_cast<std::uint64_t>(distance) & 0xff) << 16;
  word.low |= field << 34;
  word.high |= field >> 30 & 0x3ffff;
  return word;
}

class FlowOf : public testing::TestWithParam<int> {
 protected:
  static SassFlow flow(const std::vector<Written>& code) {
    std::vector<SassWord> words;
    for (const Written& instruction : code)
      words.push_back(encoded(instruction, words.size(), GetParam()));
    return {words, GetParam()};
  }
};

TEST_P(FlowOf, BothSidesOfABranchAreDecidedByIt) {
  const SassFlow found = flow({go_if(3), kAdd, go(4), kAdd, kEnd});
  ASSERT_EQ(found.blocks().size(), 4u);
  EXPECT_THAT(found.blocks()[0].next, ElementsAre(1, 2));
  EXPECT_THAT(found.blocks()[1].next, ElementsAre(3)) << "nothing falls through BRA";
  EXPECT_THAT(found.blocks()[2].next, ElementsAre(3));
  EXPECT_TRUE(found.blocks()[3].leaves);
  EXPECT_THAT(found.graph().decided_by(0), UnorderedElementsAre(1, 2));
  EXPECT_THAT(found.graph().decided_by(1), IsEmpty());
}

TEST_P(FlowOf, AnIndexedBranchGoesToItsTargets) {
  std::vector<SassWord> code;
  for (const Written& instruction : {kAdd, kAdd, kEnd, kEnd, kEnd}) {
    code.push_back(encoded(instruction, code.size(), GetParam()));
  }
  code[1].low = 0x949 | SassWord::kAlways << 12;
  EXPECT_EQ(SassFlow(code, GetParam()).blocks()[0].next.size(), 4u) << "to any block";
  const SassFlow known(code, GetParam(), {{16, {32, 64}}});
  ASSERT_EQ(known.blocks().size(), 4u);
  EXPECT_THAT(known.blocks()[0].next, ElementsAre(1, 3));
}

TEST_P(FlowOf, ACallThatIsSteppedOverEndsNoBlockOfTheGraph) {
  std::vector<SassWord> code;
  for (const Written& instruction : {go(3), kAdd, kEnd, kAdd, kEnd}) {
    code.push_back(encoded(instruction, code.size(), GetParam()));
  }
  code[0].low = (code[0].low & ~std::uint64_t{0x1ff}) | 0x144;  // CALL
  EXPECT_THAT(SassFlow(code, GetParam()).blocks()[0].next, ElementsAre(1, 2));
  const SassFlow flow(code, GetParam(), {}, Calls::stepped_over);
  EXPECT_THAT(flow.blocks()[0].next, ElementsAre(1));
  EXPECT_TRUE(flow.blocks()[1].leaves);
}

TEST(Gatherings, BeginAndEndHaveOneBarrier) {
  const auto word = [](std::uint64_t pc, std::uint64_t low) { return SassWord{pc, low, 0}; };
  constexpr std::uint64_t kDistance = std::uint64_t{8} << 34;  // two instructions on
  const auto found = [&](std::uint64_t barrier) {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (const Gathering& gathering : gatherings(std::vector{
             word(0, 0x7945 | kDistance), word(16, 0x7918), word(32, 0x7941 | barrier << 16)})) {
      pairs.emplace_back(gathering.begin, gathering.end);
    }
    return pairs;
  };
  EXPECT_THAT(found(0), ElementsAre(std::pair<std::size_t, std::size_t>(0, 2)));
  EXPECT_THAT(found(1), IsEmpty());
}

TEST_P(FlowOf, ALoopDecidesHowOftenItRuns) {
  const SassFlow found = flow({kAdd, kAdd, go_if(1), kEnd});
  ASSERT_EQ(found.blocks().size(), 3u);
  EXPECT_THAT(found.blocks()[1].next, ElementsAre(1, 2));
  EXPECT_THAT(found.graph().decided_by(1), ElementsAre(1));
}

TEST_P(FlowOf, AnEarlyExitDecidesWhatIsBehindIt) {
  const SassFlow found = flow({kEndIf, kAdd, kEnd});
  ASSERT_EQ(found.blocks().size(), 2u);
  EXPECT_TRUE(found.blocks()[0].leaves);
  EXPECT_THAT(found.graph().decided_by(0), ElementsAre(1));
}

TEST_P(FlowOf, ABranchToItselfIsTheEndOfTheCode) {
  const SassFlow found = flow({kEnd, go(1)});
  ASSERT_EQ(found.blocks().size(), 2u);
  EXPECT_TRUE(found.blocks()[1].leaves);
}

TEST_P(FlowOf, ALoopWithTwoBeginningsAndTwoEndsMeetsAtTheEndOnly) {
  const SassFlow found = flow({go_if(2), go_if(4), go_if(1), kEnd, kEnd});
  ASSERT_EQ(found.blocks().size(), 5u);
  EXPECT_THAT(found.graph().decided_by(1), UnorderedElementsAre(1, 2, 3, 4));
  EXPECT_THAT(found.graph().decided_by(2), UnorderedElementsAre(1, 2, 3, 4));
}

TEST_P(FlowOf, ATargetFarAwayIsFound) {
  std::vector<Written> code(5000, kAdd);
  code.front() = go_if(4998);
  code[4998] = go_if(1);
  code.back() = kEnd;
  const SassFlow found = flow(code);
  ASSERT_EQ(found.blocks().size(), 4u);
  EXPECT_EQ(found.blocks()[2].begin, 4998u);
  EXPECT_THAT(found.blocks()[0].next, ElementsAre(1, 2));
  EXPECT_THAT(found.blocks()[2].next, ElementsAre(1, 3));
}

INSTANTIATE_TEST_SUITE_P(Encodings, FlowOf, testing::Values(75, 90),
                         [](const auto& info) { return "sm_" + std::to_string(info.param); });

TEST(Flow, ABranchToWhatARegisterSaysMayGoAnywhere) {
  for (const std::uint64_t opcode : {0x949, 0x94a, 0x94c, 0x958, 0x959}) {  // BRX JMP JMX BRXU JMXU
    std::vector<SassWord> words;
    for (const Written& instruction : {go_if(2), kAdd, kAdd, kEnd}) {
      words.push_back(encoded(instruction, words.size(), 90));
    }
    words[2].low = opcode | SassWord::kAlways << 12;
    const SassFlow found(words, 90);
    ASSERT_EQ(found.blocks().size(), 4u) << opcode;
    EXPECT_THAT(found.blocks()[2].next, ElementsAre(0, 1, 2, 3)) << opcode;
    EXPECT_THAT(found.blocks()[1].next, ElementsAre(2)) << opcode;
  }
}

}  // namespace
}  // namespace warpgauge::metrics::sass_flow_test
