// Calls of device functions: arguments and results, recursion, pointers, the stack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::call_test {
namespace {

using ::testing::HasSubstr;

// f(a, b) = 10 a + b
constexpr const char* kAffine = R"(
.func (.param .b32 result) affine(.param .b32 a, .param .b32 b) {
  .reg .b32 %x<4>;
  ld.param.u32 %x0, [a];
  ld.param.u32 %x1, [b];
  mad.lo.u32 %x2, %x0, 10, %x1;
  st.param.b32 [result], %x2;
  ret;
}
)";

std::string call_two(const std::string& function, const std::string& a, const std::string& b,
                     const std::string& result, const std::string& prototype = "") {
  static int number = 0;
  const std::string n = std::to_string(++number);
  return "{ .param .b32 a" + n + "; .param .b32 b" + n + "; .param .b32 r" + n + ";" +
         " st.param.b32 [a" + n + "], " + a + "; st.param.b32 [b" + n + "], " + b + ";" +
         " call (r" + n + "), " + function + ", (a" + n + ", b" + n + ")" + prototype + ";" +
         " ld.param.b32 " + result + ", [r" + n + "]; }\n";
}

TEST(Call, PassesArgumentsAndResult) {
  const KernelRun run = run_kernel(kernel_text(call_two("affine", "%r0", "7", "%r3") +
                                                   call_two("affine", "%r3", "%r0", "%r4") +
                                                   "st.global.u32 [%rd1], %r4; ret;",
                                               kAffine));
  EXPECT_EQ(run.output, words(32, [](auto n) { return 10 * (10 * n + 7) + n; }));
  EXPECT_EQ(run.outcome.warp_instructions, kPrologue + 2 * (4 + 5) + 2);
}

TEST(Call, ByPartOfTheLanesAndTheyMeetBehindIt) {
  constexpr std::string_view kBody = R"(
    .param .b32 a; .param .b32 b; .param .b32 r;
    and.b32 %r5, %r0, 3;
    setp.eq.u32 %p1, %r5, 0;
    mov.u32 %r4, 1;
    st.param.b32 [a], %r0;
    st.param.b32 [b], 5;
    @%p1 call (r), affine, (a, b);
    @%p1 ld.param.b32 %r4, [r];
    st.global.u32 [%rd1], %r4;
    ret;
  )";
  const KernelRun run = run_kernel(kernel_text(kBody, kAffine));
  EXPECT_EQ(run.output, words(32, [](auto n) { return n % 4 == 0 ? 10 * n + 5 : 1; }));
  EXPECT_EQ(stores(run.outcome), 1u);
}

TEST(Call, ReturnsOfDifferentLanesInDifferentPlacesMeet) {
  const KernelRun run = run_kernel(
      kernel_text(call_two("sort", "%r0", "10", "%r3") + "st.global.u32 [%rd1], %r3; ret;", R"(
.func (.param .b32 result) sort(.param .b32 a, .param .b32 b) {
  .reg .b32 %x<4>; .reg .pred %q<3>;
  ld.param.u32 %x0, [a];
  ld.param.u32 %x1, [b];
  setp.lt.u32 %q0, %x0, %x1;
  st.param.b32 [result], 1;
  @%q0 ret;
  st.param.b32 [result], 2;
  setp.eq.u32 %q1, %x0, %x1;
  @%q1 bra EQUAL;
  ret;
EQUAL:
  st.param.b32 [result], 3;
}
)"));
  EXPECT_EQ(run.output, words(32, [](auto n) { return n < 10 ? 1 : n == 10 ? 3 : 2; }));
  EXPECT_EQ(stores(run.outcome), 1u);
}

// fibonacci(n), the plain way: frames of lanes at different depths.
constexpr const char* kFibonacci = R"(
.func (.param .b32 result) fibonacci(.param .b32 n) {
  .reg .b32 %x<6>; .reg .pred %q;
  .param .b32 p1; .param .b32 r1; .param .b32 p2; .param .b32 r2;
  ld.param.u32 %x0, [n];
  mov.u32 %x4, %x0;
  setp.lt.u32 %q, %x0, 2;
  @%q bra DONE;
  sub.u32 %x1, %x0, 1;
  st.param.b32 [p1], %x1;
  call (r1), fibonacci, (p1);
  ld.param.b32 %x2, [r1];
  sub.u32 %x1, %x0, 2;
  st.param.b32 [p2], %x1;
  call (r2), fibonacci, (p2);
  ld.param.b32 %x3, [r2];
  add.u32 %x4, %x2, %x3;
DONE:
  st.param.b32 [result], %x4;
  ret;
}
)";

