// Kernels that launch kernels (dynamic parallelism) on the emulated runtime.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "harness/emulator/emulator.h"
#include "harness/runtime.h"
#include "metrics/counting/line_counts.h"
#include "tests/emulator/runtime_test.h"

namespace warpgauge::emulator::runtime::runtime_device_launch_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr int kWords = 8;

/// append(p, digit): *p = *p * 10 + digit, by each thread. launch1(p, digit): append in a stream.
std::string device_code(const std::string& kernels) {
  return kPtxHead + R"(
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 k,
  .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.extern .func (.param .b64 r) __cudaCDP2GetErrorString(.param .b32 e);
.extern .func (.param .b32 r) __cudaCDP2MemcpyAsync(.param .b64 t, .param .b64 f, .param .b64 n,
  .param .b32 k, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2MemsetAsync(.param .b64 t, .param .b32 v, .param .b64 n,
  .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2Malloc(.param .b64 p, .param .b64 n);
.extern .func (.param .b32 r) __cudaCDP2Free(.param .b64 p);

.visible .entry append(.param .u64 p, .param .u32 digit) {
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [p];
  ld.param.u32 %r0, [digit];
  ld.global.u32 %r1, [%rd0];
  mad.lo.u32 %r1, %r1, 10, %r0;
  st.global.u32 [%rd0], %r1;
  ret;
}
.func (.param .b32 error) start(.param .b64 kernel, .param .b64 p, .param .b32 digit,
                                .param .b64 stream, .param .b32 threads) {
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %q;
  .param .b64 k; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s;
  .param .b64 buffer; .param .b64 o; .param .b32 e;
  ld.param.u64 %rd0, [kernel];
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r0, [digit];
  ld.param.u64 %rd2, [stream];
  ld.param.u32 %r1, [threads];
  st.param.b64 [k], %rd0;
  st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
  st.param.b32 [b], %r1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;
  st.param.b32 [s], 0;
  call (buffer), __cudaCDP2GetParameterBufferV2, (k, g, b, s);
  ld.param.b64 %rd3, [buffer];
  mov.u32 %r2, 0;
  setp.eq.u64 %q, %rd3, 0;
  @%q bra done;
  st.u64 [%rd3], %rd1;
  st.u32 [%rd3+8], %r0;
  st.param.b64 [buffer], %rd3;
  st.param.b64 [o], %rd2;
  call (e), __cudaCDP2LaunchDeviceV2, (buffer, o);
  ld.param.b32 %r2, [e];
done:
  st.param.b32 [error], %r2;
  ret;
}
)" + kernels;
}

/// PTX that launches `kernel`(%rd0, digit) with `threads` threads in a stream; needs begin().
std::string start(const std::string& kernel, int digit, const std::string& stream = "0",
                  int threads = 1) {
  return "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b32 f;"
         " .param .b32 e;\n mov.u64 %rd1, " +
         kernel + "; st.param.b64 [a], %rd1; st.param.b64 [b], %rd0; st.param.b32 [c], " +
         std::to_string(digit) + "; mov.u64 %rd1, " + stream +
         "; st.param.b64 [d], %rd1; st.param.b32 [f], " + std::to_string(threads) +
         ";\n call (e), start, (a, b, c, d, f); }\n";
}

std::string kernel(const std::string& name, const std::string& body) {
  return ".visible .entry " + name +
         "(.param .u64 p, .param .u32 digit) { .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %q;\n"
         "ld.param.u64 %rd0, [p];\nld.param.u32 %r0, [digit];\n" +
         body + "ret; }\n";
}

constexpr char kTail[] = "3", kFireAndForget[] = "4", kNamed[] = "256";

class RuntimeDeviceLaunchTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory_), sizeof words_), cudaSuccess);
    ASSERT_EQ(cudaMemset(memory_, 0, sizeof words_), cudaSuccess);
    take_counts();
    take_failed_launches();
  }

  cudaError_t run(const std::string& kernels, const std::string& name, dim3 grid = 1,
                  dim3 block = 1) {
    TestModule module(device_code(kernels));
    int digit = 9;
    void* arguments[] = {&memory_, &digit};
    const cudaError_t begun =
        cudaLaunchKernel(module.kernel(name), grid, block, arguments, 0, nullptr);
    if (begun != cudaSuccess) return begun;
    const cudaError_t ended = cudaDeviceSynchronize();
    if (ended == cudaSuccess) cudaMemcpy(words_, memory_, sizeof words_, cudaMemcpyDeviceToHost);
    return ended;
  }

  int* memory_ = nullptr;
  int words_[kWords] = {};
};

