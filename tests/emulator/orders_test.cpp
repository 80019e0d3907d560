// Launches in other orders of their warps and blocks: what depends on the order is found, and the
// order reduced to the switches that matter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/machine/core/order.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::orders_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kFile = ".file 1 \"f.cu\"\n";

Shape blocks(std::uint32_t count, std::uint32_t threads) {
  return {.grid = {count, 1, 1}, .block = {threads, 1, 1}};
}

/// 64 threads: %r4 is the shared address of the thread's word, %r5 that of its opposite's.
std::string with_tile(const std::string& body) {
  return R"(
    .shared .align 4 .b8 tile[256];
    mov.u32 %r3, tile;
    mad.lo.u32 %r4, %r0, 4, %r3;
    xor.b32 %r5, %r0, 63;
    mad.lo.u32 %r5, %r5, 4, %r3;
  )" + body;
}

/// Runs the kernel in five other orders.
KernelRun run_in_orders(const std::string& body, const Shape& shape, Options options = limited()) {
  options.schedules = 5;
  return run_kernel(kernel_text(body) + std::string(kFile), shape, {}, std::move(options));
}

std::vector<std::string> found_in_orders(const std::string& body, const Shape& shape) {
  std::vector<std::string> texts;
  for (const Finding& finding : run_in_orders(body, shape).findings) texts.push_back(finding.text);
  return texts;
}

TEST(Orders, ShowAResultThatDependsOnThem) {
  const std::string takes_a_place = R"(
    atom.global.add.u32 %r3, [%rd2], 1;
    st.global.u32 [%rd1], %r3;
  )";
  EXPECT_THAT(found_in_orders(takes_a_place, blocks(3, 64)),
              Contains(HasSubstr("kernel k: order: the result is another one in order ")));
  EXPECT_THAT(found_in_orders("st.global.u32 [%rd1], %r1;", blocks(3, 64)), IsEmpty());
}

TEST(Orders, BlameTheWarpThatGoesOnWhereTheOtherHasNotBegun) {
  const KernelRun run = run_in_orders(R"(
    .loc 1 41 0
    atom.global.exch.b32 %r3, [%rd2], %r1;
    ret;)",
                                      blocks(2, 1));
  ASSERT_THAT(run.findings, testing::SizeIs(1));
  EXPECT_THAT(run.findings.front().text, HasSubstr("with 1 switch: before block (0,0,0) warp 0 "));
  EXPECT_EQ(run.findings.front().source.line, 41);
  EXPECT_EQ(run.findings.front().other, "");
}

TEST(Orders, LeaveWhatTheUsualOneDoes) {
  // The place that a thread writes to depends on the order. The usual one uses the first ones.
  const std::string takes_a_place = R"(
    atom.global.add.u32 %r3, [%rd2], 1;
    mul.wide.u32 %rd3, %r3, 4;
    add.u64 %rd3, %rd0, %rd3;
    st.global.u32 [%rd3], %r1;
  )";
  Options options = limited();
  options.threads = 1;
  const Words alone = run_kernel(kernel_text(takes_a_place), blocks(3, 64), {}, options).output;
  options.schedules = 5;
  const KernelRun compared = run_kernel(kernel_text(takes_a_place), blocks(3, 64), {}, options);
  EXPECT_EQ(compared.output, alone);
  EXPECT_THAT(compared.findings, testing::Not(IsEmpty()));
}

TEST(Orders, ShowWhatOnlyTheyWrite) {
  // The first thread writes far behind what the usual order writes.
  const std::string kernel = R"(
    atom.global.add.u32 %r3, [%rd2], 1;
    setp.eq.u32 %p0, %r3, 0;
    setp.ne.and.u32 %p0, %r1, 0, %p0;
    @%p0 st.global.u32 [%rd0+16384], 7;
  )";
  const std::vector<std::string> found = found_in_orders(kernel, blocks(80, 64));
  EXPECT_THAT(found, Contains(HasSubstr("first at byte 16384 of output")));
}

TEST(Orders, ShowCountsThatDependOnThem) {
  // The first thread stores more.
  const std::string kernel = R"(
    atom.global.add.u32 %r3, [%rd2], 1;
    setp.lt.u32 %p0, %r3, 32;
    and.b32 %r4, %r0, 32;
    setp.ne.and.u32 %p0, %r4, 0, %p0;
    @%p0 st.global.u32 [%rd1], 7;
  )";
  EXPECT_THAT(found_in_orders(kernel, blocks(1, 64)), Contains(HasSubstr("count otherwise")));
}

