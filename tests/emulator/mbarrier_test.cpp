// mbarriers: phases, counts, bytes, waits, and what is reported of wrong uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::mbarrier_test {
namespace {

using ::testing::HasSubstr;

/// A kernel with an mbarrier at [%r10] that thread 0 has initialised for `count` arrivals.
std::string with_barrier(int count, const std::string& body) {
  return R"(
    .shared .align 8 .b64 bar[1];
    .shared .align 4 .b32 s[128];
    mov.u32 %r10, bar;
    mov.u32 %r11, s;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 mbarrier.init.shared::cta.b64 [%r10], )" +
         std::to_string(count) + R"(;
    fence.mbarrier_init.release.cluster;
    bar.sync 0;
)" + body;
}

constexpr Shape kFourWarps{{2, 1, 1}, {128, 1, 1}};

std::string wait_for_parity(const std::string& parity, const std::string& label) {
  return label + ":\n    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], " + parity +
         ";\n    @!%p2 bra " + label + ";\n";
}

/// All threads of two blocks store a word, meet at an mbarrier by its state, and load that of their
/// opposites. `setup` puts its address into `address`, of the state space `space`.
Words exchanged(const std::string& setup, const std::string& space, const std::string& address) {
  const std::string body = setup + R"(
    mad.lo.u32 %r12, %r0, 4, %r11;
    st.shared.u32 [%r12], %r1;
    mbarrier.arrive)" + space +
                           ".b64 %rd10, [" + address + R"(];
  again:
    mbarrier.test_wait)" + space +
                           ".b64 %p2, [" + address + R"(], %rd10;
    @!%p2 bra again;
    sub.u32 %r13, 127, %r0;
    mad.lo.u32 %r13, %r13, 4, %r11;
    ld.shared.u32 %r14, [%r13];
    st.global.u32 [%rd1], %r14;
    ret;)";
  return run_body(with_barrier(128, body), kFourWarps).output;
}
const Words kExchanged = words(256, [](auto n) { return n / 128 * 128 + 127 - n % 128; });

TEST(Mbarrier, AllThreadsMeetByState) {
  EXPECT_EQ(exchanged("", ".shared::cta", "%r10"), kExchanged);
}

TEST(Mbarrier, AllThreadsMeetByAGenericAddress) {
  EXPECT_EQ(exchanged("cvta.shared.u64 %rd11, bar;", "", "%rd11"), kExchanged);
}

TEST(Mbarrier, IsUsedForPhaseAfterPhase) {
  // One warp produces, the other consumes: 20 rounds, each of which would overwrite the last.
  const std::string body = R"(
    .shared .align 8 .b64 full[1];
    .shared .align 8 .b64 empty[1];
    .shared .align 4 .b32 s[32];
    mov.u32 %r10, full; mov.u32 %r11, empty; mov.u32 %r12, s;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 mbarrier.init.shared.b64 [%r10], 32;
    @%p1 mbarrier.init.shared.b64 [%r11], 32;
    bar.sync 0;
    and.b32 %r13, %r0, 31;
    mad.lo.u32 %r12, %r13, 4, %r12;
    mov.u32 %r20, 0; mov.u32 %r21, 0;
    setp.ge.u32 %p3, %r0, 32;
    @%p3 bra consume;
  produce:
    and.b32 %r22, %r20, 1; xor.b32 %r22, %r22, 1;
  wait_empty:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r11], %r22;
    @!%p2 bra wait_empty;
    mad.lo.u32 %r23, %r20, 1000, %r13;
    st.shared.u32 [%r12], %r23;
    mbarrier.arrive.release.cta.shared::cta.b64 _, [%r10];
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p2, %r20, 20;
    @%p2 bra produce;
    ret;
  consume:
    and.b32 %r22, %r20, 1;
  wait_full:
    mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r10], %r22, 1000;
    @!%p2 bra wait_full;
    ld.shared.u32 %r23, [%r12];
    add.u32 %r21, %r21, %r23;
    mbarrier.arrive.shared.b64 %rd10, [%r11];
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p2, %r20, 20;
    @%p2 bra consume;
    st.global.u32 [%rd1], %r21;
    ret;)";
  for (const int schedules : {0, 4}) {
    Options options = limited();
    options.schedules = schedules;
    const KernelRun run = run_kernel(kernel_text(body), {{1, 1, 1}, {64, 1, 1}}, {}, options);
    for (std::size_t n = 0; n < 32; ++n) EXPECT_EQ(run.output[32 + n], 190'000 + 20 * n);
    EXPECT_TRUE(run.findings.empty());
  }
}