TEST_F(RuntimeDeviceLaunchTest, RunsInOrderWhenTheGridHasEndedAndTheTailLast) {
  const std::string body = start("append", 4, kTail) + start("append", 1) +
                           start("append", 2, kFireAndForget) + start("append", 3, kNamed) +
                           "st.global.u32 [%rd0], 9;\n";
  ASSERT_EQ(run(kernel("parent", body), "parent"), cudaSuccess) << fault_text();
  EXPECT_EQ(words_[0], 91234);
}

TEST_F(RuntimeDeviceLaunchTest, ChildrenAreCompleteWhenTheirsAre) {
  const std::string kernels =
      kernel("parent", start("child", 1) + start("append", 4) + start("append", 5, kTail)) +
      kernel("child", start("append", 3, kTail) + start("append", 2));
  ASSERT_EQ(run(kernels, "parent"), cudaSuccess) << fault_text();
  EXPECT_EQ(words_[0], 2345);
}

TEST_F(RuntimeDeviceLaunchTest, AKernelMayLaunchItselfAThousandTimes) {
  const std::string body = R"(
ld.global.u32 %r1, [%rd0];
add.u32 %r1, %r1, 1;
st.global.u32 [%rd0], %r1;
setp.ge.u32 %q, %r1, 1000;
@%q exit;
)" + start("parent", 1, kTail);
  ASSERT_EQ(run(kernel("parent", body), "parent"), cudaSuccess) << fault_text();
  EXPECT_EQ(words_[0], 1000);
}

TEST_F(RuntimeDeviceLaunchTest, BlocksLaunchInTheOrderOfTheirNumbers) {
  const std::string body = "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %q, %r1, 0;\n@%q bra first;\n" +
                           start("append", 2) + "exit;\nfirst:\n" + start("append", 1);
  ASSERT_EQ(run(kernel("parent", body), "parent", 4), cudaSuccess) << fault_text();
  EXPECT_EQ(words_[0], 1222);
}

TEST_F(RuntimeDeviceLaunchTest, CountsAreThoseOfTheKernelThatRuns) {
  const std::string body = start("append", 1) + start("append", 2);
  ASSERT_EQ(run(kernel("parent", body), "parent"), cudaSuccess) << fault_text();
  std::uint64_t of_child = 0;
  for (const auto& line : take_counts()) {
    if (line.kernel == "append") of_child += line.counts.global_load_requests;
  }
  EXPECT_EQ(of_child, 2u);
}

TEST_F(RuntimeDeviceLaunchTest, ALaunchThatNoDeviceTakesIsTheErrorOfItsThread) {
  const std::string body = start("append", 1, "0", 2000) + R"(
{ .param .b32 e; call (e), __cudaCDP2GetLastError, (); ld.param.b32 %r1, [e]; }
st.global.u32 [%rd0], %r1;
{ .param .b32 e; call (e), __cudaCDP2GetLastError, (); ld.param.b32 %r2, [e]; }
st.global.u32 [%rd0+4], %r2;
{ .param .b32 e; .param .b64 t; st.param.b32 [e], %r1;
  call (t), __cudaCDP2GetErrorString, (e); ld.param.b64 %rd2, [t]; }
ld.u8 %r3, [%rd2+8];
st.global.u32 [%rd0+8], %r3;
)";
  ASSERT_EQ(run(kernel("parent", body), "parent"), cudaSuccess) << fault_text();
  EXPECT_EQ(words_[0], cudaErrorInvalidConfiguration);
  EXPECT_EQ(words_[1], cudaSuccess);
  EXPECT_EQ(words_[2], 'c') << "of \"invalid configuration argument\"";
}

// In a block of 1 x 3 x 2 threads the fourth launches what fails; all look for an error of theirs.
TEST_F(RuntimeDeviceLaunchTest, TheErrorOfAThreadIsNoOthers) {
  const std::string body = R"(
mov.u32 %r1, %tid.y;
mov.u32 %r2, %tid.z;
mad.lo.u32 %r3, %r2, 3, %r1;
setp.ne.u32 %q, %r3, 3;
@%q bra launched;
)" + start("append", 1, "0", 2000) +
                           R"(
