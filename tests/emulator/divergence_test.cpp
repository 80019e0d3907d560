// Lanes that part and meet again: results, where they meet (seen by how often instructions are
// executed), polling loops.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::divergence_test {
namespace {

TEST(Divergence, BothSidesOfABranchMeetBehindIt) {
  const KernelRun run = run_body(R"(
    and.b32 %r3, %r0, 1;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra EVEN;
    mov.u32 %r4, 100;
    bra.uni MEET;
  EVEN:
    mov.u32 %r4, 200;
  MEET:
    add.u32 %r4, %r4, %r0;
    st.global.u32 [%rd1], %r4;
    ret;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return (n % 2 == 0 ? 200 : 100) + n; }));
  EXPECT_EQ(stores(run.outcome), 1u);
  EXPECT_EQ(divergent(run.outcome), 1u);
  // 3 in front, 2 on one side, 1 on the other, 3 behind.
  EXPECT_EQ(run.outcome.warp_instructions, kPrologue + 3 + 2 + 1 + 3);
}

TEST(Divergence, ABranchThatAllTakeOrNoneIsNoDivergence) {
  const KernelRun run = run_body(R"(
    setp.lt.u32 %p1, %r0, 32;
    @%p1 bra A;
    trap;
  A:
    @!%p1 bra B;
    st.global.u32 [%rd1], 7;
  B:
    ret;
  )");
  EXPECT_EQ(divergent(run.outcome), 0u);
  EXPECT_EQ(run.output, words(32, [](auto) { return 7; }));
}

TEST(Divergence, AWatchedBranchTellsHowOftenWarpsCameAndTookIt) {
  const std::string text = kernel_text(R"(
    setp.gt.u32 %p1, %r0, 31;
    @%p1 bra FAR;
    @!%p1 bra NEAR;
    trap;
  NEAR:
    @!%p1 bra FAR;
  FAR:
    ret;
  )");
  const auto line_of = [&](const char* branch) {
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + text.find(branch), '\n'));
  };
  const int always = line_of("@!%p1 bra NEAR"), never = line_of("@%p1 bra FAR");
  const LaunchOutcome taken = run_kernel(text, {.watched = always}).outcome;
  ASSERT_EQ(taken.branches.size(), 1u) << "the others are not watched";
  EXPECT_EQ(taken.branches[0].text_line, always);
  EXPECT_EQ(taken.branches[0].warps, 1u);
  EXPECT_EQ(taken.branches[0].taken, 1u);
  EXPECT_EQ(taken.branches[0].divided, 0u);
  const LaunchOutcome untaken = run_kernel(text, {.watched = never}).outcome;
  ASSERT_EQ(untaken.branches.size(), 1u);
  EXPECT_EQ(untaken.branches[0].warps, 1u);
  EXPECT_EQ(untaken.branches[0].taken, 0u);
}

/// The branch in a block of 44 threads, whose second warp has 12 lanes. Lanes below 20 take
/// it.
BranchTotals watched_by_groups(std::string_view between) {
  const std::string text = kernel_text(fmt::format(R"(
    and.b32 %r3, %r0, 31;
    setp.lt.u32 %p1, %r3, 20;
    {}
    @%p1 bra NEAR;
    st.global.u32 [%rd1], 7;
  NEAR:
    ret;
  )",
                                                   between));
  const auto before = text.begin() + static_cast<std::ptrdiff_t>(text.find("@%p1 bra NEAR"));
  const int line = 1 + static_cast<int>(std::count(text.begin(), before, '\n'));
  const LaunchOutcome outcome = run_kernel(text, {.block = {44, 1, 1}, .watched = line}).outcome;
  EXPECT_EQ(outcome.lane_groups, 6u);
  EXPECT_EQ(outcome.branches.size(), 1u);
  return outcome.branches.at(0);
}

TEST(Divergence, AWatchedBranchTellsHowManyGroupsOfLanesWentEachWay) {
  // Behind arithmetic, which may be compiled, and behind an instruction that is not.
  for (const char* const between : {"add.u32 %r4, %r3, 1;", "nanosleep.u32 1;"}) {
    const BranchTotals ways = watched_by_groups(between);
    EXPECT_EQ(ways.warps, 2u);
    EXPECT_EQ(ways.taken, 2u);
    EXPECT_EQ(ways.divided, 1u);
    EXPECT_EQ(ways.lane_groups, 4u + 2u);
    EXPECT_EQ(ways.taken_groups, 3u + 2u) << "lanes 0 to 19 and 0 to 11";
    EXPECT_EQ(ways.untaken_groups, 2u) << "lanes 20 to 31";
  }
}

TEST(Divergence, LoopsOfDifferentLengthsMeetAtTheirEnd) {
  const KernelRun run = run_body(R"(
    mov.u32 %r3, 0;
    mov.u32 %r4, 0;
  LOOP:
    add.u32 %r4, %r4, %r3;
    add.u32 %r3, %r3, 1;
    setp.le.u32 %p1, %r3, %r0;
    @%p1 bra LOOP;
    st.global.u32 [%rd1], %r4;
    ret;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return n * (n + 1) / 2; }));
  EXPECT_EQ(stores(run.outcome), 1u);
  EXPECT_EQ(divergent(run.outcome), 31u);  // in each round but the last one lane leaves
  EXPECT_EQ(run.outcome.warp_instructions, kPrologue + 2 + 32 * 4 + 2);
}