TEST(Orders, SayNothingOfHowOftenALoopWaits) {
  const std::string barrier = R"(
    atom.global.add.u32 %r3, [%rd2], 1;
    POLL:
    ld.volatile.global.u32 %r4, [%rd2];
    setp.lt.u32 %p0, %r4, 192;
    @%p0 bra POLL;
    st.global.u32 [%rd1], 7;
  )";
  Shape shape = blocks(3, 64);
  shape.cooperative = true;
  EXPECT_THAT(found_in_orders(barrier, shape), IsEmpty());
}

TEST(Orders, InterruptWarpsBetweenBarriers) {
  const std::string kernel = with_tile(R"(
    mov.u32 %r7, 0;
    AGAIN:
    st.shared.u32 [%r4], %r7;
    bar.sync 0;
    ld.shared.u32 %r6, [%r5];
    bar.sync 0;
    add.u32 %r7, %r6, 1;
    setp.lt.u32 %p0, %r7, 50;
    @%p0 bra AGAIN;
    st.global.u32 [%rd1], %r7;
  )");
  EXPECT_THAT(found_in_orders(kernel, blocks(4, 64)), IsEmpty());
}

/// The first thread of each block adds 1 to the input, and may be interrupted meanwhile.
constexpr std::string_view kLosesUpdates = R"(
    setp.ne.u32 %p0, %r0, 0;
    @%p0 ret;
    .loc 1 12 0
    ld.global.u32 %r3, [%rd2];
    .loc 1 13 0
    add.u32 %r3, %r3, 1;
    .loc 1 14 0
    st.global.u32 [%rd2], %r3;
    ret;)";

TEST(Orders, AreReducedToTheSwitchThatLosesAnUpdate) {
  const KernelRun run = run_in_orders(std::string(kLosesUpdates), blocks(2, 32));
  ASSERT_THAT(run.findings, testing::SizeIs(1));
  const Finding& finding = run.findings.front();
  EXPECT_THAT(finding.text,
              testing::MatchesRegex(
                  "kernel k: order: the result is another one in order [1-5], with 1 switch: after "
                  "f.cu:12 by block \\(.,0,0\\) warp 0, block \\(.,0,0\\) warp 0 goes on to "
                  "f.cu:14, first at byte 0 of input \\(4 bytes\\)"));
  EXPECT_EQ(finding.rule, "order");
  EXPECT_EQ(finding.source.line, 12);
  EXPECT_EQ(finding.other, "f.cu:14");
  ASSERT_NE(finding.order, nullptr);
  EXPECT_FALSE(finding.order->order.late_stores);
  ASSERT_EQ(finding.order->order.switches.size(), 1u);
  EXPECT_THAT(finding.order->from, ElementsAre("f.cu:12"));
  EXPECT_THAT(finding.order->to, ElementsAre("f.cu:14"));
}

TEST(Orders, AreTheSameEachTime) {
  const auto texts = [] {
    std::vector<std::string> all;
    for (const Finding& each : run_in_orders(std::string(kLosesUpdates), blocks(7, 96)).findings) {
      all.push_back(each.text);
    }
    return all;
  };
  const std::vector<std::string> first = texts();
  EXPECT_THAT(first, Not(IsEmpty()));
  EXPECT_EQ(texts(), first);
}

TEST(Orders, CanBeReplayed) {
  const KernelRun run = run_in_orders(std::string(kLosesUpdates), blocks(2, 32));
  ASSERT_THAT(run.findings, testing::SizeIs(1));
  const auto replayed = [](const Order& order) {
    LoadedKernel kernel(kernel_text(kLosesUpdates) + std::string(kFile), blocks(2, 32), {},
                        limited());
    std::vector<Finding> findings;
    Launch launch = kernel.launch();
    launch.findings = &findings;
    launch.replayed = &order;
    kernel.run(launch);
    std::vector<std::string> texts;
    for (const Finding& finding : findings) texts.push_back(finding.text);
    return texts;
  };
  Order order = run.findings.front().order->order;
  EXPECT_THAT(replayed(order),
              ElementsAre(AllOf(HasSubstr("the result is another one in the order replayed, with 1 "
                                          "switch: after f.cu:12 by block"),
                                HasSubstr("first at byte 0 of input"))));
  EXPECT_THAT(replayed({}), IsEmpty());
  order.switches.front().after += 2;  // the store is made before
  EXPECT_THAT(replayed(order), IsEmpty());
}

