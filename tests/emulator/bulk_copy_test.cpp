// Bulk copies: their data, places and times, and the faults of wrong ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::bulk_copy_test {
namespace {

using ::testing::HasSubstr;

/// A block with `s`, 1024 bytes of shared memory at %r11, and an mbarrier at %r10 for one arrival.
/// %p1 holds in thread 0.
std::string with_buffer(const std::string& body) {
  return R"(
    .shared .align 128 .b32 s[256];
    .shared .align 8 .b64 bar[1];
    mov.u32 %r10, bar;
    mov.u32 %r11, s;
    mad.lo.u32 %r12, %r0, 4, %r11;
    st.shared.u32 [%r12], 9;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 mbarrier.init.shared.b64 [%r10], 1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
)" + body;
}

constexpr const char* kWait = R"(
  wait:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;
    @!%p2 bra wait;
)";
constexpr const char* kStoreWord = R"(
    ld.shared.u32 %r14, [%r12];
    st.global.u32 [%rd1], %r14;
    ret;)";

Words numbered(std::size_t count) {
  return words(count, [](auto n) { return 1000 + n; });
}

TEST(BulkCopy, BringsGlobalMemoryToSharedMemory) {
  for (const char* const to : {"shared::cluster", "shared::cta"}) {
    const KernelRun run =
        run_body(with_buffer(R"(
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 64;
    @%p1 cp.async.bulk.)" + std::string(to) +
                             R"(.global.mbarrier::complete_tx::bytes [%r11], [%rd2+16], 64, [%r10];
)" + kWait + kStoreWord),
                 {}, numbered(64));
    EXPECT_EQ(run.output, words(32, [](auto n) { return n < 16 ? 1004 + n : 9; })) << to;
  }
}

TEST(BulkCopy, ArrivesWhenAThreadWaitsAndNotSooner) {
  const KernelRun run = run_body(with_buffer(R"(
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 128;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
        [%r11], [%rd2], 128, [%r10];
    ld.shared.u32 %r14, [%r12];
    st.global.u32 [%rd1], %r14;
)" + std::string(kWait) + "ret;"),
                                 {}, numbered(32));
  EXPECT_EQ(run.output, words(32, [](auto) { return 9; }));
}

TEST(BulkCopy, ArrivesWithThoseOfItsOwnBarrier) {
  // The copy that is begun last is waited for first.
  const KernelRun run = run_body(with_buffer(R"(
    .shared .align 8 .b64 late[1];
    mov.u32 %r20, late;
    @%p1 mbarrier.init.shared.b64 [%r20], 1;
    bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 64;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 64;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
        [%r11], [%rd2], 64, [%r20];
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
        [%r11+64], [%rd2+64], 64, [%r10];
)" + std::string(kWait) + R"(
    ld.shared.u32 %r13, [%r12];
  wait_late:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r20], 0;
    @!%p2 bra wait_late;
    ld.shared.u32 %r14, [%r12];
    mad.lo.u32 %r14, %r13, 10000, %r14;
    st.global.u32 [%rd1], %r14;
    ret;)"),
                                 {}, numbered(32));
  EXPECT_EQ(run.output,
            words(32, [](auto n) { return (n < 16 ? 9 : 1000 + n) * 10'000 + 1000 + n; }));
}

TEST(BulkCopy, ReachesAllBlocksOfAMask) {
  Shape shape{{4, 1, 1}, {32, 1, 1}};
  shape.cluster = {4, 1, 1};
  const KernelRun run = run_body(with_buffer(R"(
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 128;
    barrier.cluster.arrive; barrier.cluster.wait;
    mov.u32 %r20, %cluster_ctarank;
    setp.eq.and.u32 %p3, %r20, 1, %p1;
    setp.eq.and.u32 %p4, %r20, 3, %p1;
    mov.b16 %h1, 11;
    @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
        [%r11], [%rd2], 128, [%r10], %h1;
    mapa.shared::cluster.u32 %r21, %r11, 2;
    mapa.shared::cluster.u32 %r22, %r10, 2;
    @%p4 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
        [%r21], [%r11], 128, [%r22];
)" + std::string(kWait) + kStoreWord),
                                 shape, numbered(32));
  EXPECT_EQ(run.output, words(128, [](auto n) { return n / 32 == 2 ? 9 : 1000 + n % 32; }));
}

TEST(BulkCopy, TakesSharedMemoryToGlobalMemory) {
  const KernelRun run = run_body(with_buffer(R"(
    mad.lo.u32 %r13, %r0, 3, 5;
    st.shared.u32 [%r12], %r13;
    fence.proxy.async;
    bar.sync 0;
    @!%p1 ret;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r11], 96;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
    ret;)"));
  EXPECT_EQ(run.output, words(32, [](auto n) { return n < 24 ? 3 * n + 5 : 0; }));
}

TEST(BulkCopy, LeavesAtOnceOrInOtherOrdersWhenItsThreadWaitsForItsGroupOrExits) {
  const std::string body = with_buffer(R"(
    @!%p1 ret;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r11], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0+16], [%r11], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 1;
    st.shared.u32 [%r11], 4;
    ret;)");
  for (const std::uint64_t order : {0, 1}) {
    Shape shape;
    shape.order = order;
    const KernelRun run = run_body(body, shape);
    EXPECT_EQ(run.output[0], 9u);
    EXPECT_EQ(run.output[4], order == 0 ? 9u : 4u) << "overwritten before it was waited for";
  }
}