TEST(Divergence, NestedLoopsAndBranchesMeet) {
  const KernelRun run = run_body(R"(
    mov.u32 %r3, 0;
    mov.u32 %r10, 0;
  OUTER:
    and.b32 %r4, %r0, 3;
  INNER:
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra OUT;
    add.u32 %r10, %r10, 1;
    add.u32 %r4, %r4, -1;
    bra.uni INNER;
  OUT:
    and.b32 %r5, %r0, 16;
    setp.eq.u32 %p3, %r5, 0;
    @%p3 bra SKIP;
    add.u32 %r10, %r10, 100;
  SKIP:
    red.global.add.u32 [%rd0], 1;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p4, %r3, 5;
    @%p4 bra OUTER;
    setp.ne.u32 %p5, %r0, 0;
    @%p5 st.global.u32 [%rd1], %r10;
    ret;
  )");
  EXPECT_EQ(run.output[0], 5u * 32);
  for (std::uint32_t n = 1; n < 32; ++n) {
    EXPECT_EQ(run.output[n], 5 * (n % 4 + (n >= 16 ? 100 : 0))) << n;
  }
  // Together again in each of the five rounds.
  EXPECT_EQ(totals_of(run.outcome, AccessTotals::Space::global_atomic).requests, 5u);
  EXPECT_EQ(stores(run.outcome), 1u);
}

TEST(Divergence, LanesThatExitLeaveTheOthersTogether) {
  const KernelRun run = run_body(R"(
    and.b32 %r3, %r0, 3;
    setp.eq.u32 %p1, %r3, 1;
    @%p1 exit;
    setp.eq.u32 %p1, %r3, 2;
    @%p1 ret;
    st.global.u32 [%rd1], 5;
    ret;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return n % 4 == 1 || n % 4 == 2 ? 0 : 5; }));
  EXPECT_EQ(stores(run.outcome), 1u);
}

TEST(Divergence, TheEndOfTheBodyIsAnExit) {
  const KernelRun run = run_body("st.global.u32 [%rd1], 3;");
  EXPECT_EQ(run.output, words(32, [](auto) { return 3; }));
}

TEST(Divergence, BranchByIndex) {
  const std::string body = R"(
    .reg .u32 %index;
  targets: .branchtargets A, B, C;
    rem.u32 %index, %r0, SIZE;
    brx.idx %index, targets;
  A:
    mov.u32 %r4, 10;
    bra.uni MEET;
  B:
    mov.u32 %r4, 20;
    bra.uni MEET;
  C:
    mov.u32 %r4, 30;
  MEET:
    st.global.u32 [%rd1], %r4;
    ret;
  )";
  const auto with_size = [&](const char* size) {
    std::string text = body;
    return text.replace(text.find("SIZE"), 4, size);
  };
  const KernelRun run = run_body(with_size("3"));
  EXPECT_EQ(run.output, words(32, [](auto n) { return 10 * (n % 3 + 1); }));
  EXPECT_EQ(stores(run.outcome), 1u);
  EXPECT_EQ(divergent(run.outcome), 1u);
  EXPECT_EQ(divergent(run_body(with_size("1")).outcome), 0u);
  const auto fault = fault_of(kernel_text(with_size("4")));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::illegal_instruction);
}

/// The thread that has the lock counts, stores what it found, and lets the lock go.
const std::string kCountAndLeave = R"(
    ld.volatile.global.u32 %r4, [%rd5];
    add.u32 %r5, %r4, 1;
    st.volatile.global.u32 [%rd5], %r5;
    membar.gl;
    atom.global.exch.b32 %r6, [%rd4], 0;
    st.global.u32 [%rd1], %r4;
    ret;
)";

// The lane that has the lock is behind the loop, where lowest-place-first would not let it go on.
TEST(Divergence, SpinLockWithinAWarp) {
  const Shape shape{{4, 1, 1}, {96, 1, 1}};
  const std::string kBody = R"(
    mov.u64 %rd4, lock;
    mov.u64 %rd5, sum;
  SPIN:
    atom.global.cas.b32 %r3, [%rd4], 0, 1;
    setp.ne.u32 %p1, %r3, 0;
    @%p1 bra SPIN;
  )" + kCountAndLeave;
  const KernelRun run =
      run_kernel(kernel_text(kBody, ".global .u32 lock = 0; .global .u32 sum = 0;"), shape);
  Words tickets = run.output;
  std::sort(tickets.begin(), tickets.end());
  EXPECT_EQ(tickets, words(4 * 96, [](auto n) { return n; }));  // each value was seen once
}

