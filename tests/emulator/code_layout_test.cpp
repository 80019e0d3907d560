// The order of basic blocks, and that lanes meet in code whose text is in another one.
#include "harness/emulator/machine/decode/code_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/emulator/kernel_run.h"
#include "tests/emulator/ptx_text.h"

namespace warpgauge::emulator::machine::decode::code_layout_test {
namespace {

using Order = std::vector<int>;

TEST(BlockOrder, KeepsWhatIsInOrder) {
  EXPECT_EQ(block_order({{}}), Order({0}));
  EXPECT_EQ(block_order({{2, 1}, {3}, {3}, {}}), Order({0, 1, 2, 3}));             // if, else
  EXPECT_EQ(block_order({{1}, {1, 2}, {}}), Order({0, 1, 2}));                     // a loop
  EXPECT_EQ(block_order({{1}, {4, 2}, {2, 3}, {1}, {}}), Order({0, 1, 2, 3, 4}));  // in another
}

TEST(BlockOrder, PutsAJoinBehindAllThatLeadsToIt) {
  // 0 -> {1, 3}, 1 -> 2, 3 -> 1: block 3 stands at the end of the text and comes back.
  EXPECT_EQ(block_order({{3, 1}, {2}, {}, {1}}), Order({0, 3, 1, 2}));
}

TEST(BlockOrder, KeepsLoopsInOnePiece) {
  // 1 is the head of a loop, 2 what follows it, 3 the body, which stands behind.
  EXPECT_EQ(block_order({{1}, {3, 2}, {}, {1}}), Order({0, 1, 3, 2}));
  // Two loops, one in the other, their bodies mixed with what follows.
  EXPECT_EQ(block_order({{1}, {4, 2}, {}, {1}, {5, 3}, {4}}), Order({0, 1, 4, 5, 3, 2}));
}

TEST(BlockOrder, BeginsALoopWhereItIsEntered) {
  EXPECT_EQ(block_order({{2}, {2}, {1, 3}, {}}), Order({0, 2, 1, 3}));
}

TEST(BlockOrder, TakesLoopsWithTwoEntriesAndBlocksOutOfReach) {
  const Order order = block_order({{2, 1}, {2, 4}, {1}, {4}, {}});
  EXPECT_EQ(order, Order({0, 1, 2, 4, 3}));
}

TEST(BlockOrder, ABranchToTheStartIsALoop) {
  EXPECT_EQ(block_order({{2, 1}, {0}, {}}), Order({0, 1, 2}));
}

TEST(BlockGraph, OfBranchesLabelsAndExits) {
  const BlockGraph graph = block_graph(ptx::parse_body(R"(
    .reg .pred %p; .reg .u32 %r;
  list: .branchtargets A, B;
    @%p bra B;
  A:
    mov.u32 %r, 0;
    @%p exit;
    brx.idx %r, list;
  B:
    ret;
  )"));
  EXPECT_EQ(graph.begin, std::vector<std::size_t>({0, 1, 4, 5}));
  EXPECT_EQ(graph.successors, (std::vector<Order>{{2, 1}, {1, 2}, {}, {}}));
  EXPECT_EQ(graph.falls_through, std::vector<bool>({true, false, false, false}));
}

TEST(CodeLayout, LanesMeetBehindABlockAtTheEndOfTheText) {
  const KernelRun run = run_body(R"(
    and.b32 %r3, %r0, 3;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra RARE;
    mov.u32 %r4, 1;
  BACK:
    add.u32 %r4, %r4, %r0;
    st.global.u32 [%rd1], %r4;
    ret;
  RARE:
    mov.u32 %r4, 1000;
    bra.uni BACK;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return (n % 4 == 0 ? 1000 : 1) + n; }));
  EXPECT_EQ(stores(run.outcome), 1u);
  // The jumps that the layout needs are not counted: 3 in front, 1 + 2 at the sides, 3 behind.
  EXPECT_EQ(run.outcome.warp_instructions, kPrologue + 3 + 1 + 2 + 3);
}

TEST(CodeLayout, LanesMeetBehindALoopWhoseBodyStandsElsewhere) {
  const KernelRun run = run_body(R"(
    mov.u32 %r3, 0;
    mov.u32 %r4, 0;
  HEAD:
    setp.lt.u32 %p1, %r3, %r0;
    @%p1 bra BODY;
    st.global.u32 [%rd1], %r4;
    ret;
  BODY:
    add.u32 %r4, %r4, %r3;
    add.u32 %r3, %r3, 1;
    bra.uni HEAD;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return n * (n - 1) / 2; }));
  EXPECT_EQ(stores(run.outcome), 1u);
  EXPECT_EQ(run.outcome.warp_instructions, kPrologue + 2 + 32 * 2 + 31 * 3 + 2);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::decode::code_layout_test
