// How launches end that go wrong: what a fault says, and launches that are refused.
#include "harness/emulator/machine/core/fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/refusals.h"
#include "harness/emulator/ptx/module.h"
#include "metrics/base/source_line.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::fault_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

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
    machine.run(*kernel, {.grid = {1, 4, 1}, .block = {5, 3, 1}, .parameters = parameters});
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

TEST(Refusals, HiddenParametersAreOfNoLaunch) {
  std::string text = kernel_text("ld.param.u64 %rd5, [map]; ret;");
  text.replace(text.find(".param .u64 input"), 0, ".hidden .param .align 64 .b8 map[128], ");
  const std::vector<Refusal> found = refusals(ptx::parse(text, "k.ptx"), {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].instruction, "ld.param.u64");
  EXPECT_EQ(found[0].why, "the hidden parameter map, which only NVIDIA's driver fills in");
  Machine machine(Architecture{}, limited());
  const Kernel* const kernel = machine.find_kernel(machine.load(ptx::parse(text, "k.ptx")), "k");
  const KernelInfo& info = machine.info(*kernel);
  ASSERT_EQ(info.parameters.size(), 2u);
  EXPECT_EQ(info.parameters[0].offset, 0u);
  EXPECT_EQ(info.parameters[1].offset, 192u);  // behind the hidden one
}

TEST(Refusals, AreThoseOfAllThatKernelsReach) {
  const std::string text = std::string(".version 9.0\n.target sm_100a\n.address_size 64\n") +
                           ".func never() { tcgen05.fence::before_thread_sync; ret; }\n"
                           ".func called() {\n.reg .b32 %r;\nmov.u32 %r, %tid.w;\nret;\n}\n"
                           ".entry one() {\ncall.uni called;\nret;\n}\n"
                           ".entry two() {\ntcgen05.wait::ld.sync.aligned;\n"
                           "call.uni called;\ncall.uni elsewhere;\nret;\n}\n";
  const std::vector<Refusal> found = refusals(ptx::parse(text, "k.ptx"), {});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].line, 7);
  EXPECT_EQ(found[0].instruction, "mov.u32");
  EXPECT_THAT(found[0].why, HasSubstr("%tid.w"));
  EXPECT_EQ(found[1].line, 15);
  EXPECT_EQ(found[1].instruction, "tcgen05.wait::ld.sync.aligned");
  EXPECT_EQ(found[1].why, "");
  EXPECT_EQ(found[2].line, 17);
  EXPECT_THAT(found[2].why, HasSubstr("elsewhere is not defined"));
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

TEST(Faults, AnAddressIsNoValue) {
  const auto fault = fault_of(kernel_text("mov.u32 %r3, [%r4];"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::not_emulated);
  EXPECT_THAT(fault->what(), HasSubstr("mov.u32: an operand that is a list or an address where"));
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

TEST(Faults, EndlessLoopsMeetTheLimitOfCpuTime) {
  Options options;
  options.cpu_limit = std::chrono::milliseconds(100);
  options.program_waits = [] { return false; };  // it is no deadlock of loops for a time
  for (const char* const body : {"L: bra L;",
                                 "L: ld.volatile.global.u32 %r3, [%rd2];"
                                 "setp.eq.u32 %p1, %r3, 0; @%p1 bra L;"}) {
    const auto fault = fault_of(kernel_text(body), {{3, 1, 1}, {64, 1, 1}}, options);
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->kind(), Fault::Kind::time_limit);
    EXPECT_THAT(fault->what(), HasSubstr("longer than its limit of 100 ms"));
  }
}

TEST(Faults, LaunchesThatNoGpuTakesAreRefused) {
  const auto expect_refused = [](const Shape& shape, const std::string& why) {
    EXPECT_THAT([&] { run_kernel(kernel_text("ret;"), shape); },
                ThrowsMessage<std::invalid_argument>("launch of k: " + why));
  };
  expect_refused({.block = {1025, 1, 1}}, "1025 threads a block; there may be 1 to 1024");
  expect_refused({.block = {32, 0, 1}}, "0 threads a block; there may be 1 to 1024");
  expect_refused({.grid = {1, 0, 1}}, "the grid is empty");
  expect_refused({.dynamic_shared_bytes = 228 * 1024},
                 "233472 bytes of shared memory a block; there may be 232448");
}

}  // namespace
}  // namespace warpgauge::emulator::machine::fault_test
