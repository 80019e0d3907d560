// Kernels that wait for memory which the host writes: their launches return.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "harness/emulator/emulator.h"
#include "harness/runtime.h"
#include "metrics/counting/line_counts.h"
#include "tests/emulator/runtime_test.h"

namespace warpgauge::emulator::runtime::runtime_background_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// waits(words): until words[0] is not 0, then stores words[0] + 1 to where words[1] says.
/// adds(words): words[2] += 1.
const std::string kCode = kPtxHead + R"(
.visible .entry waits(.param .u64 words) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %q;
  ld.param.u64 %rd0, [words];
again:
  ld.volatile.global.u32 %r0, [%rd0];
  setp.eq.u32 %q, %r0, 0;
  @%q bra again;
  ld.global.u32 %r1, [%rd0+4];
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd1, %rd0, %rd1;
  add.u32 %r0, %r0, 1;
  st.global.u32 [%rd1], %r0;
  ret;
}
.visible .entry adds(.param .u64 words) {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [words];
  ld.global.u32 %r0, [%rd0+8];
  add.u32 %r0, %r0, 1;
  st.global.u32 [%rd0+8], %r0;
  ret;
}
)";
constexpr int kWords = 4;

class RuntimeBackgroundTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&words_), kWords * sizeof(int),
                                cudaMemAttachGlobal),
              cudaSuccess);
    for (int n = 0; n < kWords; ++n) words_[n] = 0;
    words_[1] = 2;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&other_, cudaStreamNonBlocking), cudaSuccess);
    take_counts();
  }
  cudaError_t launch(const std::string& name, cudaStream_t stream) {
    void* arguments[] = {&words_};
    return cudaLaunchKernel(module_.kernel(name), 1, 1, arguments, 0, stream);
  }
  void let_go(int value = 1) { std::atomic_ref<int>(words_[0]).store(value); }

  TestModule module_{kCode};
  int* words_ = nullptr;
  cudaStream_t stream_ = nullptr, other_ = nullptr;
};

TEST_F(RuntimeBackgroundTest, ALaunchReturnsWhileItsKernelWaits) {
  ASSERT_EQ(launch("waits", stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(other_), cudaSuccess) << "has no work";
  EXPECT_THAT(take_counts(), IsEmpty()) << "of a launch that has not ended";
  let_go(41);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaSuccess);
  EXPECT_EQ(words_[2], 42);
  EXPECT_FALSE(take_counts().empty());
}

TEST_F(RuntimeBackgroundTest, WorkBehindItWaitsAndWorkOfOtherStreamsDoesNot) {
  ASSERT_EQ(launch("waits", stream_), cudaSuccess);
  ASSERT_EQ(launch("adds", stream_), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(words_ + 3, words_ + 2, 4, cudaMemcpyDefault, stream_), cudaSuccess);
  int calls = 0;
  const auto count = [](void* data) { ++*static_cast<int*>(data); };
  ASSERT_EQ(cudaLaunchHostFunc(stream_, count, &calls), cudaSuccess);
  EXPECT_EQ(calls, 0);
  ASSERT_EQ(cudaLaunchHostFunc(other_, count, &calls), cudaSuccess);
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(cudaMemsetAsync(words_, 1, 4, other_), cudaSuccess) << "which lets it go";
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(words_[3], 0x01010101 + 2);
  EXPECT_EQ(calls, 2);
}

TEST_F(RuntimeBackgroundTest, CopiesOfTheLegacyStreamGoPastNonBlockingStreams) {
  ASSERT_EQ(launch("waits", stream_), cudaSuccess);
  const int value = 6;
  ASSERT_EQ(cudaMemcpy(words_, &value, 4, cudaMemcpyDefault), cudaSuccess) << "which lets it go";
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(words_[2], 7);
}

TEST_F(RuntimeBackgroundTest, TheLegacyStreamWaitsForBlockingStreams) {
  cudaStream_t blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  ASSERT_EQ(launch("waits", blocking), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(other_), cudaSuccess);
  let_go();
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
}

TEST_F(RuntimeBackgroundTest, EventsAreReadyWhenWhatStandsBeforeThemIs) {
  cudaEvent_t before = nullptr, behind = nullptr;
  ASSERT_EQ(cudaEventCreate(&before), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&behind), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(before, stream_), cudaSuccess);
  ASSERT_EQ(launch("waits", stream_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(behind, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(before), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(behind), cudaErrorNotReady);
  ASSERT_EQ(cudaStreamWaitEvent(other_, behind, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(other_), cudaErrorNotReady);
  let_go();
  EXPECT_EQ(cudaEventSynchronize(behind), cudaSuccess);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, before, behind), cudaSuccess);
  EXPECT_GT(milliseconds, 0);
}

TEST_F(RuntimeBackgroundTest, AFaultIsOfTheNextCallThatWaitsAndEndsWhatIsBehindIt) {
  words_[1] = 1 << 20;
  ASSERT_EQ(launch("waits", stream_), cudaSuccess);
  ASSERT_EQ(launch("adds", stream_), cudaSuccess);
  let_go();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  const auto faults = take_faults();
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_EQ(faults[0].kernel, "waits");
  EXPECT_EQ(words_[2], 0);
}

TEST_F(RuntimeBackgroundTest, AnotherThreadMayLetItGo) {
  ASSERT_EQ(launch("waits", stream_), cudaSuccess);
  std::thread helper([&] { let_go(); });
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess) << "waits for it";
  helper.join();
}

}  // namespace
}  // namespace warpgauge::emulator::runtime::runtime_background_test
