// The emulated driver: memory, streams, events and launches.
#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "harness/emulator/emulator.h"
#include "tests/emulator/runtime_test.h"

namespace warpgauge::emulator::driver::driver_work_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// put(int* out, int value): out[tid] = value. bounded: __launch_bounds__(64).
const std::string kPtx = runtime::kPtxHead + R"(
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
.visible .entry bounded() .maxntid 64, 1, 1 { ret; }
)";

class DriverWorkTest : public runtime::RuntimeTest {
 protected:
  DriverWorkTest() : module_(kPtx) {}
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  }
  CUfunction function(const std::string& name) {
    CUfunction out = nullptr;
    EXPECT_EQ(cudaGetFuncBySymbol(&out, module_.kernel(name)), cudaSuccess);
    return out;
  }
  static CUdeviceptr allocated(std::size_t bytes) {
    CUdeviceptr out = 0;
    EXPECT_EQ(cuMemAlloc(&out, bytes), CUDA_SUCCESS);
    return out;
  }
  static std::array<int, 4> content(CUdeviceptr memory) {
    std::array<int, 4> out{};
    EXPECT_EQ(cuMemcpyDtoH(out.data(), memory, sizeof out), CUDA_SUCCESS);
    return out;
  }

 private:
  runtime::TestModule module_;
};

