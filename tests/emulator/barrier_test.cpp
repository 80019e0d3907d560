// Barriers of blocks and warps: waiting, votes, and deadlocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::barrier_test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Shape kFourWarps{{3, 1, 1}, {128, 1, 1}};

// Each thread reads what the thread opposite has written.
constexpr const char* kMirror = R"(
    .shared .align 4 .b32 s[128];
    mov.u32 %r10, s;
    shl.b32 %r11, %r0, 2;
    add.u32 %r12, %r10, %r11;
    st.shared.u32 [%r12], %r1;
    BARRIER;
    sub.u32 %r13, 508, %r11;
    add.u32 %r13, %r10, %r13;
    ld.shared.u32 %r14, [%r13];
    st.global.u32 [%rd1], %r14;
    ret;
  )";

std::string mirror(const std::string& barrier) {
  std::string text = kMirror;
  return text.replace(text.find("BARRIER"), 7, barrier);
}

TEST(Barrier, AllFormsMakeTheBlockMeet) {
  for (const char* const form :
       {"bar.sync 0", "bar.cta.sync 0", "barrier.sync 0", "barrier.cta.sync.aligned 3, 128",
        "barrier.sync.aligned 15", "bar.sync 1, 128"}) {
    const KernelRun run = run_body(mirror(form), kFourWarps);
    EXPECT_EQ(run.output, words(3 * 128, [](auto n) { return n / 128 * 128 + 127 - n % 128; }))
        << form;
    EXPECT_EQ(run.outcome.warp_instructions, 3 * 4 * (kPrologue + 10)) << form;
  }
}

TEST(Barrier, TheNumberMayBeInARegister) {
  const KernelRun run = run_body("mov.u32 %r40, 5;" + mirror("bar.sync %r40"), kFourWarps);
  EXPECT_EQ(run.output[0], 127u);
}

TEST(Barrier, LanesOfAWarpMayNameSeveral) {
  // The first halves of two warps meet, and so do the second ones. Each thread reads what the other
  // warp has written.
  const KernelRun run = run_body(R"(
    .shared .align 4 .b32 s[64];
    mov.u32 %r10, s;
    mad.lo.u32 %r11, %r0, 4, %r10;
    xor.b32 %r12, %r11, 128;
    st.shared.u32 [%r11], %r0;
    bfe.u32 %r13, %r0, 4, 1;
    add.u32 %r13, %r13, 1;
    barrier.sync %r13, 32;
    ld.shared.u32 %r14, [%r12];
    st.global.u32 [%rd1], %r14;
  )",
                                 {{1, 1, 1}, {64, 1, 1}});
  EXPECT_EQ(run.output, words(64, [](auto n) { return n ^ 32; }));
}

TEST(Barrier, IsUsedAgainAndAgain) {
  // Rotates the values of the block by one thread in each of 50 rounds.
  const KernelRun run = run_body(R"(
    .shared .align 4 .b32 s[128];
    mov.u32 %r10, s;
    shl.b32 %r11, %r0, 2;
    add.u32 %r12, %r10, %r11;
    add.u32 %r13, %r11, 4;
    and.b32 %r13, %r13, 511;
    add.u32 %r13, %r10, %r13;
    mov.u32 %r14, %r0;
    mov.u32 %r15, 0;
  LOOP:
    st.shared.u32 [%r12], %r14;
    bar.sync 0;
    ld.shared.u32 %r14, [%r13];
    bar.sync 0;
    add.u32 %r15, %r15, 1;
    setp.lt.u32 %p1, %r15, 50;
    @%p1 bra LOOP;
    st.global.u32 [%rd1], %r14;
    ret;
  )",
                                 kFourWarps);
  EXPECT_EQ(run.output, words(3 * 128, [](auto n) { return (n + 50) % 128; }));
}

