// The emulated driver: contexts, and the code that a program loads. The codes of errors are those
// of an H200 with a driver of CUDA 13.0.
#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "harness/emulator/emulator.h"
#include "tests/emulator/runtime_test.h"
#include "tests/metrics/recorded_file.h"

extern "C" CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device);

namespace warpgauge::emulator::driver::driver_module_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StrEq;

// put(int* out, int value): out[tid] = value.
const std::string kPtx = runtime::kPtxHead + R"(
.visible .global .align 4 .u32 counter = 5;
.visible .const .align 4 .u32 fixed[2];
.visible .entry put(.param .u64 out, .param .u32 value)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
.visible .entry nothing() { ret; }
)";
const std::string kWrong = runtime::kPtxHead + ".visible .entry x() { what is this; }\n";

class DriverModuleTest : public runtime::RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(primary_), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    RuntimeTest::TearDown();
  }

  static CUmodule loaded(const void* image) {
    CUmodule module = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
    return module;
  }
  static CUfunction function_of(CUmodule module, const char* name) {
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
    return function;
  }
  static CUdeviceptr allocated(std::size_t bytes) {
    CUdeviceptr out = 0;
    EXPECT_EQ(cuMemAlloc(&out, bytes), CUDA_SUCCESS);
    return out;
  }
  /// What put() writes.
  static CUresult launch(CUfunction put, CUdeviceptr out, int value) {
    void* arguments[] = {&out, &value};
    return cuLaunchKernel(put, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr);
  }
  static std::array<int, 4> content(CUdeviceptr memory) {
    std::array<int, 4> out{};
    EXPECT_EQ(cuMemcpyDtoH(out.data(), memory, sizeof out), CUDA_SUCCESS);
    return out;
  }
  static CUresult result_of_loading(const void* image) {
    CUmodule module = nullptr;
    return cuModuleLoadData(&module, image);
  }

  CUcontext primary_ = nullptr;
};

