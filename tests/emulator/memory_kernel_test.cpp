// Memory instructions in kernels: what needs an engine, blocks, or several workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::memory_kernel_test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;

Shape blocks(std::uint32_t count, std::uint32_t threads, std::uint64_t shared_bytes = 0) {
  return {{count, 1, 1}, {threads, 1, 1}, shared_bytes};
}

std::string what_of(const std::string& text, const Shape& shape = {}, Options options = limited()) {
  const std::optional<Fault> fault = fault_of(text, shape, std::move(options));
  return fault ? fault->what() : "no fault";
}

TEST(MemoryKernel, FaultsNameKernelBlockThreadPlaceAndAllocation) {
  // Thread 5 of block 1 writes behind the end.
  const std::string text = kernel_text(R"(
    setp.eq.u32 %p0, %r1, 37;
    selp.b64 %rd3, 128, 0, %p0;
    add.u64 %rd1, %rd1, %rd3;
    st.global.u32 [%rd1], %r0;
  )");
  EXPECT_THAT(what_of(text, blocks(2, 32)),
              AllOf(HasSubstr("kernel k"), HasSubstr("block (1,0,0)"), HasSubstr("thread (5,0,0)"),
                    HasSubstr("invalid global write of 4 bytes at 0x"),
                    EndsWith(": 20 bytes past the end of output (256 bytes)")));
}

TEST(MemoryKernel, ConstantVariablesAreReadOnly) {
  const std::string table = ".visible .const .align 4 .u32 table[4] = {10, 20, 30, 40};\n";
  const std::string read = R"(
    and.b32 %r3, %r0, 3;
    mul.wide.u32 %rd3, %r3, 4;
    mov.u64 %rd4, table;
    add.u64 %rd5, %rd4, %rd3;
    ld.const.u32 %r4, [%rd5];
    cvta.const.u64 %rd6, %rd5;
    ld.u32 %r5, [%rd6];
    ld.const.u32 %r6, [table+12];
    add.u32 %r4, %r4, %r5;
    add.u32 %r4, %r4, %r6;
    st.global.u32 [%rd1], %r4;
  )";
  EXPECT_EQ(run_kernel(kernel_text(read, table)).output,
            words(32, [](std::size_t n) { return 20 * (n % 4 + 1) + 40; }));
  const std::string write = "mov.u64 %rd4, table; st.global.u32 [%rd4], %r0;";
  EXPECT_THAT(what_of(kernel_text(write, table)), EndsWith("table (16 bytes), which is constant"));
}

TEST(MemoryKernel, SharedHistogramsAddUpOverBlocksAndWorkers) {
  // Each block counts 4 bins in shared memory and adds them to the output.
  const std::string text = kernel_text(R"(
    .shared .align 4 .b8 bins[16];
    and.b32 %r3, %r0, 3;
    mov.u32 %r4, bins;
    mad.lo.u32 %r5, %r3, 4, %r4;
    mad.lo.u32 %r6, %r0, 4, %r4;
    setp.lt.u32 %p0, %r0, 4;
    @%p0 st.shared.u32 [%r6], 0;
    bar.sync 0;
    red.shared.add.u32 [%r5], %r3;
    bar.sync 0;
    mul.wide.u32 %rd4, %r0, 4;
    add.u64 %rd5, %rd0, %rd4;
    @%p0 ld.shared.u32 %r7, [%r6];
    @%p0 red.global.add.u32 [%rd5], %r7;
  )");
  Options options = limited();
  options.threads = 4;
  const KernelRun run = run_kernel(text, blocks(500, 64), {}, options);
  for (std::uint32_t bin = 0; bin < 4; ++bin) EXPECT_EQ(run.output[bin], 500 * 16 * bin);
  EXPECT_EQ(totals_of(run.outcome, AccessTotals::Space::global_atomic).requests, 500u);
  // 32 lanes on 4 words, one after the other on each: 8 wavefronts.
  std::uint64_t atomics = 0;
  for (const InstructionTotals& totals : run.outcome.totals) {
    if (totals.access.space == AccessTotals::Space::shared && totals.access.requests == 1000 &&
        totals.access.wavefronts == 8000) {
      ++atomics;
    }
  }
  EXPECT_EQ(atomics, 1u);
}

TEST(MemoryKernel, CopiesThatNoThreadWaitsForAreNotSeen) {
  const auto text = [](const std::string& wait) {
    return kernel_text(R"(
      .shared .align 16 .b8 tile[128];
      mov.u32 %r3, tile;
      mad.lo.u32 %r4, %r0, 4, %r3;
      st.shared.u32 [%r4], 7;
      mul.wide.u32 %rd3, %r0, 4;
      add.u64 %rd4, %rd2, %rd3;
      cp.async.ca.shared.global [%r4], [%rd4], 4;
      cp.async.commit_group;
    )" + wait + R"(
      bar.sync 0;
      ld.shared.u32 %r5, [%r4];
      st.global.u32 [%rd1], %r5;
    )");
  };
  const Words input = words(32, [](std::size_t n) { return 100 + n; });
  EXPECT_EQ(run_kernel(text("cp.async.wait_group 0;"), {}, input).output, input);
  EXPECT_EQ(run_kernel(text("cp.async.wait_all;"), {}, input).output, input);
  EXPECT_THAT(run_kernel(text("cp.async.wait_group 1;"), {}, input).output, Each(7u));
  EXPECT_THAT(run_kernel(text(""), {}, input).output, Each(7u));
}