TEST(Barrier, LanesOfOneWarpMayArriveInDifferentPlaces) {
  const KernelRun run = run_body(R"(
    .shared .align 4 .b32 s[64];
    mov.u32 %r10, s;
    shl.b32 %r11, %r0, 2;
    add.u32 %r12, %r10, %r11;
    st.shared.u32 [%r12], %r0;
    and.b32 %r3, %r0, 1;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra EVEN;
    bar.sync 0;
    mov.u32 %r4, 1000;
    bra.uni MEET;
  EVEN:
    bar.sync 0;
    mov.u32 %r4, 2000;
  MEET:
    sub.u32 %r13, 252, %r11;
    add.u32 %r13, %r10, %r13;
    ld.shared.u32 %r14, [%r13];
    add.u32 %r14, %r14, %r4;
    st.global.u32 [%rd1], %r14;
    ret;
  )",
                                 {{1, 1, 1}, {64, 1, 1}});
  EXPECT_EQ(run.output, words(64, [](auto n) { return 63 - n + (n % 2 == 0 ? 2000 : 1000); }));
  EXPECT_EQ(stores(run.outcome), 2u);
}

TEST(Barrier, IsNotWaitedForByThreadsThatHaveExited) {
  const KernelRun run = run_body(R"(
    and.b32 %r3, %r0, 3;
    setp.eq.u32 %p1, %r3, 3;
    @%p1 exit;
    setp.ge.u32 %p1, %r0, 96;
    @%p1 exit;
    bar.sync 0;
    st.global.u32 [%rd1], 1;
    bar.sync 0;
    setp.lt.u32 %p1, %r0, 10;
    @%p1 exit;
    bar.sync 0;
    st.global.u32 [%rd1], 2;
    ret;
  )",
                                 {{1, 1, 1}, {128, 1, 1}});
  EXPECT_EQ(run.output, words(128, [](auto n) {
              return n >= 96 || n % 4 == 3 ? 0 : n < 10 ? 1 : 2;
            }));
}

TEST(Barrier, ExitOfTheLastMissingThreadsLetsTheOthersGo) {
  // The second warp exits after the first has arrived.
  const KernelRun run = run_body(R"(
    setp.lt.u32 %p1, %r0, 32;
    @%p1 bra WAIT;
    exit;
  WAIT:
    bar.sync 0;
    st.global.u32 [%rd1], 9;
    ret;
  )",
                                 {{1, 1, 1}, {64, 1, 1}});
  EXPECT_EQ(run.output, words(64, [](auto n) { return n < 32 ? 9 : 0; }));
}

// Warp 0 fills, warps 1 to 3 read: each side arrives at one barrier and waits at the other.
TEST(Barrier, ProducersArriveConsumersWait) {
  const KernelRun run = run_body(R"(
    .shared .align 4 .b32 s[32];
    mov.u32 %r10, s;
    and.b32 %r11, %r0, 31;
    shl.b32 %r11, %r11, 2;
    add.u32 %r12, %r10, %r11;
    mov.u32 %r15, 0;
    mov.u32 %r16, 0;
    setp.lt.u32 %p1, %r0, 32;
    @!%p1 bra CONSUME;
  PRODUCE:
    bar.sync 2, 128;
    add.u32 %r14, %r15, %r0;
    st.shared.u32 [%r12], %r14;
    bar.arrive 1, 128;
    add.u32 %r15, %r15, 1;
    setp.lt.u32 %p2, %r15, 10;
    @%p2 bra PRODUCE;
    ret;
  CONSUME:
    bar.arrive 2, 128;
    bar.sync 1, 128;
    ld.shared.u32 %r14, [%r12];
    add.u32 %r16, %r16, %r14;
    add.u32 %r15, %r15, 1;
    setp.lt.u32 %p2, %r15, 10;
    @%p2 bra CONSUME;
    st.global.u32 [%rd1], %r16;
    ret;
  )",
                                 {{1, 1, 1}, {128, 1, 1}});
  EXPECT_EQ(run.output, words(128, [](auto n) { return n < 32 ? 0 : 10 * (n % 32) + 9 * 10 / 2; }));
}

TEST(Barrier, CountsWholeWarpsEvenIfLanesAreMissing) {
  // 40 threads are two warps: 64 in the count of a barrier.
  const KernelRun run =
      run_body("bar.sync 1, 64; st.global.u32 [%rd1], 1; ret;", {{1, 1, 1}, {40, 1, 1}});
  EXPECT_EQ(run.output, words(40, [](auto) { return 1; }));
}