launched:
bar.sync 0;
{ .param .b32 e; call (e), __cudaCDP2GetLastError, (); ld.param.b32 %r1, [e]; }
mad.wide.u32 %rd2, %r3, 4, %rd0;
st.global.u32 [%rd2], %r1;
)";
  ASSERT_EQ(run(kernel("parent", body), "parent", 1, dim3(1, 3, 2)), cudaSuccess) << fault_text();
  for (int n = 0; n < 6; ++n) {
    EXPECT_EQ(words_[n], n == 3 ? cudaErrorInvalidConfiguration : cudaSuccess) << n;
  }
}

TEST_F(RuntimeDeviceLaunchTest, WhatOnlyTheRuntimeRefusesIsAFailedLaunch) {
  const std::string bounded =
      ".visible .entry bounded(.param .u64 p, .param .u32 d) .maxntid 32 "
      "{ ret; }\n";
  const std::string body = start("bounded", 1, "0", 64) + start("append", 1);
  ASSERT_EQ(run(bounded + kernel("parent", body), "parent"), cudaSuccess) << fault_text();
  EXPECT_EQ(words_[0], 1) << "the next one runs";
  const auto failed = take_failed_launches();
  ASSERT_THAT(failed, SizeIs(1));
  EXPECT_EQ(failed[0].kernel, "bounded");
  EXPECT_THAT(failed[0].text, HasSubstr("64 x 1 x 1 threads failed"));
}

TEST_F(RuntimeDeviceLaunchTest, CopiesAndFillsKeepTheOrder) {
  const std::string body = start("append", 7) + R"(
add.u64 %rd2, %rd0, 4;
{ .param .b64 t; .param .b64 f; .param .b64 n; .param .b32 k; .param .b64 s; .param .b32 e;
  st.param.b64 [t], %rd2; st.param.b64 [f], %rd0; st.param.b64 [n], 4; st.param.b32 [k], 3;
  st.param.b64 [s], 0; call (e), __cudaCDP2MemcpyAsync, (t, f, n, k, s); }
{ .param .b64 t; .param .b32 v; .param .b64 n; .param .b64 s; .param .b32 e;
  st.param.b64 [t], %rd0; st.param.b32 [v], 0; st.param.b64 [n], 4;
  st.param.b64 [s], 0; call (e), __cudaCDP2MemsetAsync, (t, v, n, s); }
)" + start("append", 8);
  ASSERT_EQ(run(kernel("parent", body), "parent"), cudaSuccess) << fault_text();
  EXPECT_EQ(words_[0], 8);
  EXPECT_EQ(words_[1], 7);
}

TEST_F(RuntimeDeviceLaunchTest, MemoryOfCudaMallocIsOfTheHeapOfKernels) {
  const std::string body = R"(
{ .param .b64 p; .param .b64 n; .param .b32 e; st.param.b64 [p], %rd0; st.param.b64 [n], 64;
  call (e), __cudaCDP2Malloc, (p, n); ld.param.b32 %r1, [e]; }
ld.global.u64 %rd2, [%rd0];
st.u32 [%rd2+60], 5;
{ .param .b64 p; .param .b32 e; st.param.b64 [p], %rd2;
  call (e), __cudaCDP2Free, (p); ld.param.b32 %r2, [e]; }
{ .param .b64 p; .param .b32 e; st.param.b64 [p], %rd2;
  call (e), __cudaCDP2Free, (p); ld.param.b32 %r3, [e]; }
st.global.u32 [%rd0+8], %r1;
st.global.u32 [%rd0+12], %r2;
st.global.u32 [%rd0+16], %r3;
)";
  ASSERT_EQ(run(kernel("parent", body), "parent"), cudaSuccess) << fault_text();
  EXPECT_EQ(words_[2], cudaSuccess);
  EXPECT_EQ(words_[3], cudaSuccess);
  EXPECT_EQ(words_[4], cudaErrorInvalidValue) << "freed twice";
}

TEST_F(RuntimeDeviceLaunchTest, AFaultOfAChildNamesItAndEndsTheRest) {
  const std::string kernels = kernel("bad", "st.global.u32 [0], 1;\n") +
                              kernel("parent", start("bad", 1) + start("append", 1));
  EXPECT_EQ(run(kernels, "parent"), cudaErrorIllegalAddress);
  const auto faults = take_faults();
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_EQ(faults[0].kernel, "bad");
}

}  // namespace
}  // namespace warpgauge::emulator::runtime::runtime_device_launch_test
