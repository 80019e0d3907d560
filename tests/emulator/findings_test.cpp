// The findings of a launch: which of several at the same places is kept.
#include "harness/emulator/machine/checks/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::checks::findings_test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

/// Findings of the kernel k, in a grid of 10 blocks with 32 threads each.
class FindingsTest : public testing::Test {
 protected:
  FindingsTest() {
    code_.module = &module_;
    code_.function = module_.find("k");
    kernel_.display = "k";
  }

  void report(std::uint64_t block, std::uint32_t thread, const char* rule = "race",
              const std::string& other = "f.cu:1", std::uint32_t instruction = 0) {
    findings_.report({&code_, instruction, thread, block}, rule, other, "what");
  }
  std::vector<std::string> texts() {
    std::vector<std::string> texts;
    for (const Finding& finding : findings_.take(Checks{.races = true}))
      texts.push_back(finding.text);
    return texts;
  }

 private:
  const ptx::Module module_ = ptx::parse(kernel_text(""), "test.ptx");
  Code code_;
  KernelCode kernel_;
  const Launch launch_{.grid = {10, 1, 1}, .block = {32, 1, 1}};
  memory::Memory memory_;
  Findings findings_{kernel_, launch_, memory_};
};

TEST_F(FindingsTest, TheOneOfTheLowestBlockIsKept) {
  for (const std::uint64_t block : {7, 3, 5}) report(block, 1);
  EXPECT_THAT(
      texts(),
      ElementsAre("kernel k, block (3,0,0), thread (1,0,0) (warp 0, lane 1), k, PTX line 7: "
                  "race: what"));
}

TEST_F(FindingsTest, OfOneBlockTheFirstIsKept) {
  for (const std::uint32_t thread : {7, 3, 5}) report(2, thread);
  EXPECT_THAT(texts(), ElementsAre(testing::HasSubstr("block (2,0,0), thread (7,0,0)")));
}

TEST_F(FindingsTest, ThoseOfOtherRulesAndPlacesAreKept) {
  report(0, 0);
  report(0, 0, "barrier");
  report(0, 0, "race", "f.cu:2");
  report(0, 0, "race", "f.cu:1", 1);
  EXPECT_THAT(texts(), SizeIs(4));
}

TEST_F(FindingsTest, TheWorstRulesComeFirst) {
  for (const char* const rule : {"barrier", "lane race", "race"}) report(0, 0, rule);
  EXPECT_THAT(texts(),
              ElementsAre(testing::HasSubstr(": race: "), testing::HasSubstr(": lane race: "),
                          testing::HasSubstr(": barrier: ")));
}

TEST_F(FindingsTest, BreakARuleOfTheTable) {
  EXPECT_THROW(report(0, 0, "races"), std::logic_error);
  EXPECT_THAT(texts(), SizeIs(0));
}

TEST_F(FindingsTest, TakenOnesAreGone) {
  report(0, 0);
  EXPECT_THAT(texts(), SizeIs(1));
  EXPECT_THAT(texts(), SizeIs(0));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::checks::findings_test