TEST(Barrier, Votes) {
  const KernelRun run = run_body(R"(
    mov.u32 %r20, %ctaid.x;
    mul.lo.u32 %r20, %r20, 64;
    setp.lt.u32 %p1, %r0, %r20;
    bar.red.popc.u32 %r10, 0, %p1;
    barrier.cta.red.popc.aligned.u32 %r11, 0, 128, !%p1;
    bar.red.and.pred %p2, 0, %p1;
    bar.red.or.pred %p3, 0, %p1;
    bar.red.and.pred %p4, 1, 128, !%p1;
    selp.u32 %r12, 1000, 0, %p2;
    selp.u32 %r13, 2000, 0, %p3;
    selp.u32 %r14, 4000, 0, %p4;
    mad.lo.u32 %r10, %r10, 10000, %r11;
    add.u32 %r12, %r12, %r13;
    add.u32 %r12, %r12, %r14;
    mad.lo.u32 %r10, %r12, 10000, %r10;
    st.global.u32 [%rd1], %r10;
    ret;
  )",
                                 kFourWarps);
  // Block b: 64 b of 128 predicates hold.
  EXPECT_EQ(run.output, words(3 * 128, [](auto n) {
              const auto holds = n / 128 * 64;
              const auto flags =
                  (holds == 128 ? 1000 : 0) + (holds > 0 ? 2000 : 0) + (holds == 0 ? 4000 : 0);
              return flags * 10000u + holds * 10000 + 128 - holds;
            }));
}

TEST(Barrier, VotesReachLanesThatArrivedEarlier) {
  const KernelRun run = run_body(R"(
    setp.lt.u32 %p1, %r0, 10;
    @%p1 bra FIRST;
    bar.red.popc.u32 %r10, 0, %p1;
    bra.uni MEET;
  FIRST:
    bar.red.popc.u32 %r10, 0, %p1;
  MEET:
    st.global.u32 [%rd1], %r10;
    ret;
  )");
  EXPECT_EQ(run.output, words(32, [](auto) { return 10; }));
}

TEST(WarpBarrier, LanesMeetInDifferentPlaces) {
  // The first half may only read when the second has written, and the other way round.
  const KernelRun run = run_body(R"(
    .shared .align 4 .b32 s[32];
    mov.u32 %r10, s;
    shl.b32 %r11, %r0, 2;
    add.u32 %r12, %r10, %r11;
    xor.b32 %r13, %r11, 64;
    add.u32 %r13, %r10, %r13;
    setp.lt.u32 %p1, %r0, 16;
    @%p1 bra LOW;
    st.shared.u32 [%r12], %r0;
    bar.warp.sync 0xffffffff;
    ld.shared.u32 %r14, [%r13];
    bra.uni MEET;
  LOW:
    st.shared.u32 [%r12], %r0;
    bar.warp.sync -1;
    ld.shared.u32 %r14, [%r13];
  MEET:
    st.global.u32 [%rd1], %r14;
    ret;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return n ^ 16; }));
}

TEST(WarpBarrier, OnlyMembersAreWaitedFor) {
  const KernelRun run = run_body(R"(
    setp.lt.u32 %p1, %r0, 16;
    @!%p1 bra REST;
    setp.lt.u32 %p2, %r0, 8;
    @%p2 bra SYNC;
    mov.u32 %r4, 3;
  SYNC:
    bar.warp.sync 0xffff;
    st.global.u32 [%rd1], 5;
    ret;
  REST:
    st.global.u32 [%rd1], 6;
    ret;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return n < 16 ? 5 : 6; }));
}

TEST(WarpBarrier, LanesThatHaveExitedAreNotWaitedFor) {
  const KernelRun run = run_body(R"(
    setp.lt.u32 %p1, %r0, 4;
    @%p1 bra STAY;
    bra.uni LEAVE;
  STAY:
    bar.warp.sync 0xffffffff;
    st.global.u32 [%rd1], 5;
  LEAVE:
    ret;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return n < 4 ? 5 : 0; }));
}