TEST(Call, Recursion) {
  constexpr std::string_view kBody = R"(
    .param .b32 a; .param .b32 r;
    and.b32 %r5, %r0, 15;
    st.param.b32 [a], %r5;
    call (r), fibonacci, (a);
    ld.param.b32 %r4, [r];
    st.global.u32 [%rd1], %r4;
    ret;
  )";
  const KernelRun run = run_kernel(kernel_text(kBody, kFibonacci), {{2, 1, 1}, {50, 1, 1}});
  const auto fibonacci = [](std::uint32_t n) {
    std::uint32_t a = 0, b = 1;
    for (; n > 0; --n) b = std::exchange(a, b) + b;
    return a;
  };
  EXPECT_EQ(run.output, words(100, [&](auto n) { return fibonacci(n % 50 % 16); }));
  EXPECT_EQ(stores(run.outcome), 4u);  // two blocks of two warps
}

TEST(Call, TheAddressOfALocalVariableHasEitherWidth) {
  const KernelRun run = run_body(R"(
    .local .align 4 .b32 other[4];
    .local .align 4 .b32 mine[2];
    st.local.u32 [other], 1000;
    mov.u64 %rd5, mine;
    mov.u32 %r5, mine;
    st.local.u32 [%rd5], %r0;
    ld.local.u32 %r6, [%r5];
    st.global.u32 [%rd1], %r6;
    ret;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return n; }));
}

TEST(Call, LocalVariablesAreOfTheirFrame) {
  // Each depth keeps its own number in a local variable over the inner call.
  constexpr std::string_view kBody = R"(
    .param .b32 a; .param .b32 r;
    .local .align 4 .b32 mine[2];
    mov.u64 %rd5, mine;
    st.local.u32 [%rd5+4], 1000;
    and.b32 %r5, %r0, 7;
    st.param.b32 [a], %r5;
    call (r), sum, (a);
    ld.param.b32 %r4, [r];
    ld.local.u32 %r6, [mine+4];
    add.u32 %r4, %r4, %r6;
    st.global.u32 [%rd1], %r4;
    ret;
  )";
  constexpr std::string_view kFunction = R"(
.func (.param .b32 result) sum(.param .b32 n) {
  .local .align 8 .b8 keep[24];
  .reg .b32 %x<6>; .reg .b64 %y<4>; .reg .pred %q;
  .param .b32 p1; .param .b32 r1;
  ld.param.u32 %x0, [n];
  mov.u64 %y0, keep;
  cvta.local.u64 %y1, %y0;
  st.u32 [%y1+8], %x0;
  mov.u32 %x2, 0;
  setp.eq.u32 %q, %x0, 0;
  @%q bra DONE;
  sub.u32 %x1, %x0, 1;
  st.param.b32 [p1], %x1;
  call (r1), sum, (p1);
  ld.param.b32 %x2, [r1];
DONE:
  ld.local.u32 %x3, [%y0+8];
  add.u32 %x2, %x2, %x3;
  st.param.b32 [result], %x2;
  ret;
}
)";
  const KernelRun run = run_kernel(kernel_text(kBody, kFunction));
  EXPECT_EQ(run.output, words(32, [](auto n) { return 1000 + n % 8 * (n % 8 + 1) / 2; }));
}

TEST(Call, StructuresGoByValue) {
  constexpr std::string_view kBody = R"(
    .param .align 8 .b8 a[16]; .param .align 4 .b8 r[12];
    st.param.b32 [a], %r0;
    st.param.b64 [a+8], %rd1;
    call (r), spread, (a);
    ld.param.b32 %r4, [r];
    ld.param.b32 %r5, [r+4];
    ld.param.b32 %r6, [r+8];
    mad.lo.u32 %r4, %r5, 100, %r4;
    mad.lo.u32 %r4, %r6, 10000, %r4;
    st.global.u32 [%rd1], %r4;
    ret;
  )";
  constexpr std::string_view kFunction = R"(
.func (.param .align 4 .b8 result[12]) spread(.param .align 8 .b8 s[16]) {
  .reg .b32 %x<4>; .reg .b64 %y<2>;
  ld.param.u32 %x0, [s];
  ld.param.u64 %y0, [s+8];
  ld.global.u32 %x1, [%y0];
  st.param.b32 [result], %x0;
  add.u32 %x0, %x0, 1;
  st.param.b32 [result+4], %x0;
  st.param.b32 [result+8], %x1;
  ret;
}
)";
  const KernelRun run = run_kernel(kernel_text(kBody, kFunction));
  EXPECT_EQ(run.output, words(32, [](auto n) { return n + 100 * (n + 1); }));
}

TEST(Call, ParametersThatArePartlyWrittenAreStructuresToo) {
  constexpr std::string_view kBody = R"(
    .param .align 8 .b8 a[8]; .param .b32 b; .param .b32 r;
    st.param.b32 [a], %r0;
    st.param.b32 [a+4], 7;
    st.param.b32 [b], 5;
    call (r), sum_of, (a, b);
    ld.param.b32 %r4, [r];
    st.global.u32 [%rd1], %r4;
    ret;
  )";
  constexpr std::string_view kFunction = R"(
