// Arrays that kernels write: their limits, and the reads that see the writes.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/emulator/runtime_test.h"

namespace warpgauge::emulator::runtime::runtime_surface_test {
namespace {

/// A kernel with this body between its loads of parameters and a store of %r4 as the lane's output.
/// %r1 is the lane, (%r2, %r3) its element in the first row of the surface %rd1, in bytes, and
/// (%f1, %f2) that of the texture %rd2, whose elements have their centres at halves.
std::string kernel_of(const std::string& name, const std::string& body) {
  return ".visible .entry " + name + R"((.param .u64 surface, .param .u64 texture, .param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [surface];
  ld.param.u64 %rd2, [texture];
  ld.param.u64 %rd3, [out];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, 0;
  mov.u32 %r4, 0;
  cvt.rn.f32.u32 %f1, %r1;
  mov.f32 %f2, 0f3F000000;
)" + body +
         R"(
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd3, %rd4;
  st.global.u32 [%rd5], %r4;
  ret;
}
)";
}

const std::string kWrite = "sust.b.2d.b32.trap [%rd1, {%r2, %r3}], {%r1};\n";
const std::string kLoad = "suld.b.2d.b32.trap {%r4}, [%rd1, {%r2, %r3}];\n";
const std::string kFetch =
    "add.f32 %f1, %f1, 0f3F000000;\n"
    "tex.2d.v4.s32.f32 {%r4, %r5, %r6, %r7}, [%rd2, {%f1, %f2}];\n";
const std::string kFetchOther =  // an element of the second row
    "mov.f32 %f2, 0f3FC00000;\n" + kFetch;

class SurfaceTest : public RuntimeTest {
 protected:
  static constexpr int kLanes = 8;

  void SetUp() override {
    RuntimeTest::SetUp();
    const cudaChannelFormatDesc channels = {32, 0, 0, 0, cudaChannelFormatKindSigned};
    ASSERT_EQ(cudaMallocArray(&array_, &channels, kLanes, 2, cudaArraySurfaceLoadStore),
              cudaSuccess);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_;
    ASSERT_EQ(cudaCreateSurfaceObject(&surface_, &resource), cudaSuccess);
    const cudaTextureDesc desc{};
    ASSERT_EQ(cudaCreateTextureObject(&texture_, &resource, &desc, nullptr), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&out_), kLanes * sizeof(int),
                                cudaMemAttachGlobal),
              cudaSuccess);
  }

  cudaError_t run(const std::string& name) {
    void* arguments[] = {&surface_, &texture_, &out_};
    EXPECT_EQ(cudaLaunchKernel(module_.kernel(name), 1, kLanes, arguments, 0, nullptr),
              cudaSuccess);
    return cudaDeviceSynchronize();
  }

  TestModule module_{kPtxHead + kernel_of("write", kWrite) + kernel_of("fetch", kFetch) +
                     kernel_of("load_then_write", kLoad + kWrite) +
                     kernel_of("write_then_load", kWrite + kLoad) +
                     kernel_of("write_then_fetch", kWrite + kFetch) +
                     kernel_of("write_then_fetch_other", kWrite + kFetchOther)};
  cudaArray_t array_ = nullptr;
  cudaSurfaceObject_t surface_ = 0;
  cudaTextureObject_t texture_ = 0;
  int* out_ = nullptr;
};

TEST_F(SurfaceTest, TheNextLaunchReadsWhatWasWritten) {
  ASSERT_EQ(run("write"), cudaSuccess);
  ASSERT_EQ(run("fetch"), cudaSuccess);
  for (int i = 0; i < kLanes; ++i) EXPECT_EQ(out_[i], i);
  ASSERT_EQ(run("load_then_write"), cudaSuccess);
  for (int i = 0; i < kLanes; ++i) EXPECT_EQ(out_[i], i);
}

TEST_F(SurfaceTest, OtherElementsMayBeReadInTheSameLaunch) {
  EXPECT_EQ(run("write_then_fetch_other"), cudaSuccess);
}

TEST_F(SurfaceTest, TheSameLaunchMayNotFetchWhatItWrote) {
  EXPECT_EQ(run("write_then_fetch"), cudaErrorLaunchFailure);
  EXPECT_THAT(fault_text(),
              testing::HasSubstr("this launch has written through a surface what it now reads "
                                 "through a texture, which is undefined; read it in the next "
                                 "launch"));
}

TEST_F(SurfaceTest, TheSameLaunchMayNotLoadWhatItWrote) {
  EXPECT_EQ(run("write_then_load"), cudaErrorLaunchFailure);
  EXPECT_THAT(fault_text(), testing::HasSubstr("reads through a surface"));
}

class ArrayTest : public RuntimeTest {};

TEST_F(ArrayTest, HasTheLimitsOfTheDevice) {
  const auto allocates = [](cudaExtent extent, unsigned flags) {
    const cudaChannelFormatDesc bytes = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    cudaArray_t array = nullptr;
    const cudaError_t result = cudaMalloc3DArray(&array, &bytes, extent, flags);
    EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
    EXPECT_TRUE(result == cudaSuccess || result == cudaErrorInvalidValue);
    return result == cudaSuccess;
  };
  EXPECT_TRUE(allocates({131072, 0, 0}, 0));
  EXPECT_FALSE(allocates({131073, 0, 0}, 0));
  EXPECT_TRUE(allocates({32768, 0, 0}, cudaArraySurfaceLoadStore));
  EXPECT_FALSE(allocates({32769, 0, 0}, cudaArraySurfaceLoadStore));
  EXPECT_TRUE(allocates({1, 65536, 0}, 0));
  EXPECT_FALSE(allocates({1, 65537, 0}, 0));
  EXPECT_FALSE(allocates({1, 32769, 0}, cudaArrayTextureGather));
  EXPECT_TRUE(allocates({1, 1, 32768}, 0)) << "the alternative: deeper, and less wide";
  EXPECT_FALSE(allocates({8193, 1, 32768}, 0));
  EXPECT_FALSE(allocates({1, 1, 32769}, 0));
  EXPECT_FALSE(allocates({1, 1, 16385}, cudaArraySurfaceLoadStore));
  EXPECT_TRUE(allocates({1, 1, 2048}, cudaArrayLayered));
  EXPECT_FALSE(allocates({1, 1, 2049}, cudaArrayLayered));
  EXPECT_FALSE(allocates({32769, 0, 2}, cudaArrayLayered));
}

TEST_F(ArrayTest, HasNoElementsOfThreeChannels) {
  const cudaChannelFormatDesc three = {8, 8, 8, 0, cudaChannelFormatKindUnsigned};
  cudaArray_t array = nullptr;
  EXPECT_EQ(cudaMallocArray(&array, &three, 4, 4), cudaErrorInvalidChannelDescriptor);
}

}  // namespace
}  // namespace warpgauge::emulator::runtime::runtime_surface_test
