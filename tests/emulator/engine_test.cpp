// The engine: variables of modules and kernels, workers, and kernels that run again.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::engine_test {
namespace {

TEST(Engine, VariablesOfTheModule) {
  constexpr std::string_view kVariables = R"(
.const .align 4 .u32 fixed[3] = {1000, 2000, 3000};
.global .align 4 .u32 values[4] = {1, 20, 300};
.global .align 8 .u64 pointer = generic(values)+8;
)";
  constexpr std::string_view kBody = R"(
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
  )";
  const KernelRun run = run_kernel(kernel_text(kBody, kVariables));
  EXPECT_EQ(run.output, Words(32, 300 + 2000 + 3000));
}

TEST(Engine, KernelsMayNotWriteConstants) {
  constexpr std::string_view kBody = R"(
    mov.u64 %rd6, fixed;
    cvta.const.u64 %rd7, %rd6;
    st.u32 [%rd7], 1;
  )";
  const auto fault = fault_of(kernel_text(kBody, ".const .align 4 .u32 fixed = 1;"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::illegal_address);
}

TEST(Engine, DynamicSharedMemoryFollowsTheStatic) {
  constexpr std::string_view kVariables = R"(
.shared .align 4 .b8 fixed[20];
.extern .shared .align 16 .b8 dynamic[];
)";
  constexpr std::string_view kBody = R"(
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
  )";
  const KernelRun run = run_kernel(kernel_text(kBody, kVariables), {.dynamic_shared_bytes = 64});
  EXPECT_EQ(run.output, Words(32, 0u | 20u << 8 | 32u << 16));
}

/// A run of 500 blocks with 3 warps each by this many workers. Each warp divides once.
KernelRun run_with_workers(int workers) {
  constexpr std::string_view kBody = R"(
    rem.u32 %r3, %r1, 7;
    mul.wide.u32 %rd4, %r3, 4;
    add.u64 %rd4, %rd2, %rd4;
    ld.global.u32 %r4, [%rd4];
    setp.gt.u32 %p1, %r3, 3;
    @%p1 bra SKIP;
    add.u32 %r4, %r4, %r3;
  SKIP:
    st.global.u32 [%rd1], %r4;
  )";
  Options options = limited();
  options.threads = workers;
  return run_kernel(kernel_text(kBody), {.grid = {500, 1, 1}, .block = {96, 1, 1}},
                    {5, 4, 3, 2, 1, 0, 9}, options);
}

TEST(Engine, CountsOfAllWarpsAddUp) {
  const LaunchOutcome outcome = run_with_workers(1).outcome;
  EXPECT_EQ(divergent(outcome), 1500u);
  ASSERT_EQ(outcome.totals.size(), 2u);
  const AccessTotals &load = outcome.totals[0].access, &store = outcome.totals[1].access;
  EXPECT_EQ(load.requests, 1500u);
  EXPECT_EQ(store.requests, 1500u);
  EXPECT_EQ(load.sectors, 1500u) << "the 28 bytes of the input lie in one sector";
  EXPECT_EQ(store.sectors, 6000u) << "the 128 bytes of a warp lie in four";
}

TEST(Engine, CountsDoNotDependOnTheNumberOfWorkers) {
  const KernelRun single = run_with_workers(1), three = run_with_workers(3);
  EXPECT_EQ(single.output, three.output);
  EXPECT_EQ(single.outcome.warp_instructions, three.outcome.warp_instructions);
  EXPECT_EQ(divergent(single.outcome), divergent(three.outcome));
  ASSERT_EQ(single.outcome.totals.size(), three.outcome.totals.size());
  for (std::size_t i = 0; i < single.outcome.totals.size(); ++i) {
    EXPECT_EQ(single.outcome.totals[i].access.requests, three.outcome.totals[i].access.requests);
    EXPECT_EQ(single.outcome.totals[i].access.sectors, three.outcome.totals[i].access.sectors);
  }
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
  for (const std::uint32_t threads : {10u, 20u, 30u}) {
    machine.run(*kernel, {.grid = {4, 1, 1},
                          .block = {threads, 1, 1},
                          .parameters = std::as_bytes(std::span(pointers))});
  }
  std::uint32_t sum = 0;
  std::memcpy(&sum, memory, 4);
  EXPECT_EQ(sum, 4u * (10 + 20 + 30));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::engine_test
