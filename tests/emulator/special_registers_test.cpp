// Special registers: of threads, blocks and grids, and clocks.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::special_registers_test {
namespace {

// Stores a special register of each thread, numbered over the whole grid.
Words special(const std::string& name, const Shape& shape) {
  return run_kernel(R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 output, .param .u64 input) {
  .reg .b32 %r<20>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
  mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mov.u32 %r6, %ntid.z;
  mad.lo.u32 %r7, %r3, %r5, %r2;
  mad.lo.u32 %r7, %r7, %r4, %r1;
  mov.u32 %r8, %ctaid.x; mov.u32 %r9, %ctaid.y; mov.u32 %r10, %ctaid.z;
  mov.u32 %r11, %nctaid.x; mov.u32 %r12, %nctaid.y;
  mad.lo.u32 %r13, %r10, %r12, %r9;
  mad.lo.u32 %r13, %r13, %r11, %r8;
  mul.lo.u32 %r14, %r4, %r5;
  mul.lo.u32 %r14, %r14, %r6;
  mad.lo.u32 %r13, %r13, %r14, %r7;
  mul.wide.u32 %rd1, %r13, 4;
  ld.param.u64 %rd0, [output];
  add.u64 %rd0, %rd0, %rd1;
  mov.u32 %r15, )" + name +
                        R"(;
  st.global.u32 [%rd0], %r15;
})",
                    shape)
      .output;
}

TEST(SpecialRegisters, OfThreadsBlocksAndGrids) {
  const Shape shape{{3, 2, 2}, {5, 3, 4}, 48};
  constexpr std::size_t kThreads = 60, kAll = 12 * kThreads;
  const auto all = [&](auto function) {
    return words(kAll, [&](auto n) { return function(n / kThreads, n % kThreads); });
  };
  EXPECT_EQ(special("%tid.x", shape), all([](auto, auto t) { return t % 5; }));
  EXPECT_EQ(special("%tid.y", shape), all([](auto, auto t) { return t / 5 % 3; }));
  EXPECT_EQ(special("%tid.z", shape), all([](auto, auto t) { return t / 15; }));
  EXPECT_EQ(special("%ntid.z", shape), Words(kAll, 4));
  EXPECT_EQ(special("%ctaid.x", shape), all([](auto b, auto) { return b % 3; }));
  EXPECT_EQ(special("%ctaid.y", shape), all([](auto b, auto) { return b / 3 % 2; }));
  EXPECT_EQ(special("%ctaid.z", shape), all([](auto b, auto) { return b / 6; }));
  EXPECT_EQ(special("%nctaid.y", shape), Words(kAll, 2));
  EXPECT_EQ(special("%smid", shape), all([](auto b, auto) { return b; }));
  EXPECT_EQ(special("%laneid", shape), all([](auto, auto t) { return t % 32; }));
  EXPECT_EQ(special("%warpid", shape), all([](auto, auto t) { return t / 32; }));
  EXPECT_EQ(special("%lanemask_eq", shape), all([](auto, auto t) { return 1u << t % 32; }));
  EXPECT_EQ(special("%lanemask_lt", shape), all([](auto, auto t) { return (1u << t % 32) - 1; }));
  EXPECT_EQ(special("%lanemask_le", shape), all([](auto, auto t) { return (2u << t % 32) - 1; }));
  EXPECT_EQ(special("%lanemask_ge", shape), all([](auto, auto t) { return ~0u << t % 32; }));
  EXPECT_EQ(special("%lanemask_gt", shape), all([](auto, auto t) { return ~1u << t % 32; }));
  EXPECT_EQ(special("%dynamic_smem_size", shape), Words(kAll, 48));
  EXPECT_EQ(special("%total_smem_size", shape), Words(kAll, 48));
  EXPECT_EQ(special("%nsmid", shape), Words(kAll, 132));
  EXPECT_EQ(special("%cluster_nctaid.x", shape), Words(kAll, 1));
  EXPECT_EQ(special("%cluster_ctarank", shape), Words(kAll, 0));
}

TEST(SpecialRegisters, ClocksGoForward) {
  const KernelRun run = run_body(R"(
    mov.u64 %rd4, %clock64;
    mov.u64 %rd6, %globaltimer;
    mov.u32 %r3, %clock;
  WAIT:
    mov.u64 %rd5, %clock64;
    sub.u64 %rd5, %rd5, %rd4;
    setp.lt.u64 %p1, %rd5, 100000;
    @%p1 bra WAIT;
    mov.u32 %r4, %clock;
    sub.u32 %r4, %r4, %r3;
    mov.u64 %rd7, %globaltimer;
    setp.lt.u64 %p2, %rd7, %rd6;
    selp.u32 %r4, 0, %r4, %p2;
    st.global.u32 [%rd1], %r4;
  )");
  EXPECT_GE(run.output[0], 99'000u);
  EXPECT_LT(run.outcome.warp_instructions, 1000u) << "a loop that waits for time ends soon";
}

TEST(SpecialRegisters, ClocksHaveUpperHalves) {
  // A clock that is read so often has gone round its lower half.
  const KernelRun run = run_body(R"(
    mov.u32 %r3, 0;
  READ:
    mov.u32 %r4, %clock;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 20000;
    @%p1 bra READ;
    mov.u64 %rd4, %clock64;
    mov.u32 %r5, %clock_hi;
    mov.u64 %rd6, %globaltimer;
    mov.u32 %r6, %globaltimer_hi;
    shr.u64 %rd4, %rd4, 32;
    cvt.u32.u64 %r7, %rd4;
    shr.u64 %rd6, %rd6, 32;
    cvt.u32.u64 %r8, %rd6;
    sub.u32 %r8, %r6, %r8;
    st.global.v4.u32 [%rd0], {%r5, %r7, %r8, 0};
  )");
  EXPECT_GT(run.output[0], 0u);
  EXPECT_EQ(run.output[0], run.output[1]);
  EXPECT_LE(run.output[2], 1u) << "which passes between the two";
}

}  // namespace
}  // namespace warpgauge::emulator::machine::special_registers_test
