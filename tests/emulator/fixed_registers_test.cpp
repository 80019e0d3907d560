// Registers that share the place of a parameter, special register or constant, because they are
// written once.
#include <gtest/gtest.h>

#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::fixed_registers_test {
namespace {

constexpr Shape kTwoBlocks{.grid = {2, 1, 1}};

TEST(FixedRegisters, AreReadWhereTheValuesAre) {
  const KernelRun run = run_body(R"(
    mov.u32 %r10, %ctaid.x;
    mov.u32 %r11, 1000;
    mov.b32 %r12, %r10;
    cvta.to.global.u64 %rd10, %rd0;
    mad.lo.u32 %r13, %r12, %r11, %r0;
    mul.wide.u32 %rd11, %r1, 4;
    add.u64 %rd11, %rd10, %rd11;
    st.global.u32 [%rd11], %r13;
  )",
                                 kTwoBlocks);
  EXPECT_EQ(run.output, words(64, [](std::size_t n) { return n / 32 * 1000 + n % 32; }));
}

TEST(FixedRegisters, TheirInstructionsCount) {
  const KernelRun run = run_body("mov.u32 %r10, 7; st.global.u32 [%rd1], %r10;");
  EXPECT_EQ(run.outcome.warp_instructions, kPrologue + 3);
}

TEST(FixedRegisters, OneThatIsWrittenAgainIsNone) {
  const KernelRun run = run_body(R"(
    mov.u32 %r10, 5;
    mov.u32 %r11, 0;
  LOOP:
    add.u32 %r10, %r10, %r0;
    add.u32 %r11, %r11, 1;
    setp.lt.u32 %p0, %r11, 3;
    @%p0 bra LOOP;
    st.global.u32 [%rd1], %r10;
  )");
  EXPECT_EQ(run.output, words(32, [](std::size_t n) { return 5 + 3 * n; }));
}

TEST(FixedRegisters, OneThatSomeLanesWriteIsNone) {
  const KernelRun run = run_body(R"(
    setp.lt.u32 %p0, %r0, 8;
    @%p0 mov.u32 %r10, 5;
    @!%p0 mov.u32 %r10, 6;
    st.global.u32 [%rd1], %r10;
  )");
  EXPECT_EQ(run.output, words(32, [](std::size_t n) { return n < 8 ? 5 : 6; }));
}

TEST(FixedRegisters, OneThatIsWrittenInAPairIsNone) {
  const KernelRun run = run_body(R"(
    mov.u32 %r10, 9;
    shfl.sync.idx.b32 %r10|%p0, %r0, 3, 31, 0xffffffff;
    st.global.u32 [%rd1], %r10;
  )");
  EXPECT_EQ(run.output, words(32, [](std::size_t) { return 3; }));
}

TEST(FixedRegisters, OneThatACallWritesIsNone) {
  const std::string body = R"(
    mov.u32 %r10, 1;
    .param .b32 got;
    call (got), seven, ();
    ld.param.b32 %r10, [got];
    st.global.u32 [%rd1], %r10;
  )";
  const KernelRun run = run_kernel(
      kernel_text(body, ".func (.param .b32 out) seven() { st.param.b32 [out], 7; ret; }\n"));
  EXPECT_EQ(run.output, words(32, [](std::size_t) { return 7; }));
}

TEST(FixedRegisters, AParametersPartsAreDistinct) {
  const KernelRun run = run_body(R"(
    ld.param.u32 %r10, [output];
    ld.param.u32 %r11, [output+4];
    mov.b64 %rd10, {%r10, %r11};
    xor.b64 %rd11, %rd10, %rd0;
    cvt.u32.u64 %r12, %rd11;
    add.u32 %r12, %r12, 1;
    st.global.u32 [%rd1], %r12;
  )");
  EXPECT_EQ(run.output, words(32, [](std::size_t) { return 1; }));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::fixed_registers_test
