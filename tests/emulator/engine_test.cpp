// The engine: special registers, variables and parameters of kernels, counts, and how
// launches end that go wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

TEST(Engine, VariablesOfTheModule) {
  const KernelRun run = run_kernel(kernel_text(R"(
    mov.u64 %rd4, pointer;
    ld.global.u64 %rd5, [%rd4];
    ld.global.u32 %r3, [%rd5];
    ld.const.u32 %r4, [fixed+4];
    mov.u64 %rd6, fixed;
    cvta.const.u64 %rd7, %rd6;
    ld.u32 %r5, [%rd7+8];
    add.u32 %r3, %r3, %r4;
    add.u32 %r3, %r3, %r5;
    st.global.u32 [%rd1], %r3;
  )",
                                               R"(
.const .align 4 .u32 fixed[3] = {1000, 2000, 3000};
.global .align 4 .u32 values[4] = {1, 20, 300};
.global .align 8 .u64 pointer = generic(values)+8;
)"));
  EXPECT_EQ(run.output, Words(32, 300 + 2000 + 3000));
}

TEST(Engine, KernelsMayNotWriteConstants) {
  const auto fault = fault_of(kernel_text(R"(
    mov.u64 %rd6, fixed;
    cvta.const.u64 %rd7, %rd6;
    st.u32 [%rd7], 1;
  )",
                                          ".const .align 4 .u32 fixed = 1;"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::illegal_address);
}

TEST(Engine, DynamicSharedMemoryFollowsTheStatic) {
  const KernelRun run = run_kernel(kernel_text(R"(
    .shared .align 4 .b8 own[12];
    mov.u32 %r3, fixed;
    mov.u32 %r4, own;
    mov.u32 %r5, dynamic;
    shl.b32 %r6, %r4, 8;
    or.b32 %r3, %r3, %r6;
    shl.b32 %r6, %r5, 16;
    or.b32 %r3, %r3, %r6;
    st.shared.u32 [%r5+60], %r3;
    st.global.u32 [%rd1], %r3;
  )",
                                               R"(
.shared .align 4 .b8 fixed[20];
.extern .shared .align 16 .b8 dynamic[];
)"),
                                   {{1, 1, 1}, {32, 1, 1}, 64});
  EXPECT_EQ(run.output, Words(32, 0u | 20u << 8 | 32u << 16));
}

// The sum over threads does not depend on how many workers share the blocks.
TEST(Engine, CountsOfAllWorkersAddUp) {
  const std::string text = kernel_text(R"(
    rem.u32 %r3, %r1, 7;
    mul.wide.u32 %rd4, %r3, 4;
    add.u64 %rd4, %rd2, %rd4;
    ld.global.u32 %r4, [%rd4];
    setp.gt.u32 %p1, %r3, 3;
    @%p1 bra SKIP;
    add.u32 %r4, %r4, %r3;
  SKIP:
    st.global.u32 [%rd1], %r4;
  )");
  const auto with_threads = [&](int threads) {
    Options options = limited();
    options.threads = threads;
    return run_kernel(text, {{500, 1, 1}, {96, 1, 1}}, {5, 4, 3, 2, 1, 0, 9}, options);
  };
  const KernelRun single = with_threads(1), three = with_threads(3);
  EXPECT_EQ(single.output, three.output);
  EXPECT_EQ(single.outcome.warp_instructions, three.outcome.warp_instructions);
  EXPECT_EQ(divergent(single.outcome), 1500u);
  EXPECT_EQ(divergent(three.outcome), 1500u);
  ASSERT_EQ(single.outcome.totals.size(), 2u);
  ASSERT_EQ(three.outcome.totals.size(), 2u);
  for (int n = 0; n < 2; ++n) {
    EXPECT_EQ(single.outcome.totals[n].access.requests, 1500u);
    EXPECT_EQ(three.outcome.totals[n].access.requests, 1500u);
    EXPECT_EQ(single.outcome.totals[n].access.sectors, three.outcome.totals[n].access.sectors);
  }
  // The 28 bytes of the input lie in one sector, a warp's 128 bytes of output in four.
  EXPECT_EQ(single.outcome.totals[0].access.sectors, 1500u);
  EXPECT_EQ(single.outcome.totals[1].access.sectors, 6000u);
}

TEST(Engine, AMachineRunsKernelsAgain) {
  Machine machine(Architecture{}, limited());
  Program& program =
      machine.load(ptx::parse(kernel_text("red.global.add.u32 [%rd0], 1;"), "test.ptx"));
  Kernel* const kernel = machine.find_kernel(program, "k");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(machine.find_kernel(program, "missing"), nullptr);
  std::byte* const memory = machine.memory().allocate(4, memory::Memory::Kind::device, "sum");
  std::memset(memory, 0, 4);
  const std::array<const std::byte*, 2> pointers = {memory, nullptr};
  for (std::uint32_t n = 1; n <= 3; ++n) {
    machine.run(*kernel, {{4, 1, 1}, {n * 10, 1, 1}, 0, false, std::as_bytes(std::span(pointers))});
  }
  std::uint32_t sum = 0;
  std::memcpy(&sum, memory, 4);
  EXPECT_EQ(sum, 4u * (10 + 20 + 30));
}