// Three rounds after it, so that the branch is several steps behind the atomic.
TEST(Divergence, SpinLockWhoseHolderLeavesLater) {
  const std::string kBody = R"(
    mov.u64 %rd4, lock;
    mov.u64 %rd5, sum;
    mov.u32 %r10, 1;
    mov.u32 %r11, 1;
    mov.u32 %r12, 1;
  SPIN:
    setp.eq.u32 %p1, %r12, 0;
    @%p1 bra HELD;
    mov.u32 %r12, %r11;
    mov.u32 %r11, %r10;
    atom.global.cas.b32 %r10, [%rd4], 0, 1;
    bra SPIN;
  HELD:
  )" + kCountAndLeave;
  const KernelRun run =
      run_kernel(kernel_text(kBody, ".global .u32 lock = 0; .global .u32 sum = 0;"));
  Words tickets = run.output;
  std::sort(tickets.begin(), tickets.end());
  EXPECT_EQ(tickets, words(32, [](auto n) { return n; }));
}

TEST(Divergence, SpinLockWhoseHolderLeavesByAFlag) {
  constexpr std::string_view kBody = R"(
    mov.u64 %rd4, lock;
    mov.u64 %rd5, sum;
  SPIN:
    atom.global.cas.b32 %r3, [%rd4], 0, 1;
    setp.ne.u32 %p1, %r3, 0;
    mov.pred %p2, 0;
    @%p1 bra NEXT;
    ld.volatile.global.u32 %r4, [%rd5];
    add.u32 %r5, %r4, 1;
    st.volatile.global.u32 [%rd5], %r5;
    atom.global.exch.b32 %r6, [%rd4], 0;
    mov.pred %p2, -1;
  NEXT:
    @!%p2 bra SPIN;
    st.global.u32 [%rd1], %r4;
    ret;
  )";
  const KernelRun run =
      run_kernel(kernel_text(kBody, ".global .u32 lock = 0; .global .u32 sum = 0;"));
  EXPECT_EQ(run.output, words(32, [](auto n) { return n; }));
  EXPECT_EQ(stores(run.outcome), 32u + 1u);  // each lane's own, and one of all together
}

TEST(Divergence, LoopsOfAtomicsThatDoNotPollStayTogether) {
  // Lanes leave after different numbers of rounds, more than the scheduler's patience.
  const KernelRun run = run_body(R"(
    mov.u32 %r3, 0;
    mul.lo.u32 %r4, %r0, 10;
  LOOP:
    atom.global.add.u32 %r5, [%rd0], 1;
    add.u32 %r3, %r3, 1;
    setp.le.u32 %p1, %r3, %r4;
    @%p1 bra LOOP;
    setp.ne.u32 %p2, %r0, 0;
    @%p2 st.global.u32 [%rd1], %r3;
    ret;
  )");
  EXPECT_EQ(stores(run.outcome), 1u);
  EXPECT_EQ(run.output[31], 311u);
  EXPECT_EQ(run.output[0], 10u * (31 * 32 / 2) + 32);
}

TEST(Divergence, WarpsThatWaitForAFlagOfAnother) {
  const KernelRun run = run_body(R"(
    .shared .u32 flag;
    mov.u32 %r10, flag;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 st.shared.u32 [%r10], 0;
    bar.sync 0;
    setp.ge.u32 %p1, %r0, 64;
    @%p1 bra SET;
  WAIT:
    ld.volatile.shared.u32 %r3, [%r10];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra WAIT;
    st.global.u32 [%rd1], %r3;
    ret;
  SET:
    setp.eq.u32 %p3, %r0, 64;
    @%p3 st.volatile.shared.u32 [%r10], 42;
    ret;
  )",
                                 {{1, 1, 1}, {96, 1, 1}});
  EXPECT_EQ(run.output, words(96, [](auto n) { return n < 64 ? 42 : 0; }));
}

// Each block adds itself to a counter and waits until all have: as cooperative grids do. With one
// worker too the blocks have to make progress together, whether the launch says so or not.
TEST(Divergence, BlocksThatWaitForEachOther) {
  const std::string text = kernel_text(R"(
    mov.u64 %rd4, arrived;
    mov.u32 %r10, %nctaid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra MEET;
    atom.global.add.u32 %r3, [%rd4], 1;
  WAIT:
    ld.acquire.gpu.global.u32 %r4, [%rd4];
    setp.lt.u32 %p1, %r4, %r10;
    @%p1 bra WAIT;
  MEET:
    bar.sync 0;
    ld.volatile.global.u32 %r5, [%rd4];
    st.global.u32 [%rd1], %r5;
    ret;
  )",
                                       ".global .u32 arrived = 0;");
  for (const int threads : {1, 2}) {
    for (const bool cooperative : {true, false}) {
      Options options = limited();
      options.threads = threads;
      const KernelRun run = run_kernel(text, {{20, 1, 1}, {64, 1, 1}, 0, cooperative}, {}, options);
      EXPECT_EQ(run.output, words(20 * 64, [](auto) { return 20; })) << threads;
      EXPECT_EQ(stores(run.outcome), 40u);
    }
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::divergence_test