TEST(BulkCopy, CopiesTheBytesOfAMask) {
  const KernelRun run = run_body(with_buffer(R"(
    @!%p1 ret;
    mov.b16 %h1, 15;
    cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd0], [%r11], 32, %h1;
    ret;)"));
  EXPECT_EQ(run.output, words(32, [](auto n) { return n == 0 || n == 4 ? 9 : 0; }));
}

TEST(BulkCopy, Reduces) {
  const KernelRun run = run_body(with_buffer(R"(
    @!%p1 ret;
    st.global.u32 [%rd0+4], 100;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0], [%r11], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%rd0], [%r11], 16;
    ret;)"));
  EXPECT_EQ(run.output, words(32, [](auto n) { return n == 1 ? 109 : 9; }));
}

TEST(BulkCopy, ReducesByNoExchange) {
  for (const std::string operation : {"exch.b32", "cas.b32"}) {
    const auto fault =
        fault_of(kernel_text(with_buffer("cp.reduce.async.bulk.global.shared::cta.bulk_group." +
                                         operation + " [%rd0], [%r11], 16;")));
    ASSERT_TRUE(fault.has_value()) << operation;
    EXPECT_THAT(fault->what(), HasSubstr("unknown operation")) << operation;
  }
}

TEST(BulkCopy, SingleValuesArriveLikewise) {
  Shape shape{{2, 1, 1}, {32, 1, 1}};
  shape.cluster = {2, 1, 1};
  const KernelRun run = run_body(with_buffer(R"(
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 256;
    barrier.cluster.arrive; barrier.cluster.wait;
    mov.u32 %r20, %cluster_ctarank;
    xor.b32 %r20, %r20, 1;
    mapa.shared::cluster.u32 %r21, %r12, %r20;
    mapa.shared::cluster.u32 %r22, %r10, %r20;
    st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r21], %r1, [%r22];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32
        [%r21], 1000, [%r22];
)" + std::string(kWait) + kStoreWord),
                                 shape);
  EXPECT_EQ(run.output, words(64, [](auto n) { return 1000 + (n + 32) % 64; }));
}

struct Wrong {
  const char* name;
  const char* body;
  Fault::Kind kind;
  const char* what;
};

class BulkCopyFault : public ::testing::TestWithParam<Wrong> {};

TEST_P(BulkCopyFault, IsReported) {
  const auto fault = fault_of(kernel_text(with_buffer(GetParam().body)));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind(), GetParam().kind);
  EXPECT_THAT(fault->what(), HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(
    All, BulkCopyFault,
    ::testing::Values(
        Wrong{"OddSize",
              "@!%p1 ret; cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r11], 24; ret;",
              Fault::Kind::illegal_instruction,
              "cp.async.bulk of 24 bytes: the size must be a multiple of 16"},
        Wrong{"MisalignedSource",
              "@!%p1 ret; cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r11+8], 16; ret;",
              Fault::Kind::misaligned_address,
              "source of cp.async.bulk: byte 136 of shared memory is misaligned"},
        Wrong{"MisalignedDestination",
              "@!%p1 ret; cp.async.bulk.global.shared::cta.bulk_group [%rd0+4], [%r11], 16; ret;",
              Fault::Kind::misaligned_address, "destination of cp.async.bulk: the address must"},
        Wrong{"BehindGlobalMemory",
              "@!%p1 ret; cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r11], 256; ret;",
              Fault::Kind::illegal_address, "destination of cp.async.bulk, 256 bytes: "},
        Wrong{"BehindSharedMemory",
              "@!%p1 ret; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
              "[%r11+1024], [%rd0], 32, [%r10]; ret;",
              Fault::Kind::illegal_address, "destination of cp.async.bulk: 32 bytes at byte 1152"},
        Wrong{"NoBarrier",
              "@!%p1 ret; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
              "[%r11], [%rd0], 32, [%r11+64]; ret;",
              Fault::Kind::illegal_instruction, "mbarrier at byte 192 of shared memory: it is not"},
        Wrong{"WrongByteCount",
              "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 128;"
              "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
              "[%r11], [%rd0], 64, [%r10];"
              "wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0; @!%p2 bra wait; ret;",
              Fault::Kind::deadlock,
              "where 1 of 1 arrivals and 64 of 128 expected bytes have come"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace warpgauge::emulator::machine::bulk_copy_test