TEST(Faults, NameKernelBlockThreadAndLine) {
  const std::string text = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry _ZN5space3runIfLi32EEEvPT_i(.param .u64 output) {
  .reg .b32 %r<4>; .reg .pred %p<2>;
  .loc 1 17 3
  mov.u32 %r1, %tid.y;
  .loc 1 18 5
  setp.eq.u32 %p1, %r1, 2;
  @%p1 trap;
}
.file 1 "kernels/some/family.cu"
)";
  Machine machine(Architecture{}, limited());
  Kernel* const kernel = machine.find_kernel(machine.load(ptx::parse(text, "test.ptx")),
                                             "_ZN5space3runIfLi32EEEvPT_i");
  ASSERT_NE(kernel, nullptr);
  const std::array<std::byte, 8> parameters{};
  try {
    machine.run(*kernel, {{1, 4, 1}, {5, 3, 1}, 0, false, parameters});
    ADD_FAILURE() << "no fault";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind(), Fault::Kind::trap);
    EXPECT_THAT(fault.what(), AllOf(StartsWith("kernel space::run<float, 32>, block (0,"),
                                    HasSubstr(", thread (0,2,0), "),
                                    HasSubstr("kernels/some/family.cu:18: trap")));
  }
}

TEST(Faults, AreBlamedOnTheLineInTheProjectThatTheyWereInlinedInto) {
  const std::string header = "/usr/local/cuda/include/sm_32_intrinsics.hpp";
  const std::string files = "\n.file 1 \"a.cu\"\n.file 2 \"" + header +
                            "\"\n.file 3 \"own.h\"\n.section .debug_str { $L: .b8 0 }\n";
  const std::string inlined = R"(
    .loc 1 7 3
    .loc 3 20 5, function_name $L, inlined_at 1 7 3
    )";
  const std::string from_header = inlined + ".loc 2 90 1, function_name $L, inlined_at 3 20 5\n";
  const metrics::CallSite own = {"own.h", 20}, call = {"a.cu", 7};
  for (const char* const wrong :
       {"st.global.u32 [0], %r0;", "add.u64 %rd1, %rd1, 1; st.global.u32 [%rd1], %r0;", "trap;",
        "tcgen05.wait::ld.sync.aligned;"}) {
    const auto fault = fault_of(kernel_text(inlined + wrong) + files);
    ASSERT_TRUE(fault.has_value()) << wrong;
    EXPECT_EQ(fault->kernel(), "k");
    EXPECT_EQ(fault->source(), (metrics::SourceLine{"own.h", 20, {own, call}})) << wrong;
    EXPECT_THAT(fault->what(), HasSubstr("own.h:20: ")) << wrong;
    const auto outside = fault_of(kernel_text(from_header + wrong) + files);
    ASSERT_TRUE(outside.has_value()) << wrong;
    EXPECT_EQ(outside->source(), (metrics::SourceLine{"own.h", 20, {{header, 90}, own, call}}));
  }
}

TEST(Faults, UnknownInstructionsAreRefusedWhereTheyAreReached) {
  const auto fault =
      fault_of(kernel_text("setp.eq.u32 %p1, %r1, 40; @%p1 tcgen05.wait::ld.sync.aligned; ret;"),
               {{2, 1, 1}, {32, 1, 1}});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::not_emulated);
  EXPECT_THAT(fault->what(),
              AllOf(HasSubstr("block (1,0,0), thread (8,0,0)"), HasSubstr("PTX line 15"),
                    HasSubstr("not emulated: tcgen05.wait::ld.sync.aligned")));
  EXPECT_FALSE(fault_of(kernel_text("ret; tcgen05.wait::ld.sync.aligned;")).has_value());
}

TEST(Faults, UnknownModifiersAreNotIgnored) {
  for (const char* const body :
       {"bra.sometimes A; A: ret;", "shfl.sync.sideways.b32 %r3, %r0, 1, 31, -1;",
        "bar.red.xor.pred %p1, 0, %p2;", "barrier.cluster.leave;", "exit.quietly;",
        "mov.u32 %r3, %tid.w;", "vote.sync.most.pred %p1, %p2, -1;", "griddepcontrol.later;"}) {
    const auto fault = fault_of(kernel_text(body));
    ASSERT_TRUE(fault.has_value()) << body;
    EXPECT_EQ(fault->kind(), Fault::Kind::not_emulated) << body;
  }
}

TEST(Faults, EndlessLoopsMeetTheStepLimit) {
  Options options;
  options.step_limit = 5000;
  for (const char* const body : {"L: bra L;", "L: bar.sync 0; bra L;",
                                 "L: ld.volatile.global.u32 %r3, [%rd2];"
                                 "setp.eq.u32 %p1, %r3, 0; @%p1 bra L;"}) {
    const auto fault = fault_of(kernel_text(body), {{3, 1, 1}, {64, 1, 1}}, options);
    ASSERT_TRUE(fault.has_value()) << body;
    EXPECT_EQ(fault->kind(), Fault::Kind::step_limit) << body;
    EXPECT_THAT(fault->what(), HasSubstr("the limit is 5000")) << body;
  }
}

TEST(Faults, EndlessLoopsMeetTheTimeLimit) {
  Options options;
  options.time_limit = std::chrono::milliseconds(50);
  const auto fault = fault_of(kernel_text("L: bra L;"), {{30, 1, 1}, {64, 1, 1}}, options);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::time_limit);
}

TEST(Faults, LaunchesThatNoGpuTakesAreRefused) {
  const std::string text = kernel_text("ret;");
  EXPECT_THROW(run_kernel(text, {{1, 1, 1}, {1025, 1, 1}}), std::invalid_argument);
  EXPECT_THROW(run_kernel(text, {{1, 1, 1}, {1, 1, 1}, 228 * 1024}), std::invalid_argument);
  EXPECT_THROW(run_kernel(text, {{1, 0, 1}, {1, 1, 1}}), std::invalid_argument);
}

}  // namespace
}  // namespace warpgauge::emulator::machine