TEST(Mbarrier, CountsOfArrivals) {
  // Thread 1 arrives for three; the pending count is what the state says.
  const KernelRun run = run_body(with_barrier(4, R"(
    setp.eq.u32 %p3, %r0, 1;
    @%p3 mbarrier.arrive.noComplete.shared.b64 %rd10, [%r10], 3;
    @%p3 mbarrier.arrive.shared.b64 %rd11, [%r10];
    @%p3 mbarrier.pending_count.b64 %r12, %rd10;
    @%p3 mbarrier.pending_count.b64 %r13, %rd11;
    @%p3 mad.lo.u32 %r12, %r12, 100, %r13;
    @%p3 st.global.u32 [%rd1], %r12;
)" + wait_for_parity("0", "w") + "ret;"));
  EXPECT_EQ(run.output[1], 401u);
}

TEST(Mbarrier, WhoDropsIsNotExpectedAgain) {
  const KernelRun run = run_body(with_barrier(2, R"(
    setp.eq.u32 %p3, %r0, 0;
    @%p3 mbarrier.arrive_drop.shared.b64 _, [%r10];
    @%p3 mbarrier.arrive.shared.b64 _, [%r10];
)" + wait_for_parity("0", "first") + R"(
    @%p3 mbarrier.arrive.shared.b64 _, [%r10];
)" + wait_for_parity("1", "second") + R"(
    st.global.u32 [%rd1], 5;
    ret;)"));
  EXPECT_EQ(run.output, words(32, [](auto) { return 5; }));
}

TEST(Mbarrier, BytesAreWaitedForToo) {
  const KernelRun run = run_body(with_barrier(1, R"(
    setp.eq.u32 %p3, %r0, 0;
    @%p3 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 48;
    mbarrier.test_wait.parity.shared.b64 %p4, [%r10], 0;
    @%p3 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r10], 16;
    @%p3 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r10], 64;
    mbarrier.test_wait.parity.shared.b64 %p5, [%r10], 0;
    selp.u32 %r12, 10, 0, %p4;
    selp.u32 %r13, 1, 0, %p5;
    add.u32 %r12, %r12, %r13;
    st.global.u32 [%rd1], %r12;
    ret;)"));
  EXPECT_EQ(run.output, words(32, [](auto) { return 1; }));
}

TEST(Mbarrier, CopiesOfAThreadArrive) {
  const KernelRun run = run_body(with_barrier(32, R"(
    mad.lo.u32 %r12, %r0, 4, %r11;
    mul.wide.u32 %rd11, %r0, 4;
    add.u64 %rd11, %rd2, %rd11;
    cp.async.ca.shared.global [%r12], [%rd11], 4;
    cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r10];
)" + wait_for_parity("0", "w") + R"(
    sub.u32 %r13, 31, %r0;
    mad.lo.u32 %r13, %r13, 4, %r11;
    ld.shared.u32 %r14, [%r13];
    st.global.u32 [%rd1], %r14;
    ret;)"),
                                 {}, words(32, [](auto n) { return 100 + n; }));
  EXPECT_EQ(run.output, words(32, [](auto n) { return 131 - n; }));
}

TEST(Mbarrier, LanesOfAWarpWaitForSeveral) {
  // Warp 0 waits for both, its upper lanes for the one that is complete first.
  const KernelRun run = run_body(with_barrier(1, R"(
    .shared .align 8 .b64 other[1];
    mov.u32 %r20, other;
    @%p1 mbarrier.init.shared.b64 [%r20], 1;
    bar.sync 0;
    setp.ge.u32 %p3, %r0, 32;
    @%p3 bra arrive;
    setp.ge.u32 %p4, %r0, 16;
    selp.u32 %r21, %r20, %r10, %p4;
    mbarrier.try_wait.parity.shared.b64 %p2, [%r21], 0;
    selp.u32 %r22, 1, 0, %p2;
    st.global.u32 [%rd1], %r22;
    ret;
  arrive:
    setp.eq.u32 %p5, %r0, 32;
    @%p5 mbarrier.arrive.shared.b64 _, [%r20];
    @%p5 mbarrier.arrive.shared.b64 _, [%r10];
    ret;)"),
                                 {{1, 1, 1}, {64, 1, 1}});
  EXPECT_EQ(run.output, words(64, [](auto n) { return n < 32; }));
}