.func (.param .b32 result) sum_of(.param .b64 s, .param .b32 t) {
  .reg .b32 %x<4>; .reg .b64 %y<2>;
  ld.param.u64 %y0, [s];
  mov.b64 {%x0, %x1}, %y0;
  mad.lo.u32 %x2, %x1, 1000, %x0;
  ld.param.u8 %x3, [t];
  add.u32 %x2, %x2, %x3;
  st.param.b32 [result], %x2;
  ret;
}
)";
  const KernelRun run = run_kernel(kernel_text(kBody, kFunction));
  EXPECT_EQ(run.output, words(32, [](auto n) { return 7000 + n + 5; }));
}

TEST(Call, RegistersAsArgumentsAndParameters) {
  constexpr std::string_view kBody = R"(
    call (%r3), difference, (%r0, 5);
    st.global.u32 [%rd1], %r3;
    ret;
  )";
  constexpr std::string_view kFunction = R"(
.func (.reg .u32 result) difference(.reg .u32 a, .reg .u32 b) {
  sub.u32 result, a, b;
  ret;
}
)";
  const KernelRun run = run_kernel(kernel_text(kBody, kFunction));
  EXPECT_EQ(run.output, words(32, [](auto n) { return n - 5; }));
}

constexpr const char* kTwoFunctions = R"(
.func (.param .b32 result) sum(.param .b32 a, .param .b32 b) {
  .reg .b32 %x<4>;
  ld.param.u32 %x0, [a];
  ld.param.u32 %x1, [b];
  add.u32 %x2, %x0, %x1;
  st.param.b32 [result], %x2;
  ret;
}
.func (.param .b32 result) product(.param .b32 a, .param .b32 b) {
  .reg .b32 %x<4>;
  ld.param.u32 %x0, [a];
  ld.param.u32 %x1, [b];
  mul.lo.u32 %x2, %x0, %x1;
  st.param.b32 [result], %x2;
  ret;
}
.global .align 8 .u64 table[2] = {sum, product};
)";

constexpr const char* kPrototype =
    "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);";

TEST(Call, ThroughPointersOfATable) {
  const std::string body = R"(
    mov.u64 %rd4, table;
    and.b32 %r5, %r0, 1;
    mul.wide.u32 %rd5, %r5, 8;
    add.u64 %rd5, %rd4, %rd5;
    ld.global.u64 %rd6, [%rd5];
  )" + std::string(kPrototype) +
                           call_two("%rd6", "%r0", "3", "%r4", ", proto") +
                           "st.global.u32 [%rd1], %r4; ret;";
  const KernelRun run = run_kernel(kernel_text(body, kTwoFunctions));
  EXPECT_EQ(run.output, words(32, [](auto n) { return n % 2 == 0 ? n + 3 : n * 3; }));
  EXPECT_EQ(stores(run.outcome), 1u);
}

TEST(Call, ThroughPointersTakenInTheKernel) {
  const std::string body =
      "mov.u64 %rd6, product; setp.lt.u32 %p1, %r0, 4;"
      "@%p1 mov.u64 %rd6, sum;" +
      std::string(kPrototype) + call_two("%rd6", "%r0", "3", "%r4", ", proto") +
      "st.global.u32 [%rd1], %r4; ret;";
  const KernelRun run = run_kernel(kernel_text(body, kTwoFunctions));
  EXPECT_EQ(run.output, words(32, [](auto n) { return n < 4 ? n + 3 : n * 3; }));
}

TEST(Call, ThroughAPointerThatAnotherKernelTook) {
  const std::string items = std::string(kAffine) + R"(
.global .u64 handed_on;
.visible .entry take(.param .u64 output) {
  .reg .b64 %x;
  mov.u64 %x, affine;
  st.global.u64 [handed_on], %x;
  ret;
}
)";
  const std::string body = "ld.global.u64 %rd6, [handed_on];" + std::string(kPrototype) +
                           call_two("%rd6", "%r0", "3", "%r4", ", proto") +
                           "st.global.u32 [%rd1], %r4; ret;";
  Machine machine(Architecture{}, limited());
  Program& program = machine.load(ptx::parse(kernel_text(body, items), "test.ptx"));
  Words output(32);
  std::byte* const begin = machine.memory().allocate(128, memory::Memory::Kind::device, "output");
  const std::array<const std::byte*, 2> parameters = {begin, nullptr};
  Launch launch;
  launch.parameters = std::as_bytes(std::span(parameters)).first(8);
  machine.run(*machine.find_kernel(program, "take"), launch);
  launch.block = {32, 1, 1};
  launch.parameters = std::as_bytes(std::span(parameters));
  machine.run(*machine.find_kernel(program, "k"), launch);
  std::memcpy(output.data(), begin, 128);
  EXPECT_EQ(output, words(32, [](auto n) { return 10 * n + 3; }));
}