TEST(Deadlock, NamesKernelBlockWarpsAndLines) {
  const auto fault = fault_of(kernel_text(R"(
    setp.ge.u32 %p1, %r0, 48;
    @%p1 bra OTHER;
    bar.sync 1, 128;
    ret;
  OTHER:
    bar.sync 2, 96;
    ret;
  )"),
                              {{2, 1, 1}, {64, 1, 1}});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::deadlock);
  const std::string what = fault->what();
  EXPECT_THAT(what, HasSubstr("kernel k, block (0,0,0): deadlock"));
  EXPECT_THAT(what,
              HasSubstr("PTX line 18: warp 0, all lanes, waiting at barrier 1, where 48 of 128"));
  EXPECT_THAT(what, HasSubstr("PTX line 18: warp 1, lanes 0-15, waiting at barrier 1"));
  EXPECT_THAT(what,
              HasSubstr("PTX line 21: warp 1, lanes 16-31, waiting at barrier 2, where 16 of 96"));
}

TEST(Deadlock, NamesEightOfThoseThatWait) {
  const auto what = [](std::uint32_t warps) {
    return std::string(
        fault_of(kernel_text("bar.sync 1, 1024;"), {{1, 1, 1}, {32 * warps, 1, 1}})->what());
  };
  EXPECT_THAT(what(8), AllOf(HasSubstr("warp 7"), EndsWith(" threads have arrived")));
  EXPECT_THAT(what(10), AllOf(HasSubstr("warp 7"), Not(HasSubstr("warp 8")),
                              EndsWith(" threads have arrived; and 2 more")));
}

TEST(Deadlock, IsBlamedOnTheFirstLineThatWaits) {
  const auto fault = fault_of(kernel_text(".loc 1 7 1\nbar.sync 1, 128;\n.loc 1 8 1\nret;") +
                              "\n.file 1 \"a.cu\"\n");
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kernel(), "k");
  EXPECT_EQ(fault->source(), (metrics::SourceLine{"a.cu", 7}));
}

// Every block counts itself and waits until all have.
constexpr const char* kGridBarrier = R"(
    mov.u32 %r3, %nctaid.x;
    setp.eq.u32 %p0, %r0, 0;
    @!%p0 bra MEET;
    atom.global.add.u32 %r4, [%rd0], 1;
  POLL:
    ld.volatile.global.u32 %r5, [%rd0];
    setp.lt.u32 %p1, %r5, %r3;
    @%p1 bra POLL;
  MEET:
    bar.sync 0;
    ret;
  )";

Options unlimited() {
  Options options = limited();
  options.step_limit = 0;
  return options;
}

class Progress : public testing::TestWithParam<const char*> {};

TEST_P(Progress, IsMadeByBlocksThatOthersWaitForHoweverTheyLook) {
  // Each block waits for the word of the next one, and then sets its own; the last waits for none.
  const std::string kernel = std::string(R"(
    mov.u32 %r3, %nctaid.x;
    add.u32 %r4, %r1, 1;
    setp.eq.u32 %p0, %r4, %r3;
    @%p0 bra GO;
  POLL:
    )") + GetParam() + R"( %r5, [%rd1 + 4];
    setp.eq.u32 %p1, %r5, 0;
    @%p1 bra POLL;
  GO:
    st.global.u32 [%rd1], %r4;
  )";
  Options options = unlimited();
  options.threads = 1;
  const KernelRun run = run_body(kernel, {{5, 1, 1}, {1, 1, 1}}, {}, options);
  EXPECT_EQ(run.output, (Words{1, 2, 3, 4, 5}));
}

class ProgressInABlock : public testing::TestWithParam<const char*> {};

TEST_P(ProgressInABlock, IsMadeByTheWarpThatAnotherWaitsFor) {
  // Warp 0 waits for warp 1.
  const std::string kernel = std::string("setp.ge.u32 %p0, %r0, 32; @%p0 bra SET;\nPOLL:\n") +
                             GetParam() +
                             " %r5, [%rd0 + 128]; setp.eq.u32 %p1, %r5, 0; @%p1 bra POLL;"
                             "SET: st.global.u32 [%rd1], 7;";
  EXPECT_EQ(run_body(kernel, {{1, 1, 1}, {64, 1, 1}}).output, Words(64, 7));
}

constexpr const char* kPolls[] = {"ld.volatile.global.u32", "ld.global.cg.u32", "ld.global.cv.u32",
                                  "membar.gl; ld.global.u32"};
INSTANTIATE_TEST_SUITE_P(Polls, Progress, testing::ValuesIn(kPolls));
INSTANTIATE_TEST_SUITE_P(Polls, ProgressInABlock, testing::ValuesIn(kPolls));
// A loop that decoding does not take for one that waits: it has run for long.
INSTANTIATE_TEST_SUITE_P(Loops, Progress, testing::Values("ld.global.u32"));

