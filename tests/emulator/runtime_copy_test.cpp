// Copies of the emulated runtime: where the bytes go, and which copies are refused.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "harness/emulator/emulator.h"
#include "tests/emulator/runtime_test.h"

namespace warpgauge::emulator::runtime::runtime_copy_test {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;
using testing::StartsWith;

class RuntimeCopyTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device_), kBytes), cudaSuccess);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&other_), kBytes), cudaSuccess);
    std::iota(host_.begin(), host_.end(), 0);
  }

  static constexpr std::size_t kBytes = 240;
  unsigned char *device_ = nullptr, *other_ = nullptr;
  std::vector<unsigned char> host_ = std::vector<unsigned char>(kBytes);
  std::vector<unsigned char> back_ = std::vector<unsigned char>(kBytes);
};

TEST_F(RuntimeCopyTest, ThereAndBackAgain) {
  ASSERT_EQ(cudaMemcpy(device_, host_.data(), kBytes, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(other_, device_, kBytes, cudaMemcpyDeviceToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(back_.data(), other_, kBytes, cudaMemcpyDefault, nullptr), cudaSuccess);
  EXPECT_EQ(back_, host_);
}

TEST_F(RuntimeCopyTest, WhatLeavesTheAllocationIsInvalid) {
  EXPECT_EQ(cudaMemcpy(device_, host_.data(), kBytes + 1, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device_ + 1, host_.data(), kBytes, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(back_.data(), device_ + 200, 41, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(back_.data(), device_ + 200, 41, cudaMemcpyDefault), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(device_, 0, kBytes + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(device_, 0, kBytes), cudaSuccess);
}

TEST_F(RuntimeCopyTest, WhatLeavesTheMemoryIsAFaultThatNoOneTakes) {
  take_wrong_calls();
  for (int i = 0; i < 2; ++i) {
    cudaMemcpy(device_ + 200, host_.data(), 41, cudaMemcpyHostToDevice);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  }
  cudaMemset(device_ + kBytes, 0, 1);
  cudaMemset(device_, 0, kBytes);
  cudaMemcpy(nullptr, host_.data(), 8, cudaMemcpyHostToDevice);
  EXPECT_THAT(take_wrong_calls(),
              ElementsAre(MatchesRegex("cudaMemcpy: the destination has 40 bytes left in "
                                       "cudaMalloc #[0-9]+, not 41"),
                          StartsWith("cudaMemset: the destination is not device memory: ")));
  const cudaChannelFormatDesc bytes =
      cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &bytes, 4, 3), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2DToArray(array, 1, 0, host_.data(), 20, 4, 3, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_THAT(take_wrong_calls(),
              ElementsAre(StartsWith("cudaMemcpy2DToArray: 4 x 3 x 1 bytes, rows and slices from ("
                                     "1, 0, 0) on leave an array of 4 x 3 x 1")));
  cudaFreeArray(array);
}

TEST_F(RuntimeCopyTest, TheKindMustFitThePointers) {
  EXPECT_EQ(cudaMemcpy(host_.data(), back_.data(), 8, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device_, other_, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host_.data(), back_.data(), 8, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device_, host_.data(), 8, static_cast<cudaMemcpyKind>(5)),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(nullptr, host_.data(), 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
}

TEST_F(RuntimeCopyTest, FreedMemoryIsNoDeviceMemory) {
  ASSERT_EQ(cudaFree(device_), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device_, host_.data(), 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
}

TEST_F(RuntimeCopyTest, RowsKeepTheirPitches) {
  // Three rows of 10 bytes: 20 apart on the host, 32 apart on the device.
  ASSERT_EQ(cudaMemset(device_, 0xff, kBytes), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2D(device_, 32, host_.data(), 20, 10, 3, cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpy(back_.data(), device_, kBytes, cudaMemcpyDeviceToHost), cudaSuccess);
  for (std::size_t i = 0; i < kBytes; ++i) {
    const std::size_t row = i / 32, column = i % 32;
    const bool copied = row < 3 && column < 10;
    EXPECT_EQ(back_[i], copied ? row * 20 + column : 0xff) << i;
  }
  EXPECT_EQ(cudaMemcpy2D(device_, 8, host_.data(), 20, 10, 3, cudaMemcpyHostToDevice),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(device_, 120, host_.data(), 20, 10, 3, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
}

TEST_F(RuntimeCopyTest, ABoxInsideOfABox) {
  // 3 x 2 x 2 bytes from (1, 1, 1) of a box of 6 x 5 x 4 to (2, 1, 0) of one of 8 x 5 x 6.
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {host_.data(), 6, 6, 5};
  copy.srcPos = {1, 1, 1};
  copy.dstPtr = {device_, 8, 8, 5};
  copy.dstPos = {2, 1, 0};
  copy.extent = {3, 2, 2};
  copy.kind = cudaMemcpyHostToDevice;
  ASSERT_EQ(cudaMemset(device_, 0xff, kBytes), cudaSuccess);
  ASSERT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(back_.data(), device_, kBytes, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int z = 0; z < 2; ++z) {
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < 3; ++x) {
        EXPECT_EQ(back_[(z * 5 + y + 1) * 8 + x + 2], ((z + 1) * 5 + y + 1) * 6 + x + 1);
      }
    }
  }
  EXPECT_EQ(back_[(0 * 5 + 1) * 8 + 1], 0xff);
  EXPECT_EQ(back_[(0 * 5 + 1) * 8 + 5], 0xff);
}

TEST_F(RuntimeCopyTest, ArraysTakeWhatFits) {
  const cudaChannelFormatDesc shorts = {16, 0, 0, 0, cudaChannelFormatKindSigned};
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &shorts, 6, 4, 0), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DToArray(array, 2, 1, host_.data(), 20, 8, 3, cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DFromArray(back_.data(), 10, array, 2, 1, 8, 3, cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (int row = 0; row < 3; ++row) {
    for (int i = 0; i < 8; ++i) EXPECT_EQ(back_[row * 10 + i], row * 20 + i);
  }
  EXPECT_EQ(cudaMemcpy2DToArray(array, 6, 0, host_.data(), 20, 8, 1, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 2, host_.data(), 20, 8, 3, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2DFromArray(back_.data(), 20, array, 0, 0, 8, 1, cudaMemcpyHostToDevice),
            cudaErrorInvalidMemcpyDirection);

  cudaExtent extent{};
  cudaChannelFormatDesc channels{};
  unsigned flags = 77;
  ASSERT_EQ(cudaArrayGetInfo(&channels, &extent, &flags, array), cudaSuccess);
  EXPECT_EQ(extent.width, 6u);
  EXPECT_EQ(extent.height, 4u);
  EXPECT_EQ(channels.x, 16);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(array), cudaErrorInvalidResourceHandle);
}

TEST_F(RuntimeCopyTest, PositionsInArraysCountElements) {
  const cudaChannelFormatDesc ints = {32, 0, 0, 0, cudaChannelFormatKindUnsigned};
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMalloc3DArray(&array, &ints, {4, 3, 2}, 0), cudaSuccess);
  std::vector<unsigned> values(4 * 3 * 2);
  std::iota(values.begin(), values.end(), 100);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {values.data(), 16, 16, 3};
  copy.dstArray = array;
  copy.extent = {4, 3, 2};
  copy.kind = cudaMemcpyHostToDevice;
  ASSERT_EQ(cudaMemcpy3D(&copy), cudaSuccess);

  unsigned word = 0;
  copy = {};
  copy.srcArray = array;
  copy.srcPos = {3, 1, 1};
  copy.dstPtr = {&word, 4, 4, 1};
  copy.extent = {1, 1, 1};
  copy.kind = cudaMemcpyDeviceToHost;
  ASSERT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  EXPECT_EQ(word, 100u + (1 * 3 + 1) * 4 + 3);
  copy.srcPos = {4, 1, 1};
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue);
}

TEST_F(RuntimeCopyTest, ThereIsOneDeviceOnly) {
  EXPECT_EQ(cudaMemcpyPeer(device_, 0, other_, 0, 8), cudaSuccess);
  EXPECT_EQ(cudaMemcpyPeer(device_, 1, other_, 0, 8), cudaErrorInvalidDevice);
}

}  // namespace
}  // namespace warpgauge::emulator::runtime::runtime_copy_test