TEST(MemoryKernel, CopiesThatABlockDidNotWaitForAreNotMadeInTheNext) {
  const std::string text = kernel_text(R"(
    .shared .align 16 .b8 tile[128];
    mov.u32 %r3, tile;
    mad.lo.u32 %r4, %r0, 4, %r3;
    st.shared.u32 [%r4], 7;
    mov.u32 %r5, %ctaid.x;
    setp.eq.u32 %p0, %r5, 0;
    @%p0 cp.async.ca.shared.global [%r4], [%rd2], 4;
    @!%p0 cp.async.wait_all;
    ld.shared.u32 %r6, [%r4];
    st.global.u32 [%rd1], %r6;
  )");
  Options options = limited();
  options.threads = 1;  // so that the blocks have the same warp, one after the other
  EXPECT_THAT(run_kernel(text, blocks(2, 32), {100}, options).output, Each(7u));
}

constexpr const char* kMatrix = R"(
    .shared .align 16 .b8 tile[512];
    mov.u32 %r3, tile;
    mad.lo.u32 %r4, %r0, 4, %r3;
    st.shared.u32 [%r4], %r0;
    bar.warp.sync 0xffffffff;
    and.b32 %r5, %r0, 7;
    mad.lo.u32 %r6, %r5, 16, %r3;
)";

TEST(MemoryKernel, MatrixLoadsWaitForTheWholeWarp) {
  // Half of the warp arrives by another way.
  const std::string text = kernel_text(std::string(kMatrix) + R"(
    setp.lt.u32 %p0, %r0, 16;
    @%p0 bra LATER;
    add.u32 %r7, %r0, 1;
    LATER:
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r6];
    st.global.u32 [%rd1], %r8;
  )");
  // Word l of the tile is l: lane l gets the l-th pair of the 8 rows of 4 words.
  EXPECT_EQ(run_kernel(text).output, words(32, [](std::size_t n) { return n; }));
}

TEST(MemoryKernel, MatrixLoadsNeedAWholeWarp) {
  const std::string text = kernel_text(R"(
    mov.u32 %r3, 0;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r3];
  )");
  const std::optional<Fault> fault = fault_of(text, blocks(1, 16, 1024));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind(), Fault::Kind::illegal_instruction);
  EXPECT_THAT(fault->what(), EndsWith("ldmatrix, stmatrix and wmma need all 32 lanes of the warp"));
}

TEST(MemoryKernel, DynamicSharedMemoryEndsWhereTheLaunchSays) {
  const std::string items = ".extern .shared .align 16 .b8 buffer[];\n";
  const std::string text = kernel_text(R"(
    mov.u32 %r3, buffer;
    mad.lo.u32 %r4, %r0, 4, %r3;
    st.shared.u32 [%r4], %r0;
  )",
                                       items);
  EXPECT_EQ(what_of(text, blocks(1, 32, 128)), "no fault");
  EXPECT_THAT(what_of(text, blocks(1, 32, 124)),
              AllOf(HasSubstr("thread (31,0,0)"), HasSubstr("invalid shared write of 4 bytes"),
                    EndsWith("the block has 124 bytes of shared memory")));
}

TEST(MemoryKernel, AnOffsetCountsEachTimeAnInstructionIsExecuted) {
  // Thread 0 loads twice from memory of 128 bytes.
  const auto kernel = [](const std::string& step) {
    return kernel_text(R"(
      mov.u32 %r3, 0;
      setp.eq.u32 %p1, %r0, 0;
      AGAIN:
      @%p1 ld.global.u32 %r4, [%rd0+64];
      add.u64 %rd0, %rd0, )" +
                       step + R"(;
      add.u32 %r3, %r3, 1;
      setp.lt.u32 %p0, %r3, 2;
      @%p0 bra AGAIN;
    )");
  };
  EXPECT_EQ(what_of(kernel("60")), "no fault");
  EXPECT_THAT(what_of(kernel("64")), EndsWith("right past the end of output (128 bytes)"));
}

TEST(MemoryKernel, LocalArraysAreEachThreadsOwn) {
  const std::string text = kernel_text(R"(
    .local .align 4 .b8 scratch[32];
    mov.u64 %rd3, scratch;
    cvta.local.u64 %rd4, %rd3;
    and.b32 %r3, %r0, 7;
    mul.wide.u32 %rd5, %r3, 4;
    add.u64 %rd6, %rd3, %rd5;
    add.u64 %rd7, %rd4, %rd5;
    st.local.u32 [%rd6], %r0;
    ld.u32 %r4, [%rd7];
    st.global.u32 [%rd1], %r4;
  )");
  const KernelRun run = run_kernel(text, blocks(3, 64));
  EXPECT_EQ(run.output, words(192, [](std::size_t n) { return n % 64; }));
  EXPECT_EQ(totals_of(run.outcome, AccessTotals::Space::local).requests, 2 * 6u);
}

TEST(MemoryKernel, WhatIsNotEmulatedIsNamed) {
  EXPECT_THAT(what_of(kernel_text("ld.global.surprising.u32 %r3, [%rd1];")),
              AllOf(HasSubstr("not emulated: ld.global.surprising.u32"),
                    HasSubstr("modifier .surprising")));
  EXPECT_THAT(what_of(kernel_text("multimem.ld_reduce.global.add.u32 %r3, [%rd1];")),
              HasSubstr("not emulated: multimem.ld_reduce.global.add.u32"));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::memory_kernel_test
