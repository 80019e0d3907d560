// Device management, streams, events and errors of the emulated runtime.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "harness/emulator/emulator.h"
#include "harness/emulator/machine/core/error_table.h"
#include "harness/runtime.h"
#include "metrics/architecture/architectures.h"
#include "tests/emulator/runtime_test.h"

namespace warpgauge::emulator::runtime::runtime_device_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RuntimeDeviceTest : public RuntimeTest {};

TEST_F(RuntimeDeviceTest, PropertiesAreThoseOfTheArchitecture) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  ASSERT_EQ(count, 1);
  cudaDeviceProp properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  const auto& architecture = metrics::architecture(emulated_arch());
  EXPECT_EQ(properties.major, architecture.major);
  EXPECT_EQ(properties.minor, architecture.minor);
  EXPECT_EQ(properties.multiProcessorCount, architecture.multiprocessors);
  EXPECT_EQ(properties.sharedMemPerBlockOptin, architecture.shared_per_block_opt_in);
  EXPECT_THAT(properties.name, HasSubstr(emulated_arch()));
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
}

TEST_F(RuntimeDeviceTest, AUseOfTheDeviceIsToldOnce) {
  cudaDeviceProp properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_TRUE(take_device_use());
  EXPECT_FALSE(take_device_use());
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_TRUE(take_device_use());
}

TEST_F(RuntimeDeviceTest, ACallbackIsToldItsStreamAndThatAllWentWell) {
  struct Told {
    cudaStream_t stream = nullptr;
    cudaError_t error = cudaErrorUnknown;
  } told;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  const auto note = [](cudaStream_t of, cudaError_t error, void* data) {
    *static_cast<Told*>(data) = {of, error};
  };
  EXPECT_EQ(cudaStreamAddCallback(stream, note, &told, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(told.stream, stream);
  EXPECT_EQ(told.error, cudaSuccess);
  EXPECT_EQ(cudaStreamAddCallback(stream, nullptr, &told, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(RuntimeDeviceTest, AttributesAndPropertiesAgree) {
  cudaDeviceProp properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  const auto attribute = [](cudaDeviceAttr which) {
    int value = -7;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, which, 0), cudaSuccess);
    return value;
  };
  EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount), properties.multiProcessorCount);
  EXPECT_EQ(attribute(cudaDevAttrComputeCapabilityMajor), properties.major);
  EXPECT_EQ(attribute(cudaDevAttrMaxGridDimX), properties.maxGridSize[0]);
  EXPECT_EQ(attribute(cudaDevAttrMaxThreadsPerMultiProcessor),
            properties.maxThreadsPerMultiProcessor);
  EXPECT_EQ(properties.clusterLaunch, properties.major >= 9 ? 1 : 0);
  EXPECT_EQ(attribute(cudaDevAttrClusterLaunch), properties.clusterLaunch);
  int value = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(0), 0),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 3), cudaErrorInvalidDevice);
}

TEST_F(RuntimeDeviceTest, AttributesAreThoseOfAnH100) {
  const std::pair<cudaDeviceAttr, int> measured[] = {
      {cudaDevAttrTextureAlignment, 512},
      {cudaDevAttrSurfaceAlignment, 512},
      {cudaDevAttrAsyncEngineCount, 3},
      {cudaDevAttrHostRegisterReadOnlySupported, 1},
      {cudaDevAttrMemSyncDomainCount, 4},
#if CUDART_VERSION >= 13000
      {cudaDevAttrHostNumaMemoryPoolsSupported, 1},
      {cudaDevAttrHostMemoryPoolsSupported, 1},
#endif
      {cudaDevAttrMaxPersistingL2CacheSize, 32768000},
      {cudaDevAttrMaxAccessPolicyWindowSize, 134217728},
  };
  for (const auto& [attribute, expected] : measured) {
    int value = -1;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, attribute, 0), cudaSuccess);
    EXPECT_EQ(value, expected) << attribute;
  }
}

TEST_F(RuntimeDeviceTest, TheArchitectureIsChosenBeforeTheDeviceIsUsed) {
  const std::string before = emulated_arch();
  emulate_arch("sm_75");
  cudaDeviceProp properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_EQ(properties.major * 10 + properties.minor, 75);
  EXPECT_THROW(emulate_arch("sm_13"), std::invalid_argument);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // uses it
  EXPECT_THROW(emulate_arch("sm_120"), std::logic_error);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  emulate_arch(before);
}

TEST_F(RuntimeDeviceTest, ArchitecturesOfOneNumberAreDevicesOfTheirOwn) {
  std::set<std::string> names, uuids;
  for (const char* arch : {"sm_100", "sm_100a", "sm_100f"}) {
    emulate_arch(arch);
    EXPECT_EQ(emulated_arch(), arch);
    cudaDeviceProp properties{};
    ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    EXPECT_EQ(properties.major * 10 + properties.minor, 100);
    names.insert(properties.name);
    uuids.emplace(properties.uuid.bytes, sizeof properties.uuid.bytes);
  }
  EXPECT_EQ(names.size(), 3u);
  EXPECT_EQ(uuids.size(), 3u);
}

TEST_F(RuntimeDeviceTest, LimitsAreKeptUntilTheReset) {
  std::size_t before = 0, value = 0;
  ASSERT_EQ(cudaDeviceGetLimit(&before, cudaLimitStackSize), cudaSuccess);
  ASSERT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, 4096), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetLimit(&value, cudaLimitStackSize), cudaSuccess);
  EXPECT_EQ(value, 4096u);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetLimit(&value, cudaLimitStackSize), cudaSuccess);
  EXPECT_EQ(value, before);
  EXPECT_EQ(cudaDeviceSetLimit(static_cast<cudaLimit>(7), 1), cudaErrorUnsupportedLimit);
}