TEST(Call, ThroughWhatIsNoFunction) {
  const std::string body = "mov.u64 %rd6, %rd1;" + std::string(kPrototype) +
                           call_two("%rd6", "%r0", "3", "%r4", ", proto") + "ret;";
  const auto fault = fault_of(kernel_text(body, kTwoFunctions));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::illegal_instruction);
  EXPECT_THAT(fault->what(), HasSubstr("does not point to a function"));
}

TEST(Call, LanesMayExitInAFunction) {
  const KernelRun run = run_kernel(
      kernel_text(call_two("checked", "%r0", "20", "%r3") + "st.global.u32 [%rd1], %r3; ret;", R"(
.func (.param .b32 result) checked(.param .b32 a, .param .b32 b) {
  .reg .b32 %x<4>; .reg .pred %q;
  ld.param.u32 %x0, [a];
  ld.param.u32 %x1, [b];
  setp.gt.u32 %q, %x0, %x1;
  @%q exit;
  st.param.b32 [result], 1;
  ret;
}
)"));
  EXPECT_EQ(run.output, words(32, [](auto n) { return n <= 20 ? 1 : 0; }));
}

TEST(Call, AllLanesMayExitInAFunction) {
  const KernelRun run =
      run_kernel(kernel_text("st.global.u32 [%rd1], 4; call leave; trap;", ".func leave { exit; }"),
                 {{3, 1, 1}, {64, 1, 1}});
  EXPECT_EQ(run.output, words(192, [](auto) { return 4; }));
}

TEST(Call, EndlessRecursionFillsTheStack) {
  const auto fault = fault_of(kernel_text("call down; ret;", ".func down { call down; ret; }"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::stack_overflow);
  EXPECT_THAT(fault->what(), HasSubstr("call of down: the stack of "));
}

TEST(Call, OfAFunctionWithoutABodyIsRefusedWhenReached) {
  constexpr const char* kDeclared = ".extern .func elsewhere;";
  const auto fault = fault_of(kernel_text("call elsewhere; ret;", kDeclared));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::not_emulated);
  EXPECT_THAT(fault->what(), HasSubstr("the function elsewhere is not defined in this module"));
  EXPECT_EQ(fault_of(kernel_text("ret; call elsewhere;", kDeclared)), std::nullopt);
}

TEST(Call, WhatTheDeviceRuntimeLacksIsRefusedByItsName) {
  const std::pair<std::string, std::string> calls[] = {
      {"__cudaCDP2Memcpy3DAsync", "cudaMemcpy3DAsync is not emulated in kernels"},
      {"cudaGraphLaunch", "graphs that kernels launch are not emulated"}};
  for (const auto& [name, text] : calls) {
    const auto fault =
        fault_of(kernel_text("call " + name + "; ret;", ".extern .func " + name + ";"));
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->kind(), Fault::Kind::not_emulated);
    EXPECT_THAT(fault->what(), HasSubstr(text));
  }
}

TEST(Call, BarrierInAFunction) {
  const KernelRun run = run_kernel(
      kernel_text("call meet; st.global.u32 [%rd1], 1; ret;", ".func meet { bar.sync 0; ret; }"),
      {{2, 1, 1}, {100, 1, 1}});
  EXPECT_EQ(run.output, words(200, [](auto) { return 1; }));
  EXPECT_EQ(stores(run.outcome), 8u);
}

TEST(Call, TheLaterOfTwoThatWaitForEachOtherGoesOnFirst) {
  constexpr std::string_view kMeet = R"(
.func (.param .b32 place) meet(.param .b64 counter) {
  .reg .b64 %y; .reg .b32 %x;
  ld.param.u64 %y, [counter];
  bar.warp.sync -1;
  atom.global.add.u32 %x, [%y], 1;
  st.param.b32 [place], %x;
  ret;
}
)";
  constexpr std::string_view kBody = R"(
    .param .b64 a; .param .b32 b; .param .b64 c; .param .b32 d;
    setp.ge.u32 %p1, %r0, 8;
    @%p1 bra REST;
    st.param.b64 [a], %rd2;
    call (b), meet, (a);
    ld.param.b32 %r3, [b];
    bra DONE;
  REST:
    st.param.b64 [c], %rd2;
    call (d), meet, (c);
    ld.param.b32 %r3, [d];
  DONE:
    st.global.u32 [%rd1], %r3;
  )";
  const KernelRun run = run_kernel(kernel_text(kBody, kMeet), {}, {0});
  EXPECT_EQ(run.output, words(32, [](auto n) { return n < 8 ? 24 + n : n - 8; }));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::call_test