TEST(Deadlock, OfMoreBlocksThanTheGpuHoldsAtOnce) {
  Shape shape{{5, 1, 1}, {64, 1, 1}};
  shape.resident_blocks = 5;
  EXPECT_FALSE(fault_of(kernel_text(kGridBarrier), shape, unlimited()).has_value());
  shape.resident_blocks = 4;
  const auto fault = fault_of(kernel_text(kGridBarrier), shape, unlimited());
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::deadlock);
  EXPECT_THAT(
      fault->what(),
      HasSubstr("deadlock, all threads wait in loops for what nothing changes; k, PTX line"));
  EXPECT_THAT(fault->what(), HasSubstr("PTX line 21: warp 0, lane 0, going round a loop; "));
  EXPECT_THAT(fault->what(), HasSubstr("warp 1, all lanes, waiting at barrier 0"));
  EXPECT_THAT(fault->what(), HasSubstr("; 1 block has not begun, as the GPU holds 4 at once"));
}

TEST(Deadlock, IsNoneAsLongAsTheProgramMayChangeMemory) {
  Options options = unlimited();
  options.cpu_limit = std::chrono::milliseconds(1200);
  options.program_waits = [&options] {  // no CPU time is taken meanwhile, but the launch waits
    std::this_thread::sleep_for(options.cpu_limit);
    return false;
  };
  const std::string never =
      "POLL: ld.volatile.global.u32 %r3, [%rd0]; setp.ne.u32 %p0, %r3, 7;"
      "@%p0 bra POLL;";
  const auto fault = fault_of(kernel_text(never), {}, options);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::time_limit);
  EXPECT_THAT(fault->what(), HasSubstr("waited in loops for longer than its limit of 1200 ms"));
  EXPECT_THAT(fault->what(), HasSubstr("warp 0, all lanes, going round a loop"));
  options.program_waits = [] { return true; };
  const auto deadlock = fault_of(kernel_text(never), {}, options);
  ASSERT_TRUE(deadlock.has_value());
  EXPECT_EQ(deadlock->kind(), Fault::Kind::deadlock);
}

TEST(Deadlock, IsNoneOfOneThreadThatCountsWhatItReads) {
  Options options = unlimited();
  options.cpu_limit = std::chrono::milliseconds(1300);
  options.program_waits = [] { return true; };
  const std::string counts =
      "mov.u32 %r4, 0; POLL: add.u32 %r4, %r4, 1; ld.volatile.global.u32 %r3, [%rd0];"
      "setp.ne.u32 %p0, %r3, 7; @%p0 bra POLL; st.global.u32 [%rd1], %r4;";
  const auto fault = fault_of(kernel_text(counts), {{1, 1, 1}, {1, 1, 1}}, options);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::time_limit) << fault->what();
}

TEST(Deadlock, OfLanesThatWaitInDifferentInstructions) {
  const auto fault = fault_of(kernel_text(R"(
    setp.ge.u32 %p1, %r0, 30;
    @%p1 bra OTHER;
    shfl.sync.idx.b32 %r3, %r0, 0, 31, 0xffffffff;
    ret;
  OTHER:
    bar.warp.sync 0xffffffff;
    ret;
  )"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::deadlock);
  EXPECT_THAT(fault->what(),
              HasSubstr("warp 0, lanes 0-29, waiting in shfl.sync.idx.b32 for lanes 30-31"));
  EXPECT_THAT(fault->what(), HasSubstr("lanes 30-31, waiting in bar.warp.sync for lanes 0-29"));
}

TEST(Barrier, OfAPartOfAWarpIsAFault) {
  const auto fault = fault_of(kernel_text("mov.u32 %r3, 48; bar.sync 1, %r3; ret;"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::illegal_instruction);
  EXPECT_THAT(fault->what(),
              HasSubstr("barrier 1 of 48 threads: their number must be a multiple of 32"));
}

TEST(Deadlock, BarrierThatDoesNotExist) {
  const auto fault = fault_of(kernel_text("mov.u32 %r3, 16; bar.sync %r3; ret;"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::illegal_instruction);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::barrier_test