TEST_F(RuntimeDeviceTest, StreamsAndEventsThatDoNotExistAreRefused) {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream, event, 0), cudaSuccess);
  unsigned flags = 0;
  EXPECT_EQ(cudaStreamGetFlags(stream, &flags), cudaSuccess);
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
}

TEST_F(RuntimeDeviceTest, TimeBetweenEventsGoesOn) {
  cudaEvent_t start = nullptr, end = nullptr, untimed = nullptr;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaEventRecord(start, nullptr), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(end, nullptr), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(untimed, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, untimed), cudaErrorInvalidResourceHandle);
}

TEST_F(RuntimeDeviceTest, HostFunctionsMayCallTheRuntime) {
  const auto add = [](void* data) {
    EXPECT_EQ(cudaStreamQuery(nullptr), cudaSuccess);
    ++*static_cast<int*>(data);
  };
  int calls = 0;
  ASSERT_EQ(cudaLaunchHostFunc(nullptr, add, &calls), cudaSuccess);
  EXPECT_EQ(calls, 1);
}

TEST_F(RuntimeDeviceTest, AttributesOfStreamsAreKept) {
  cudaStream_t stream = nullptr, other = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&other), cudaSuccess);
  cudaLaunchAttributeValue value{}, got{};
  value.accessPolicyWindow.num_bytes = 4096;
  EXPECT_EQ(cudaStreamSetAttribute(stream, cudaLaunchAttributeAccessPolicyWindow, &value),
            cudaSuccess);
  EXPECT_EQ(cudaStreamCopyAttributes(other, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamGetAttribute(other, cudaLaunchAttributeAccessPolicyWindow, &got),
            cudaSuccess);
  EXPECT_EQ(got.accessPolicyWindow.num_bytes, 4096u);
  EXPECT_EQ(cudaStreamSetAttribute(stream, cudaLaunchAttributeCooperative, &value),
            cudaErrorInvalidValue);
}

TEST_F(RuntimeDeviceTest, PartOfL2CanPersistFromAmpereOn) {
  for (const auto& [arch, persists] : {std::pair("sm_75", false), std::pair("sm_90", true)}) {
    cudaDeviceReset();
    emulate_arch(arch);
    cudaDeviceProp properties{};
    int attribute = -1;
    EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    EXPECT_EQ(cudaDeviceGetAttribute(&attribute, cudaDevAttrMaxPersistingL2CacheSize, 0),
              cudaSuccess);
    EXPECT_EQ(attribute, properties.persistingL2CacheMaxSize);
    EXPECT_EQ(attribute > 0, persists) << arch;
    EXPECT_LT(attribute, properties.l2CacheSize);
  }
}

TEST_F(RuntimeDeviceTest, WhatIsNotEmulatedSaysSo) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaIpcGetMemHandle(nullptr, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(cudaIpcGetMemHandle(nullptr, nullptr), cudaErrorNotSupported);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("cudaIpcGetMemHandle"));
  EXPECT_EQ(said.find("cudaIpcGetMemHandle"), said.rfind("cudaIpcGetMemHandle")) << "named once";
  EXPECT_THAT(refused(), ElementsAre("cudaIpcGetMemHandle is not emulated"));
  EXPECT_EQ(last_call(), "cudaIpcGetMemHandle");
  EXPECT_EQ(last_failure(), "cudaIpcGetMemHandle: cudaErrorNotSupported");
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  EXPECT_THAT(refused(), IsEmpty()) << "the program took the error";
}

TEST_F(RuntimeDeviceTest, WhatIsRefusedToAThreadIsTakenByThatThread) {
  std::thread([] { cudaIpcCloseMemHandle(nullptr); }).join();
  cudaStream_t stream = nullptr;
  cudaIpcGetEventHandle(nullptr, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  EXPECT_THAT(refused(), ElementsAre("cudaIpcCloseMemHandle is not emulated"));
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(last_call(), "cudaStreamDestroy");
}

TEST(RuntimeErrorTest, TextsAreThoseOfTheToolkit) {
  EXPECT_TRUE(std::ranges::is_sorted(machine::kErrorTexts, {}, &machine::ErrorText::code));
  const std::string name = "libcudart.so." + std::to_string(CUDART_VERSION / 1000);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    library = dlopen(("/usr/local/cuda/lib64/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) GTEST_SKIP() << "no " << name << " to compare with";
  using TextOf = const char* (*)(cudaError_t);
  const auto name_of = reinterpret_cast<TextOf>(dlsym(library, "cudaGetErrorName"));
  const auto text_of = reinterpret_cast<TextOf>(dlsym(library, "cudaGetErrorString"));
  ASSERT_NE(name_of, cudaGetErrorName) << "the toolkit's own is wanted";
  const std::string_view unknown = name_of(static_cast<cudaError_t>(-1));
  constexpr int kToolkitOfTheTable = 13050;  // an older one does not know all
  for (int code = 0; code <= 10100; ++code) {
    const auto error = static_cast<cudaError_t>(code);
    if (CUDART_VERSION < kToolkitOfTheTable && name_of(error) == unknown) continue;
    EXPECT_STREQ(cudaGetErrorName(error), name_of(error)) << code;
    EXPECT_STREQ(cudaGetErrorString(error), text_of(error)) << code;
  }
}

TEST_F(RuntimeDeviceTest, NotReadyAndSuccessLeaveTheLastErrorAlone) {
  EXPECT_EQ(cudaSetDevice(5), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

}  // namespace
}  // namespace warpgauge::emulator::runtime::runtime_device_test
