// Allocations of the emulated runtime.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulator/runtime_test.h"

namespace warpgauge::emulator::runtime::runtime_memory_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RuntimeMemoryTest : public RuntimeTest {};

TEST_F(RuntimeMemoryTest, DeviceMemoryIsAlignedAsOnAGpu) {
  for (const std::size_t bytes : {1, 100, 256, 4097}) {
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u) << bytes;
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
  }
}

TEST_F(RuntimeMemoryTest, NoBytesAreANullPointer) {
  void* memory = &memory;
  EXPECT_EQ(cudaMalloc(&memory, 0), cudaSuccess);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaMallocManaged(&memory, 0, cudaMemAttachGlobal), cudaErrorInvalidValue);
}

TEST_F(RuntimeMemoryTest, AnAllocationBeyondMemoryFailsOnce) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, SIZE_MAX / 2), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
}

TEST_F(RuntimeMemoryTest, WhatIsFreedTwiceIsInvalid) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
}

TEST_F(RuntimeMemoryTest, OnlyTheStartOfTheRightKindCanBeFreed) {
  std::byte* device = nullptr;
  void* host = nullptr;
  int own = 0;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 64), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&host, 64), cudaSuccess);
  EXPECT_EQ(cudaFree(device + 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(&own), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(host), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(device), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(RuntimeMemoryTest, PointersTellWhatTheyAre) {
  void *device = nullptr, *managed = nullptr, *host = nullptr;
  int own = 0;
  ASSERT_EQ(cudaMalloc(&device, 64), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(&host, 64, cudaHostAllocMapped), cudaSuccess);
  const auto type_of = [](void* memory) {
    cudaPointerAttributes attributes{};
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
    return attributes.type;
  };
  EXPECT_EQ(type_of(device), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(static_cast<std::byte*>(device) + 63), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(managed), cudaMemoryTypeManaged);
  EXPECT_EQ(type_of(host), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(&own), cudaMemoryTypeUnregistered);

  void* same = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&same, host, 0), cudaSuccess);
  EXPECT_EQ(same, host);
  EXPECT_EQ(cudaHostGetDevicePointer(&same, &own, 0), cudaErrorInvalidValue);
}

TEST_F(RuntimeMemoryTest, HostMemoryIsRegisteredOnce) {
  std::vector<unsigned char> own(100), back(100);
  ASSERT_EQ(cudaHostRegister(own.data(), 100, cudaHostRegisterMapped), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(own.data() + 50, 10, 0), cudaErrorHostMemoryAlreadyRegistered);
  void* device = nullptr;
  ASSERT_EQ(cudaHostGetDevicePointer(&device, own.data() + 8, 0), cudaSuccess);
  EXPECT_EQ(device, own.data() + 8);
  EXPECT_EQ(cudaMemset(device, 5, 92), cudaSuccess);
  EXPECT_EQ(own[99], 5);
  EXPECT_EQ(cudaMemset(device, 5, 93), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(own.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostUnregister(own.data() + 8), cudaErrorHostMemoryNotRegistered);
  ASSERT_EQ(cudaHostUnregister(own.data()), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaMemset(device, 5, 1), cudaErrorInvalidValue);
}

TEST_F(RuntimeMemoryTest, PitchesHoldARowAndAreAligned) {
  void* memory = nullptr;
  std::size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&memory, &pitch, 1000, 3), cudaSuccess);
  EXPECT_GE(pitch, 1000u);
  EXPECT_EQ(pitch % 256, 0u);
  EXPECT_EQ(cudaMemset2D(memory, pitch, 1, 1000, 3), cudaSuccess);
  EXPECT_EQ(cudaMemset2D(memory, pitch, 1, 1000, 4), cudaErrorInvalidValue);

  cudaPitchedPtr pitched{};
  ASSERT_EQ(cudaMalloc3D(&pitched, {30, 4, 5}), cudaSuccess);
  EXPECT_EQ(pitched.xsize, 30u);
  EXPECT_EQ(pitched.ysize, 4u);
  EXPECT_EQ(cudaMemset3D(pitched, 0, {30, 4, 5}), cudaSuccess);
  EXPECT_EQ(cudaMemset3D(pitched, 0, {30, 4, 6}), cudaErrorInvalidValue);
}

TEST_F(RuntimeMemoryTest, ReportsMemoryInUse) {
  std::size_t before = 0, after = 0, total = 0;
  void* memory = nullptr;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&memory, 1 << 20), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(before - after, std::size_t{1} << 20);
  EXPECT_LE(before, total);
}