TEST(Orders, ShowAFlagThatIsSetBeforeTheData) {
  // Block 0 writes the flag, then the data; block 1 waits for the flag.
  const std::string early_flag = R"(
    setp.ne.u32 %p0, %r0, 0;
    @%p0 ret;
    mov.u32 %r3, %ctaid.x;
    setp.eq.u32 %p1, %r3, 1;
    @%p1 bra WAIT;
    .loc 1 21 0
    st.volatile.global.u32 [%rd0+4], 1;
    .loc 1 22 0
    st.volatile.global.u32 [%rd0+8], 7;
    ret;
    WAIT:
    .loc 1 24 0
    ld.volatile.global.u32 %r4, [%rd0+4];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra WAIT;
    .loc 1 26 0
    ld.volatile.global.u32 %r5, [%rd0+8];
    .loc 1 27 0
    st.global.u32 [%rd0+12], %r5;
    ret;)";
  const KernelRun run = run_in_orders(early_flag, blocks(2, 32));
  ASSERT_THAT(run.findings, testing::SizeIs(1));
  EXPECT_THAT(run.findings.front().text,
              AllOf(HasSubstr("with 1 switch: after f.cu:21 by block (0,0,0) warp 0, block (1,0,0) "
                              "warp 0 goes on to f.cu:27"),
                    HasSubstr("first at byte 12 of output")));
  EXPECT_EQ(run.output[3], 7u) << "as the usual order leaves it";
}

TEST(Orders, ShowAHangThatNeedsOne) {
  // Block 1 waits for a flag that block 0 sets only if it came first. The other lanes wait aside.
  const std::string hangs = R"(
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra END;
    .loc 1 31 0
    atom.global.add.u32 %r3, [%rd2], 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra OTHER;
    setp.eq.u32 %p2, %r3, 0;
    .loc 1 34 0
    @%p2 st.volatile.global.u32 [%rd0+4], 1;
    bra END;
    OTHER:
    .loc 1 36 0
    ld.volatile.global.u32 %r4, [%rd0+4];
    setp.eq.u32 %p3, %r4, 0;
    @%p3 bra OTHER;
    END:
    ret;)";
  const KernelRun run = run_in_orders(hangs, blocks(2, 32));
  ASSERT_THAT(run.findings, testing::SizeIs(1));
  const Finding& finding = run.findings.front();
  EXPECT_THAT(finding.text,
              AllOf(HasSubstr("order: a fault in order "), HasSubstr(", with 1 switch: "),
                    HasSubstr("before block (0,0,0) warp 0 begins, block (1,0,0) warp 0 goes on to "
                              "f.cu:"),
                    HasSubstr("deadlock, all threads wait in loops for what nothing changes")));
  EXPECT_EQ(finding.rule, "");
  EXPECT_EQ(finding.source.line, 36);
}

TEST(Orders, ShowLateStoresWithoutASwitch) {
  const std::string overwrites = R"(
    .shared .align 128 .b8 buffer[128];
    setp.ne.u32 %p0, %r0, 0;
    @%p0 ret;
    mov.u32 %r3, buffer;
    st.shared.v4.u32 [%r3], {9, 9, 9, 9};
    fence.proxy.async;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r3], 16;
    cp.async.bulk.commit_group;
    st.shared.u32 [%r3], 4;
    cp.async.bulk.wait_group 0;
    ret;)";
  const KernelRun run = run_in_orders(overwrites, blocks(1, 32));
  ASSERT_THAT(run.findings, Not(IsEmpty()));
  EXPECT_THAT(run.findings.back().text,
              HasSubstr("with no switch, as asynchronous stores are made when their thread waits"));
  ASSERT_NE(run.findings.back().order, nullptr);
  EXPECT_TRUE(run.findings.back().order->order.late_stores);
}

TEST(Orders, SayThatALaunchBreaksWithoutOne) {
  const std::string reads_a_clock = R"(
    mov.u64 %rd3, %globaltimer;
    st.global.u64 [%rd0], %rd3;
    ret;)";
  EXPECT_THAT(
      found_in_orders(reads_a_clock, blocks(2, 1)),
      Contains(HasSubstr("with no switch, but when the launch is run again, as if it read a "
                         "clock, or memory that nothing wrote")));
}

TEST(Orders, SayHowFarTheirReductionIs) {
  Options options = limited();
  std::vector<std::string> said;
  options.progress = [&](std::string_view text) { said.emplace_back(text); };
  run_in_orders(std::string(kLosesUpdates), blocks(2, 32), options);
  EXPECT_THAT(said, Contains(testing::MatchesRegex("reducing an order of k: [0-9]+ of [0-9]+ "
                                                   "switch(es)? left after [0-9]+ launches")));
}

TEST(Orders, MeetBlocksBeyondThoseThatTheGpuHoldsAtOnceLater) {
  Shape shape = blocks(40, 32);
  shape.resident_blocks = 1;
  EXPECT_THAT(run_in_orders(std::string(kLosesUpdates), shape).findings, IsEmpty());
}

}  // namespace
}  // namespace warpgauge::emulator::machine::orders_test
