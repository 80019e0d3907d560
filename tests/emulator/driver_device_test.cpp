// The emulated driver: what it says of itself, the device, the context and its functions.
#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "harness/emulator/emulator.h"
#include "tests/emulator/runtime_test.h"

namespace warpgauge::emulator::driver::driver_device_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DriverDeviceTest : public runtime::RuntimeTest {};

TEST_F(DriverDeviceTest, ErrorsHaveTheNamesAndTextsOfTheDriver) {
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_INVALID_CONTEXT");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_INVALID_CONTEXT, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "invalid device context");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "context already current") << "the runtime has no such error";
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(11), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(cuGetErrorString(static_cast<CUresult>(-1), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetErrorName(CUDA_SUCCESS, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverDeviceTest, ErrorsHaveTheNamesOfTheHeader) {
  std::ifstream header(WARPGAUGE_CUDA_HEADERS "/cuda.h");
  const std::regex is_error(R"(\s*(CUDA_SUCCESS|CUDA_ERROR_\w+)\s*=\s*(\d+),?\s*)");
  int errors = 0;
  std::smatch found;
  for (std::string line; std::getline(header, line);) {
    if (!std::regex_match(line, found, is_error)) continue;
    const char* name = nullptr;
    EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(std::stoi(found[2])), &name), CUDA_SUCCESS);
    EXPECT_STREQ(name, found[1].str().c_str());
    ++errors;
  }
  EXPECT_GT(errors, 80);
}

TEST_F(DriverDeviceTest, TheVersionIsTheToolkits) {
  int version = 0;
  EXPECT_EQ(cuDriverGetVersion(&version), CUDA_SUCCESS);
  EXPECT_EQ(version, CUDA_VERSION);
  EXPECT_EQ(cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverDeviceTest, TheDeviceIsTheRuntimes) {
  int count = 0, value = 0;
  CUdevice device = -1;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  char name[256] = {};
  EXPECT_EQ(cuDeviceGetName(name, sizeof name, device), CUDA_SUCCESS);
  EXPECT_STREQ(name, properties.name);
  EXPECT_EQ(cuDeviceGetName(name, 4, device), CUDA_SUCCESS);
  EXPECT_EQ(std::string(name), std::string(properties.name).substr(0, 3));
  EXPECT_EQ(cuDeviceGetName(name, 0, device), CUDA_ERROR_INVALID_VALUE);
  CUuuid uuid;
  EXPECT_EQ(cuDeviceGetUuid(&uuid, device), CUDA_SUCCESS);
  EXPECT_EQ(std::memcmp(&uuid, &properties.uuid, sizeof uuid), 0);
  std::size_t bytes = 0;
  EXPECT_EQ(cuDeviceTotalMem(&bytes, device), CUDA_SUCCESS);
  EXPECT_EQ(bytes, properties.totalGlobalMem);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
            CUDA_SUCCESS);
  EXPECT_EQ(value, properties.multiProcessorCount);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, device),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 1) << "from compute capability 9.0 on";
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, device),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 3),
            CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(DriverDeviceTest, TheRuntimeMakesThePrimaryContextCurrent) {
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  CUcontext current = nullptr, retained = nullptr, popped = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&retained, 0), CUDA_SUCCESS);
  EXPECT_NE(current, nullptr);
  EXPECT_EQ(retained, current);
  unsigned flags = 1;
  int active = 0;
  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(cuCtxSetCurrent(retained), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPushCurrent(retained), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, retained);
  EXPECT_EQ(cuCtxSetCurrent(reinterpret_cast<CUcontext>(&flags)), CUDA_ERROR_INVALID_CONTEXT);
  CUdevice device = -1;
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT) << "released once too often";
  EXPECT_EQ(cuDevicePrimaryCtxRelease(7), CUDA_ERROR_INVALID_DEVICE);
}

/// The answer of cuGetProcAddress for a name.
struct Found {
  CUresult result;
  void* address = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
};

Found found(const char* name, int version = CUDA_VERSION, cuuint64_t flags = 0) {
  Found out;
  out.result = cuGetProcAddress(name, &out.address, version, flags, &out.status);
  return out;
}

template <typename Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

// All as an H200 with a driver of CUDA 13.0 does.
TEST_F(DriverDeviceTest, FunctionsAreFoundByTheirNamesWithoutASuffix) {
  EXPECT_EQ(found("cuInit").address, address_of(cuInit));
  EXPECT_EQ(found("cuMemAlloc", 12000).address, address_of(cuMemAlloc));
  EXPECT_EQ(found("cuMemAlloc_v2").address, nullptr);
  EXPECT_EQ(found("cuMemAlloc_v2").status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(found("cuMemcpyHtoD_v2_ptds").status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(found("cuNothing").result, CUDA_SUCCESS);
  EXPECT_EQ(found("cuNothing").status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(found("cuLaunchKernelEx", 11000).result, CUDA_SUCCESS);
  EXPECT_EQ(found("cuLaunchKernelEx", 11000).address, nullptr);
  EXPECT_EQ(found("cuLaunchKernelEx", 11000).status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(found("cuGetProcAddress", 12000).address, address_of(cuGetProcAddress));
  EXPECT_NE(found("cuGetProcAddress", 11030).address, address_of(cuGetProcAddress));
  EXPECT_EQ(found("cuInit", CUDA_VERSION, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM).address,
            address_of(cuInit));
  EXPECT_EQ(found("cuInit", CUDA_VERSION, 4).result, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(found("cuInit", 99000).result, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(found(nullptr).result, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress("cuInit", nullptr, 12000, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverDeviceTest, TheRuntimeFindsTheSame) {
  void* function = &function;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  EXPECT_EQ(
      cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault, &status),
      cudaSuccess);
  EXPECT_EQ(function, address_of(cuMemAlloc));
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  EXPECT_EQ(
      cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, cudaEnableDefault, &status),
      cudaSuccess);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &function, 11000,
                                             cudaEnableDefault, &status),
            cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointVersionNotSufficent);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuInit", &function, 99000, 0, &status),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(DriverDeviceTest, WhatIsNotEmulatedIsFoundAndSaysSo) {
  const Found function = found("cuMemRelease");
  ASSERT_NE(function.address, nullptr);
  testing::internal::CaptureStderr();
  EXPECT_EQ(reinterpret_cast<CUresult (*)(CUmemGenericAllocationHandle)>(function.address)(1),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("cuMemRelease is not emulated: it returns CUDA_ERROR_NOT_SUPPORTED"));
  EXPECT_THAT(refused(), ElementsAre("cuMemRelease is not emulated"));
  EXPECT_EQ(last_failure(), "cuMemRelease: CUDA_ERROR_NOT_SUPPORTED");
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "the driver's errors are not the runtime's";
  cudaIpcOpenEventHandle(nullptr, {});  // which leaves an error that can be taken
  cudaGetLastError();
  EXPECT_THAT(refused(), IsEmpty());
}

}  // namespace
}  // namespace warpgauge::emulator::driver::driver_device_test