TEST(Mbarrier, AnotherBlockOfTheClusterArrives) {
  Shape shape{{2, 1, 1}, {32, 1, 1}};
  shape.cluster = {2, 1, 1};
  const KernelRun run = run_body(with_barrier(64, R"(
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mapa.shared::cluster.u32 %r12, %r10, 0;
    mapa.shared::cluster.u32 %r13, %r10, 1;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12];
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13];
)" + wait_for_parity("0", "w") + R"(
    st.global.u32 [%rd1], 3;
    ret;)"),
                                 shape);
  EXPECT_EQ(run.output, words(64, [](auto) { return 3; }));
}

struct Wrong {
  const char* name;
  const char* body;
  Fault::Kind kind;
  const char* what;
};

class MbarrierFault : public ::testing::TestWithParam<Wrong> {};

TEST_P(MbarrierFault, IsReported) {
  const auto fault = fault_of(kernel_text(with_barrier(1, GetParam().body)));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind(), GetParam().kind);
  EXPECT_THAT(fault->what(), HasSubstr(GetParam().what));
}

constexpr auto kIllegal = Fault::Kind::illegal_instruction;
INSTANTIATE_TEST_SUITE_P(
    All, MbarrierFault,
    ::testing::Values(
        Wrong{"NeverInitialised", "mbarrier.arrive.shared.b64 _, [%r11]; ret;", kIllegal,
              "mbarrier at byte 8 of shared memory: it is not initialised"},
        Wrong{"Overwritten", "st.shared.u64 [%r10], 0; mbarrier.arrive.shared.b64 _, [%r10]; ret;",
              kIllegal, "something has written over it since it was initialised at"},
        Wrong{"TooManyArrivals", "mbarrier.arrive.shared.b64 _, [%r10], 2; ret;", kIllegal,
              "one arrival too many: phase 0 of the mbarrier"},
        Wrong{"NoArrivals", "mbarrier.init.shared.b64 [%r10], 0; ret;", kIllegal,
              "it is to expect 0 arrivals"},
        Wrong{"Misaligned", "mbarrier.arrive.shared.b64 _, [%r10+4]; ret;",
              Fault::Kind::misaligned_address, "must be a multiple of 8"},
        Wrong{"Outside", "mbarrier.arrive.shared.b64 _, [%r10+4096]; ret;",
              Fault::Kind::illegal_address, "which ends at byte 520"},
        Wrong{"Invalidated",
              "@%p1 mbarrier.inval.shared.b64 [%r10]; mbarrier.arrive.shared.b64 _, [%r10]; ret;",
              kIllegal, "it is not initialised"},
        Wrong{"CompletesUnawares", "mbarrier.arrive.noComplete.shared.b64 %rd3, [%r10], 1; ret;",
              kIllegal, "noComplete completes its phase"},
        Wrong{"TooManyBytes",
              "@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r10], 1048576; ret;", kIllegal,
              "its phase expects 1048576 bytes: at most 1048575"},
        Wrong{"EndlessWait",
              "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 64;\n"
              "again: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;\n"
              "@!%p2 bra again; ret;",
              Fault::Kind::deadlock,
              "warp 0, all lanes, waiting for phase 0 of the mbarrier at byte 0 of shared memory "
              "(initialised at "},
        Wrong{"EndlessWaitCounts",
              "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 64;\n"
              "again: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;\n"
              "nanosleep.u32 20;\n"
              "@!%p2 bra again; ret;",
              Fault::Kind::deadlock, "where 1 of 1 arrivals and 0 of 64 expected bytes have come"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace warpgauge::emulator::machine::mbarrier_test