TEST_F(DriverModuleTest, PtxIsLoadedAndLaunched) {
  const CUmodule module = loaded(kPtx.c_str());
  const CUdeviceptr out = allocated(16);
  const CUfunction put = function_of(module, "put");
  EXPECT_EQ(launch(put, out, 9), CUDA_SUCCESS);
  EXPECT_THAT(content(out), ElementsAre(9, 9, 9, 9));
  const char* name = nullptr;
  EXPECT_EQ(cuFuncGetName(&name, put), CUDA_SUCCESS);
  EXPECT_STREQ(name, "put");
  CUmodule of = nullptr;
  EXPECT_EQ(cuFuncGetModule(&of, put), CUDA_SUCCESS);
  EXPECT_EQ(of, module);
  unsigned count = 0;
  EXPECT_EQ(cuModuleGetFunctionCount(&count, module), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  std::array<CUfunction, 3> functions{};
  EXPECT_EQ(cuModuleEnumerateFunctions(functions.data(), 3, module), CUDA_SUCCESS);
  EXPECT_THAT(functions, ElementsAre(put, testing::Ne(nullptr), nullptr));
}

TEST_F(DriverModuleTest, VariablesHaveTheirFirstValues) {
  const CUmodule module = loaded(kPtx.c_str());
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal(&address, &bytes, module, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 4u);
  int value = 0;
  EXPECT_EQ(cuMemcpyDtoH(&value, address, sizeof value), CUDA_SUCCESS);
  EXPECT_EQ(value, 5);
  EXPECT_EQ(cuModuleGetGlobal(nullptr, &bytes, module, "fixed"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 8u);
  EXPECT_EQ(cuModuleGetGlobal(&address, &bytes, module, "missing"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(DriverModuleTest, AnUnloadedModuleIsGone) {
  const CUmodule module = loaded(kPtx.c_str());
  const CUfunction put = function_of(module, "put");
  CUdeviceptr counter = 0;
  EXPECT_EQ(cuModuleGetGlobal(&counter, nullptr, module, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(launch(put, allocated(16), 1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMemsetD32(counter, 1, 1), CUDA_ERROR_INVALID_VALUE) << "its variables are freed";
  take_failed_launches();
}

TEST_F(DriverModuleTest, EachLoadHasVariablesOfItsOwn) {
  const CUmodule first = loaded(kPtx.c_str()), second = loaded(kPtx.c_str());
  CUdeviceptr a = 0, b = 0;
  EXPECT_EQ(cuModuleGetGlobal(&a, nullptr, first, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetGlobal(&b, nullptr, second, "counter"), CUDA_SUCCESS);
  EXPECT_NE(a, b);
  EXPECT_EQ(cuModuleUnload(first), CUDA_SUCCESS);
  const CUdeviceptr out = allocated(16);
  EXPECT_EQ(launch(function_of(second, "put"), out, 3), CUDA_SUCCESS);
  EXPECT_THAT(content(out), ElementsAre(3, 3, 3, 3));
}

TEST_F(DriverModuleTest, WrongImagesAreRefusedWithTheCodesOfTheDriver) {
  EXPECT_EQ(result_of_loading(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(result_of_loading("garbage"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(result_of_loading(kWrong.c_str()), CUDA_ERROR_INVALID_PTX);
  testing::internal::CaptureStderr();
  EXPECT_EQ(result_of_loading(".version 8.7\n.target sm_100\n.address_size 64\n"),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("this PTX is for sm_100, and the emulated GPU is sm_90"));
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoad(&module, "/nowhere/k.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(cuModuleLoadData(nullptr, kPtx.c_str()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(refused(), IsEmpty()) << "a GPU would not take them";
}

TEST_F(DriverModuleTest, ACubinIsRunFromThePtxThatItKeeps) {
  const std::string cubin = metrics::recorded_text("oracle/oracle.sm_90.cubin");
  std::vector<char> image(cubin.begin(), cubin.end());
  const CUmodule module = loaded(image.data());
  std::fill(image.begin(), image.end(), 0);  // the program may free it
  unsigned count = 0;
  EXPECT_EQ(cuModuleGetFunctionCount(&count, module), CUDA_SUCCESS);
  EXPECT_GT(count, 0u);
  int registers = 0;
  EXPECT_EQ(
      cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function_of(module, "wide_rows")),
      CUDA_SUCCESS);
  EXPECT_GT(registers, 0) << "of its machine code";
}

TEST_F(DriverModuleTest, ACubinForAnotherArchitectureOrCutOffIsRefused) {
  const std::string other = metrics::recorded_text("oracle/oracle.sm_120.cubin");
  EXPECT_EQ(result_of_loading(other.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
  std::string cut = metrics::recorded_text("oracle/oracle.sm_90.cubin");
  std::fill(cut.begin() + 200, cut.end(), '\0');
  EXPECT_EQ(result_of_loading(cut.data()), CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(DriverModuleTest, AFatBinaryIsLoadedAlsoWithOlderPtxOnly) {
  const auto image = runtime::fat_binary({runtime::TestCode{.arch = 80, .text = kPtx}});
  const CUdeviceptr out = allocated(16);
  EXPECT_EQ(launch(function_of(loaded(image.data()), "put"), out, 2), CUDA_SUCCESS);
  EXPECT_THAT(content(out), ElementsAre(2, 2, 2, 2));
  const metrics::FatBinaryWrapper wrapper{.container = image.data()};
  EXPECT_EQ(launch(function_of(loaded(&wrapper), "put"), out, 4), CUDA_SUCCESS);
  EXPECT_THAT(content(out), ElementsAre(4, 4, 4, 4));
}

TEST_F(DriverModuleTest, MachineCodeWithoutPtxIsRefusedByName) {
  const auto image =
      runtime::fat_binary({runtime::TestCode{.arch = 90, .text = "code", .is_ptx = false}});
  testing::internal::CaptureStderr();
  EXPECT_EQ(result_of_loading(image.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("no PTX for sm_90"));
}

TEST_F(DriverModuleTest, TheLogSaysWhatIsWrong) {
  std::array<char, 200> log{'x'};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&module, kWrong.c_str(), 2, options, values),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(std::string(log.data()), HasSubstr("what is this"));
  EXPECT_LT(reinterpret_cast<std::uintptr_t>(values[1]), log.size());
  values[1] = reinterpret_cast<void*>(log.size());
  EXPECT_EQ(cuModuleLoadDataEx(&module, kPtx.c_str(), 2, options, values), CUDA_SUCCESS);
  EXPECT_STREQ(log.data(), "");
  EXPECT_EQ(values[1], nullptr);
}

TEST_F(DriverModuleTest, FunctionsAreFoundByTheirNames) {
  const CUmodule module = loaded(kPtx.c_str());
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&function, module, "missing"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleGetFunction(&function, module, ""), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleGetFunction(&function, nullptr, "put"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleGetFunction(nullptr, module, "put"), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverModuleTest, ALibraryNeedsNoContext) {
  ASSERT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, kPtx.c_str()), CUDA_ERROR_INVALID_CONTEXT);
  CUlibrary library = nullptr, of = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, kPtx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  CUkernel kernel = nullptr;
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "put"), CUDA_SUCCESS);
  EXPECT_EQ(cuKernelGetLibrary(&of, kernel), CUDA_SUCCESS);
  EXPECT_EQ(of, library);
  int threads = 0;
  EXPECT_EQ(cuKernelGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(threads, 1024);
  EXPECT_EQ(cuKernelGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 9),
            CUDA_ERROR_INVALID_DEVICE);
  CUfunction function = nullptr;
  EXPECT_EQ(cuKernelGetFunction(&function, kernel), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuLibraryGetModule(&module, library), CUDA_ERROR_INVALID_CONTEXT);
  ASSERT_EQ(cuCtxSetCurrent(primary_), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryGetModule(&module, library), CUDA_SUCCESS);
  EXPECT_EQ(cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
  const CUdeviceptr out = allocated(16);
  EXPECT_EQ(launch(function, out, 6), CUDA_SUCCESS);
  EXPECT_THAT(content(out), ElementsAre(6, 6, 6, 6));
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverModuleTest, AFunctionIsOneOfItsContext) {
  const CUdeviceptr out = allocated(16);
  const CUfunction put = function_of(loaded(kPtx.c_str()), "put");
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  EXPECT_EQ(cuLibraryLoadData(&library, kPtx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "put"), CUDA_SUCCESS);
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&other, CU_CTX_SCHED_SPIN, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(put, out, 1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchCooperativeKernel(put, 1, 1, 1, 4, 1, 1, 0, nullptr, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(reinterpret_cast<CUfunction>(kernel), out, 7), CUDA_SUCCESS);
  EXPECT_THAT(content(out), ElementsAre(7, 7, 7, 7));
  const CUmodule of_other = loaded(kPtx.c_str());
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(of_other), CUDA_ERROR_INVALID_HANDLE) << "it went with its context";
  CUcontext current = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, primary_);
  EXPECT_EQ(cuCtxDestroy(primary_), CUDA_ERROR_INVALID_CONTEXT);
  take_failed_launches();
}

TEST_F(DriverModuleTest, ContextsAreAStack) {
  CUcontext first = nullptr, popped = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&first, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPushCurrent(primary_), CUDA_SUCCESS);
  unsigned long long one = 0, other = 0;
  EXPECT_EQ(cuCtxGetId(first, &one), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetId(nullptr, &other), CUDA_SUCCESS);
  EXPECT_NE(one, other);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, primary_);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, first);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, primary_) << "that of the test";
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc(&memory, 16), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPushCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxDestroy(first), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(primary_), CUDA_SUCCESS);
}

TEST_F(DriverModuleTest, ArgumentsInABufferHaveTheSizeOfTheParameters) {
  const CUfunction put = function_of(loaded(kPtx.c_str()), "put");
  struct {
    CUdeviceptr out;
    int value;
  } packed = {allocated(16), 8};
  std::size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  const auto launched = [&] {
    return cuLaunchKernel(put, 1, 1, 1, 4, 1, 1, 0, nullptr, nullptr, extra);
  };
  EXPECT_EQ(launched(), CUDA_SUCCESS);
  EXPECT_THAT(content(packed.out), ElementsAre(8, 8, 8, 8));
  bytes = 8;
  EXPECT_EQ(launched(), CUDA_ERROR_INVALID_VALUE);
  bytes = 16;
  EXPECT_EQ(launched(), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
}

TEST_F(DriverModuleTest, PrivateTablesAreNotFoundWhichIsNoRefusal) {
  const void* table = &primary_;
  const CUuuid id{};
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(table, nullptr);
  EXPECT_THAT(refused(), IsEmpty());
  EXPECT_THAT(private_tables(), StrEq("cuGetExportTable is not emulated"));
}

TEST_F(DriverModuleTest, OfAnUnknownPointerNothingIsKnown) {
  unsigned type = 77;
  CUdeviceptr device = 5;
  int ordinal = 55, host = 0;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* data[] = {&type, &device, &ordinal};
  EXPECT_EQ(cuPointerGetAttributes(3, wanted, data, reinterpret_cast<CUdeviceptr>(&host)),
            CUDA_SUCCESS);
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(device, 0u);
  EXPECT_EQ(ordinal, CU_DEVICE_INVALID);
  const CUdeviceptr memory = allocated(16);
  EXPECT_EQ(cuPointerGetAttributes(3, wanted, data, memory), CUDA_SUCCESS);
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(device, memory);
  EXPECT_EQ(ordinal, 0);
}

}  // namespace
}  // namespace warpgauge::emulator::driver::driver_module_test