TEST_F(RuntimeMemoryTest, ManagedAndHostMemoryAreTheHostsToo) {
  int *managed = nullptr, *host = nullptr;
  ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&managed), sizeof(int), cudaMemAttachGlobal),
            cudaSuccess);
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&host), sizeof(int)), cudaSuccess);
  *managed = 7;
  ASSERT_EQ(cudaMemcpy(host, managed, sizeof(int), cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(*host, 7);
}

TEST_F(RuntimeMemoryTest, PoolsKeepTheirSettings) {
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  std::uint64_t threshold = 123;
  ASSERT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
            cudaSuccess);
  threshold = 0;
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
            cudaSuccess);
  EXPECT_EQ(threshold, 123u);

  void* memory = nullptr;
  ASSERT_EQ(cudaMallocAsync(&memory, 64, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolTrimTo(reinterpret_cast<cudaMemPool_t>(&memory), 0), cudaErrorInvalidValue);
}

std::uint64_t attribute_of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  std::uint64_t value = 99;
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, attribute, &value), cudaSuccess) << attribute;
  return value;
}

TEST_F(RuntimeMemoryTest, PoolsKnowTheirMemoryInUse) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {.type = cudaMemLocationTypeDevice, .id = 0};
  cudaMemPool_t usual = nullptr, pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&usual, 0), cudaSuccess);
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
  void *first = nullptr, *second = nullptr, *other = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&first, 64, pool, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMallocFromPoolAsync(&second, 36, pool, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&other, 7, nullptr), cudaSuccess);
  EXPECT_EQ(attribute_of(usual, cudaMemPoolAttrUsedMemCurrent), 7u);
  ASSERT_EQ(cudaFreeAsync(first, nullptr), cudaSuccess);
  ASSERT_EQ(cudaFree(other), cudaSuccess);
  EXPECT_EQ(attribute_of(usual, cudaMemPoolAttrUsedMemCurrent), 0u);
  EXPECT_EQ(attribute_of(usual, cudaMemPoolAttrUsedMemHigh), 7u);
  for (const auto current : {cudaMemPoolAttrUsedMemCurrent, cudaMemPoolAttrReservedMemCurrent}) {
    EXPECT_EQ(attribute_of(pool, current), 36u) << "freed memory goes back at once";
  }
  for (const auto high : {cudaMemPoolAttrUsedMemHigh, cudaMemPoolAttrReservedMemHigh}) {
    EXPECT_EQ(attribute_of(pool, high), 100u);
    std::uint64_t value = 0;
    ASSERT_EQ(cudaMemPoolSetAttribute(pool, high, &value), cudaSuccess);
    EXPECT_EQ(attribute_of(pool, high), 36u) << "what is in use";
  }
  ASSERT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(second, nullptr), cudaSuccess) << "outlives its pool";
}

TEST_F(RuntimeMemoryTest, PoolsSetNothingButSettings) {
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  std::uint64_t value = 0;
  for (const auto current : {cudaMemPoolAttrUsedMemCurrent, cudaMemPoolAttrReservedMemCurrent}) {
    EXPECT_EQ(cudaMemPoolSetAttribute(pool, current, &value), cudaErrorInvalidValue);
  }
  value = 1 << 20;
  for (const auto high : {cudaMemPoolAttrUsedMemHigh, cudaMemPoolAttrReservedMemHigh}) {
    EXPECT_EQ(cudaMemPoolSetAttribute(pool, high, &value), cudaErrorInvalidValue);
    EXPECT_EQ(attribute_of(pool, high), 0u);
  }
  int off = 0;
  ASSERT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &off), cudaSuccess);
  int on = -1;
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &on),
            cudaSuccess);
  EXPECT_EQ(on, 1) << "as it is by default";
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &on), cudaSuccess);
  EXPECT_EQ(on, 0);
}

TEST_F(RuntimeMemoryTest, PoolsAreOfThisDeviceOrTheHost) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  cudaMemPool_t pool = nullptr;
  for (const auto& [type, id] :
       {std::pair{cudaMemLocationTypeInvalid, 0}, std::pair{cudaMemLocationTypeDevice, 1},
        std::pair{static_cast<cudaMemLocationType>(7), 0}}) {
    properties.location = {.type = type, .id = id};
    EXPECT_EQ(cudaMemPoolCreate(&pool, &properties), cudaErrorInvalidValue) << type << " " << id;
  }
}

TEST_F(RuntimeMemoryTest, APoolOfTheHostGivesMemoryOfTheHost) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {.type = cudaMemLocationTypeHost, .id = 0};
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&memory, 64, pool, nullptr), cudaSuccess);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  ASSERT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);

  ASSERT_EQ(cudaDeviceSetMemPool(0, pool), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&memory, 64, nullptr), cudaSuccess);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);
}

