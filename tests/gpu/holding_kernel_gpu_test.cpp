// The kernel that holds launches back for benchmarks.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "harness/bench/holding_kernel.h"

namespace warpgauge::bench {
namespace {

class HoldingKernelGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess) GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
    ASSERT_EQ(cudaHostAlloc(reinterpret_cast<void**>(&word_), sizeof(*word_), cudaHostAllocMapped),
              cudaSuccess);
    set_word(0);
  }
  void TearDown() override {
    if (word_ == nullptr) return;
    EXPECT_EQ(cudaFreeHost(word_), cudaSuccess);
  }
  void set_word(std::uint32_t number) { std::atomic_ref(*word_).store(number); }

  /// True if the stream still waits after far more time than the GPU takes to read the word.
  static bool is_held() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return cudaStreamQuery(nullptr) == cudaErrorNotReady;
  }

  std::uint32_t* word_ = nullptr;
};

TEST_F(HoldingKernelGpuTest, HoldsUntilTheWordHasReachedTheNumber) {
  HoldingKernel kernel(word_);
  kernel.queue(2);
  EXPECT_TRUE(is_held());
  set_word(1);
  EXPECT_TRUE(is_held());
  set_word(2);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(HoldingKernelGpuTest, AHoldThatHasEndedDoesNotWait) {
  HoldingKernel kernel(word_);
  set_word(8);
  kernel.queue(8);
  kernel.queue(5);
  kernel.pass();
  EXPECT_FALSE(is_held());
  set_word(1);  // past the largest number
  kernel.queue(0xffffffffU);
  EXPECT_FALSE(is_held());
  kernel.queue(2);
  EXPECT_TRUE(is_held());
  set_word(2);
}

}  // namespace
}  // namespace warpgauge::bench
