// Coverage of lines and branches: PTX with line tables, run on the machine.
#include "harness/emulator/counting/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/emulator/ptx/module.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::counting::coverage_test {
namespace {

using metrics::BranchHits;
using metrics::BranchPlace;
using metrics::FunctionHits;
using metrics::LineHits;
using testing::ElementsAre;
using testing::Pair;

constexpr std::string_view kFiles =
    "\n.file 1 \"a.cu\"\n.file 2 \"/usr/local/cuda/bin/../targets/x86_64-linux/include/fp16.hpp\"\n"
    ".section .debug_str { $L: .b8 0 }\n";

/// The coverage of two blocks of one warp each.
metrics::FileCoverage covered(const std::string& body, bool faults = false) {
  const std::string text = machine::kernel_text("\n.loc 1 10 1\n" + body) + std::string(kFiles);
  metrics::Coverage coverage;
  add_code(coverage, ptx::parse(text, "test.ptx"));
  machine::LoadedKernel kernel(text, {.grid = {2, 1, 1}});
  std::vector<machine::FunctionHits> hits;
  machine::Launch launch = kernel.launch();
  launch.hits = &hits;
  if (faults) {
    EXPECT_THROW(kernel.run(launch), machine::Fault);
  } else {
    kernel.run(launch);
  }
  add_launch(coverage, hits);
  EXPECT_THAT(coverage, ElementsAre(Pair("a.cu", testing::_)));
  return coverage["a.cu"];
}

TEST(Coverage, ASideThatIsNeverTakenHasZeros) {
  const auto file = covered(R"(
    setp.lt.u32 %p1, %r0, 32;
    .loc 1 11 5
    @%p1 bra A;
    .loc 1 12 1
    st.global.u32 [%rd1], 1;
  A:
    .loc 1 13 1
    ret;
  )");
  EXPECT_THAT(file.lines, ElementsAre(Pair(10, LineHits{2, 64}), Pair(11, LineHits{2, 64}),
                                      Pair(12, LineHits{0, 0}), Pair(13, LineHits{2, 64})));
  EXPECT_THAT(file.branches, ElementsAre(Pair(BranchPlace{11, 5, false}, BranchHits{2, 0})));
  EXPECT_THAT(file.functions, ElementsAre(Pair("k", FunctionHits{10, 2})));
}

TEST(Coverage, ADividedWarpTakesBothSidesWithHalfOfItsLanes) {
  const auto file = covered(R"(
    setp.lt.u32 %p1, %r0, 16;
    @%p1 bra A;
    .loc 1 12 1
    st.global.u32 [%rd1], 1;
  A:
    .loc 1 13 1
    ret;
  )");
  EXPECT_EQ(file.lines.at(12), (LineHits{2, 32}));
  EXPECT_EQ(file.lines.at(13), (LineHits{2, 64}));
  EXPECT_THAT(file.branches, ElementsAre(Pair(BranchPlace{10, 1, false}, BranchHits{2, 2})));
}

TEST(Coverage, ALaunchThatFaultsIsCoveredUpToTheFault) {
  const auto file = covered(R"(
    mov.u64 %rd3, 8;
    .loc 1 11 1
    ld.global.u32 %r4, [%rd3];
    .loc 1 12 1
    st.global.u32 [%rd1], %r4;
    ret;
  )",
                            true);
  EXPECT_GE(file.lines.at(11).warps, 1U);  // the other block may not have begun
  EXPECT_EQ(file.lines.at(12), (LineHits{0, 0}));
}

TEST(Coverage, CopiesOfAnInlinedFunctionAddUpAndInstructionsOfOneCopyDoNot) {
  const auto file = covered(R"(
    .loc 1 20 3, function_name $L, inlined_at 1 11 5
    mov.u32 %r4, 1;
    add.u32 %r4, %r4, 1;
    .loc 1 20 3, function_name $L, inlined_at 1 12 5
    mov.u32 %r4, 1;
    .loc 1 13 1
    ret;
  )");
  EXPECT_EQ(file.lines.at(20), (LineHits{4, 128}));
}

TEST(Coverage, AFunctionBeginsAtTheCallOfWhatIsInlinedFromAbove) {
  const auto file = covered(R"(
    .loc 1 5 3, function_name $L, inlined_at 1 10 1
    mov.u32 %r4, 1;
    .loc 1 13 1
    ret;
  )");
  EXPECT_EQ(file.lines.at(5), (LineHits{2, 64}));
  EXPECT_THAT(file.functions, ElementsAre(Pair("k", FunctionHits{10, 2})));
}

TEST(Coverage, LoopsHaveABranchOfTheirOwnAndToolkitHeadersHaveNone) {
  const auto file = covered(R"(
    mov.u32 %r4, 0;
    .loc 1 11 3
  LOOP:
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 3;
    @%p1 bra LOOP;
    .loc 2 99 1, function_name $L, inlined_at 1 12 5
    @%p1 bra END;
  END:
    .loc 1 13 1
    ret;
  )");
  EXPECT_EQ(file.lines.at(11), (LineHits{6, 192}));
  EXPECT_EQ(file.lines.at(12), (LineHits{2, 64}));
  EXPECT_THAT(file.branches, ElementsAre(Pair(BranchPlace{11, 3, true}, BranchHits{4, 2})));
}

}  // namespace
}  // namespace warpgauge::emulator::counting::coverage_test