TEST_F(RuntimeMemoryTest, AResetEndsAllMemory) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
}

/// The check of allocations.
class RuntimeAllocationsTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    check_accesses("allocations", {});
    take_findings();
    for (cudaStream_t& stream : streams_) {
      ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    }
  }
  void TearDown() override {
    check_accesses(kUsualChecks, {});
    RuntimeTest::TearDown();
  }

  static std::vector<std::string> found() {
    std::vector<std::string> texts;
    for (const metrics::DeviceFault& finding : take_findings()) texts.push_back(finding.text);
    return texts;
  }
  void* allocated() const {
    void* memory = nullptr;
    EXPECT_EQ(cudaMallocAsync(&memory, 64, streams_[0]), cudaSuccess);
    return memory;
  }

  cudaStream_t streams_[2] = {};
};

TEST_F(RuntimeAllocationsTest, WhatIsNotFreedIsALeak) {
  void *freed = nullptr, *leaked = nullptr, *kept = nullptr;
  ASSERT_EQ(cudaMalloc(&kept, 32), cudaSuccess);
  begin_case("");
  ASSERT_EQ(cudaMalloc(&freed, 64), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&leaked, 1), cudaSuccess);
  ASSERT_EQ(cudaFree(freed), cudaSuccess);
  find_leaks();
  const std::vector<metrics::DeviceFault> findings = take_findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].text, "leak: cudaMalloc #2 (1 byte) was never freed");
  EXPECT_EQ(findings[0].rule, "leak");
  EXPECT_EQ(findings[0].other, "cudaMalloc #2");
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  find_leaks();
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(RuntimeAllocationsTest, ManyLeaksOfOneSizeAreOneFinding) {
  void* memory = nullptr;
  begin_case("");
  for (int n = 0; n < 12; ++n) ASSERT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
  find_leaks();
  EXPECT_THAT(found(), ElementsAre("leak: cudaMalloc #1, #2, #3, #4, #5 and 7 more (64 bytes each, "
                                   "768 in all) were never freed"));
}

TEST_F(RuntimeAllocationsTest, WrongFreesAreFoundAndFail) {
  void* memory = nullptr;
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc(32, 0, 0, 0, {});
  ASSERT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
  ASSERT_EQ(cudaMallocArray(&array, &channels, 4, 0, 0), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(array), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_THAT(found(),
              ElementsAre(HasSubstr("invalid free: cudaFreeHost of what is byte 0 of cudaMalloc"),
                          AllOf(HasSubstr("double free: cudaFreeAsync of what is byte 0 of "),
                                HasSubstr("which was freed")),
                          "invalid free: cudaFreeArray of what is no allocation"));
}

TEST_F(RuntimeAllocationsTest, StreamsWaitForAnAllocationBeforeTheyUseIt) {
  void* const memory = allocated();
  ASSERT_EQ(cudaMemsetAsync(memory, 0, 64, streams_[0]), cudaSuccess);
  EXPECT_THAT(found(), IsEmpty());
  int word = 0;
  ASSERT_EQ(cudaMemcpyAsync(&word, memory, 4, cudaMemcpyDeviceToHost, streams_[1]), cudaSuccess);
  EXPECT_THAT(found(),
              ElementsAre(HasSubstr("a copy: use before allocation: read from byte 0 of ")));
  ASSERT_EQ(cudaStreamSynchronize(streams_[0]), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(&word, memory, 4, cudaMemcpyDeviceToHost, streams_[1]), cudaSuccess);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(RuntimeAllocationsTest, AFreeWaitsForTheUsesOfOtherStreams) {
  void* const memory = allocated();
  ASSERT_EQ(cudaStreamSynchronize(streams_[0]), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(memory, 0, 64, streams_[1]), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(memory, streams_[0]), cudaSuccess);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("a fill: use after free: write to byte 0 of ")));
  void* const other = allocated();
  ASSERT_EQ(cudaFreeAsync(other, streams_[1]), cudaSuccess);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("cudaFreeAsync: use before allocation: free of ")));
}

TEST_F(RuntimeAllocationsTest, NothingIsFoundWhereTheCheckIsNotMade) {
  check_accesses("races", {});
  void* const memory = allocated();
  ASSERT_EQ(cudaMemsetAsync(memory, 0, 64, streams_[1]), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(memory, streams_[0]), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  void* leaked = nullptr;
  ASSERT_EQ(cudaMalloc(&leaked, 64), cudaSuccess);
  find_leaks();
  EXPECT_THAT(found(), IsEmpty());
}

}  // namespace
}  // namespace warpgauge::emulator::runtime::runtime_memory_test