TEST_F(DriverWorkTest, MemoryIsTheRuntimes) {
  const CUdeviceptr a = allocated(16), b = allocated(16);
  const std::array<int, 4> numbers{1, 2, 3, 4};
  EXPECT_EQ(cuMemcpyHtoD(a, numbers.data(), 16), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoD(b, a, 16), CUDA_SUCCESS);
  EXPECT_THAT(content(b), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(cuMemsetD32(b, 7, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(b + 12, 1, 2), CUDA_SUCCESS);
  EXPECT_THAT(content(b), ElementsAre(7, 7, 3, 0x101));
  EXPECT_EQ(cuMemsetD16Async(b, 2, 1, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoDAsync(b + 4, numbers.data(), 4, CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  EXPECT_THAT(content(b), ElementsAre(2, 1, 3, 0x101));
  EXPECT_EQ(cudaFree(reinterpret_cast<void*>(a)), cudaSuccess);
  EXPECT_EQ(cuMemFree(b), CUDA_SUCCESS);
}

TEST_F(DriverWorkTest, BadSizesAndAddressesAreInvalidValues) {
  CUdeviceptr none = 0;
  EXPECT_EQ(cuMemAlloc(&none, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&none, std::size_t{1} << 60), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemFree(0), CUDA_SUCCESS);
  const CUdeviceptr memory = allocated(16);
  EXPECT_EQ(cuMemsetD32(memory + 2, 7, 1), CUDA_ERROR_INVALID_VALUE) << "not aligned";
  EXPECT_EQ(cuMemsetD32(memory, 7, 5), CUDA_ERROR_INVALID_VALUE) << "beyond the allocation";
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuMemFree(memory + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("cuMemFree: cannot free what is"));
  EXPECT_EQ(last_failure(), "cuMemFree: CUDA_ERROR_INVALID_VALUE");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the driver's errors are not the runtime's";
}

TEST_F(DriverWorkTest, APointerTellsWhereItLies) {
  const CUdeviceptr memory = allocated(16);
  unsigned type = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  CUdeviceptr begin = 0;
  EXPECT_EQ(cuPointerGetAttribute(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, memory + 4),
            CUDA_SUCCESS);
  EXPECT_EQ(begin, memory);
  std::size_t bytes = 0;
  EXPECT_EQ(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, memory), CUDA_SUCCESS);
  CUdeviceptr range_begin = 0;
  std::size_t range_bytes = 0;
  EXPECT_EQ(cuMemGetAddressRange(&range_begin, &range_bytes, memory + 7), CUDA_SUCCESS);
  EXPECT_EQ(range_begin, begin);
  EXPECT_EQ(range_bytes, bytes);
  EXPECT_EQ(cuMemGetAddressRange(nullptr, nullptr, memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetAddressRange(&range_begin, &range_bytes, reinterpret_cast<CUdeviceptr>(&bytes)),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(bytes, 16);
  void* host = nullptr;
  EXPECT_EQ(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  reinterpret_cast<CUdeviceptr>(&type)),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverWorkTest, StreamsAndEventsAreTheRuntimes) {
  CUstream stream = nullptr;
  CUevent first = nullptr, second = nullptr;
  EXPECT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamCreate(&stream, 9), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuEventCreate(&first, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  EXPECT_EQ(cuEventCreate(&second, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(first, stream), CUDA_SUCCESS);
  EXPECT_EQ(cudaEventRecord(second, stream), cudaSuccess);
  EXPECT_EQ(cuStreamWaitEvent(stream, second, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(second), CUDA_SUCCESS);
  int priority = 1;
  unsigned flags = CU_STREAM_DEFAULT;
  EXPECT_EQ(cuStreamGetPriority(stream, &priority), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetFlags(stream, &flags), CUDA_SUCCESS);
  EXPECT_EQ(priority, 0);
  EXPECT_EQ(flags, CU_STREAM_NON_BLOCKING);
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, first, second), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamGetPriority(stream, &priority), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventDestroy(first), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(first), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverWorkTest, AKernelIsLaunchedWithArgumentsInEitherForm) {
  const CUfunction put = function("put");
  CUdeviceptr memory = allocated(16);
  int value = 5;
  void* arguments[] = {&memory, &value};
  EXPECT_EQ(cuLaunchKernel(put, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_THAT(content(memory), ElementsAre(5, 5, 5, 5));
  struct {
    CUdeviceptr memory;
    int value;
  } buffer{memory, 6};
  std::size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  EXPECT_EQ(cuLaunchKernel(put, 1, 1, 1, 2, 1, 1, 0, nullptr, nullptr, extra), CUDA_SUCCESS);
  EXPECT_THAT(content(memory), ElementsAre(6, 6, 5, 5));
  bytes = 8;
  EXPECT_EQ(cuLaunchKernel(put, 1, 1, 1, 2, 1, 1, 0, nullptr, nullptr, extra),
            CUDA_ERROR_INVALID_VALUE);
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  CUlaunchConfig config{.gridDimX = 1,
                        .gridDimY = 1,
                        .gridDimZ = 1,
                        .blockDimX = 1,
                        .blockDimY = 1,
                        .blockDimZ = 1,
                        .sharedMemBytes = 0,
                        .hStream = nullptr,
                        .attrs = &attribute,
                        .numAttrs = 1};
  value = 9;
  EXPECT_EQ(cuLaunchKernelEx(&config, put, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_THAT(content(memory), ElementsAre(9, 6, 5, 5));
  EXPECT_EQ(cuLaunchKernelEx(nullptr, put, arguments, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchKernel(put, 0, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverWorkTest, AFaultIsTheFaultOfLaterCalls) {
  CUdeviceptr wild = 64;
  int value = 5;
  void* arguments[] = {&wild, &value};
  EXPECT_EQ(cuLaunchKernel(function("put"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc(&memory, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(fault_text(), HasSubstr("put"));
}

TEST_F(DriverWorkTest, AKernelHasItsAttributesAndOccupancy) {
  const CUfunction bounded = function("bounded");
  int value = 0, blocks = 0, grid = 0, threads = 0;
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, bounded),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 64);
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, bounded), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuFuncSetAttribute(bounded, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536),
            CUDA_SUCCESS);
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bounded),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 65536);
  EXPECT_EQ(cuFuncSetAttribute(bounded, CU_FUNC_ATTRIBUTE_NUM_REGS, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 64, 0), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 32);
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &threads, bounded, nullptr, 0, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(threads, 64);
  EXPECT_EQ(grid, 32 * 132);
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &threads, bounded, nullptr, 0, 33),
            CUDA_SUCCESS);
  EXPECT_EQ(threads, 33) << "the limit, where that fills most";
  const char* name = nullptr;
  EXPECT_EQ(cuFuncGetName(&name, bounded), CUDA_SUCCESS);
  EXPECT_STREQ(name, "bounded");
}

}  // namespace
}  // namespace warpgauge::emulator::driver::driver_work_test
