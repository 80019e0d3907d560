// The emulated driver: arrays, textures, and copies of two and three dimensions.
#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>

#include "harness/emulator/emulator.h"
#include "tests/emulator/runtime_test.h"

namespace warpgauge::emulator::driver::driver_copy_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// out[lane] = tex2D(texture, lane, 0.5), and a surface whose first row gets lane * 3.
const std::string kPtx = runtime::kPtxHead + R"(
.visible .entry read(.param .u64 texture, .param .u64 out)
{
  .reg .b32 %lane;
  .reg .f32 %x, %y, %red, %green, %blue, %alpha;
  .reg .b64 %texture, %out, %offset, %address;
  ld.param.u64 %texture, [texture];
  ld.param.u64 %out, [out];
  mov.u32 %lane, %tid.x;
  cvt.rn.f32.u32 %x, %lane;
  mov.f32 %y, 0f3F000000;
  tex.2d.v4.f32.f32 {%red, %green, %blue, %alpha}, [%texture, {%x, %y}];
  mul.wide.u32 %offset, %lane, 4;
  add.s64 %address, %out, %offset;
  st.global.f32 [%address], %red;
  ret;
}
.visible .entry write(.param .u64 surface)
{
  .reg .b32 %lane, %byte, %value, %row;
  .reg .b64 %surface;
  ld.param.u64 %surface, [surface];
  mov.u32 %lane, %tid.x;
  mul.lo.s32 %byte, %lane, 4;
  mul.lo.s32 %value, %lane, 3;
  mov.u32 %row, 0;
  sust.b.2d.b32.trap [%surface, {%byte, %row}], {%value};
  ret;
}
)";

class DriverCopyTest : public runtime::RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  }
  static CUarray made_array(std::size_t width, std::size_t height, CUarray_format format,
                            unsigned flags = 0) {
    CUarray out = nullptr;
    const CUDA_ARRAY3D_DESCRIPTOR wanted{width, height, 0, format, 1, flags};
    EXPECT_EQ(cuArray3DCreate(&out, &wanted), CUDA_SUCCESS);
    return out;
  }
  static CUdeviceptr allocated(std::size_t bytes) {
    CUdeviceptr out = 0;
    EXPECT_EQ(cuMemAlloc(&out, bytes), CUDA_SUCCESS);
    return out;
  }
  template <typename Value, std::size_t count>
  static void read(std::array<Value, count>& out, CUdeviceptr memory) {
    EXPECT_EQ(cuMemcpyDtoH(out.data(), memory, sizeof out), CUDA_SUCCESS);
  }
};

TEST_F(DriverCopyTest, AnArrayKeepsItsDescription) {
  const CUarray array = made_array(8, 4, CU_AD_FORMAT_HALF, CUDA_ARRAY3D_SURFACE_LDST);
  CUDA_ARRAY3D_DESCRIPTOR all{};
  EXPECT_EQ(cuArray3DGetDescriptor(&all, array), CUDA_SUCCESS);
  EXPECT_EQ(all.Width, 8U);
  EXPECT_EQ(all.Height, 4U);
  EXPECT_EQ(all.Depth, 0U);
  EXPECT_EQ(all.Format, CU_AD_FORMAT_HALF);
  EXPECT_EQ(all.NumChannels, 1U);
  EXPECT_EQ(all.Flags, unsigned{CUDA_ARRAY3D_SURFACE_LDST});
  CUarray other = nullptr;
  const CUDA_ARRAY_DESCRIPTOR wanted{3, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4};
  EXPECT_EQ(cuArrayCreate(&other, &wanted), CUDA_SUCCESS);
  CUDA_ARRAY_DESCRIPTOR some{};
  EXPECT_EQ(cuArrayGetDescriptor(&some, other), CUDA_SUCCESS);
  EXPECT_EQ(some.Width, 3U);
  EXPECT_EQ(some.Format, CU_AD_FORMAT_UNSIGNED_INT8);
  EXPECT_EQ(some.NumChannels, 4U);
  EXPECT_EQ(cuArrayDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayGetDescriptor(&some, other), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuArrayDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverCopyTest, BadDescriptionsAreRefused) {
  CUarray array = nullptr;
  EXPECT_EQ(cuArrayCreate(&array, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArray3DGetDescriptor(nullptr, array), CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY_DESCRIPTOR wanted{4, 4, CU_AD_FORMAT_FLOAT, 3};
  EXPECT_EQ(cuArrayCreate(&array, &wanted), CUDA_ERROR_INVALID_VALUE) << "three channels";
  wanted = {4, 4, CU_AD_FORMAT_NV12, 1};
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuArrayCreate(&array, &wanted), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("cuArrayCreate: arrays of format 176 are not emulated"));
  EXPECT_EQ(refused().size(), 1U);
}

TEST_F(DriverCopyTest, RowsAreCopiedBetweenHostArrayAndDevice) {
  std::array<short, 12> host{};
  std::iota(host.begin(), host.end(), short{0});
  const CUarray array = made_array(4, 3, CU_AD_FORMAT_SIGNED_INT16);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host.data();
  copy.srcPitch = 8;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 8;
  copy.Height = 3;
  EXPECT_EQ(cuMemcpy2D(&copy), CUDA_SUCCESS);

  const CUdeviceptr memory = allocated(16);
  EXPECT_EQ(cuMemsetD8(memory, 0, 16), CUDA_SUCCESS);
  CUDA_MEMCPY2D part{};  // two columns of two rows, from column 1 of row 1
  part.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  part.srcArray = array;
  part.srcXInBytes = 2;
  part.srcY = 1;
  part.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  part.dstDevice = memory;
  part.dstXInBytes = 2;
  part.dstPitch = 8;
  part.WidthInBytes = 4;
  part.Height = 2;
  EXPECT_EQ(cuMemcpy2DAsync(&part, nullptr), CUDA_SUCCESS);
  std::array<short, 8> out{};
  read(out, memory);
  EXPECT_THAT(out, ElementsAre(0, 5, 6, 0, 0, 9, 10, 0));

  part.srcXInBytes = 1;
  EXPECT_EQ(cuMemcpy2D(&part), CUDA_ERROR_INVALID_VALUE) << "within an element";
  part.srcXInBytes = 6;
  EXPECT_EQ(cuMemcpy2DUnaligned(&part), CUDA_ERROR_INVALID_VALUE) << "beyond the array";
  part.srcXInBytes = 2;
  part.dstPitch = 5;
  EXPECT_EQ(cuMemcpy2D(&part), CUDA_ERROR_INVALID_VALUE) << "the pitch is too small";
  part.dstPitch = 8;
  part.srcArray = reinterpret_cast<CUarray>(&part);
  EXPECT_EQ(cuMemcpy2D(&part), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMemcpy2D(nullptr), CUDA_ERROR_INVALID_VALUE);
  part.srcMemoryType = static_cast<CUmemorytype>(9);
  EXPECT_EQ(cuMemcpy2D(&part), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverCopyTest, SlicesAreCopied) {
  std::array<unsigned char, 12> host{};  // two slices of three rows of two bytes
  std::iota(host.begin(), host.end(), static_cast<unsigned char>(0));
  const CUdeviceptr memory = allocated(4);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host.data();
  copy.srcY = 1;
  copy.srcPitch = 2;
  copy.srcHeight = 3;
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = memory;
  copy.dstPitch = 1;
  copy.dstHeight = 2;
  copy.WidthInBytes = 1;
  copy.Height = copy.Depth = 2;
  EXPECT_EQ(cuMemcpy3D(&copy), CUDA_SUCCESS);
  std::array<unsigned char, 4> out{};
  read(out, memory);
  EXPECT_THAT(out, ElementsAre(2, 4, 8, 10));
  copy.srcHeight = 2;
  EXPECT_EQ(cuMemcpy3DAsync(&copy, nullptr), CUDA_ERROR_INVALID_VALUE) << "slices too low";
  copy.srcHeight = 3;
  copy.srcLOD = 1;
  EXPECT_EQ(cuMemcpy3D(&copy), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverCopyTest, BytesAreCopiedToAndFromArrays) {
  const CUarray first = made_array(4, 0, CU_AD_FORMAT_UNSIGNED_INT32);
  const CUarray second = made_array(4, 0, CU_AD_FORMAT_UNSIGNED_INT32);
  const std::array<unsigned, 4> numbers{1, 2, 3, 4};
  EXPECT_EQ(cuMemcpyHtoA(first, 0, numbers.data(), 16), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoAAsync(second, 0, numbers.data(), 16, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyAtoA(second, 8, first, 0, 8), CUDA_SUCCESS);
  const CUdeviceptr memory = allocated(8);
  EXPECT_EQ(cuMemcpyAtoD(memory, second, 4, 8), CUDA_SUCCESS);
  std::array<unsigned, 2> two{};
  read(two, memory);
  EXPECT_THAT(two, ElementsAre(2, 1));
  EXPECT_EQ(cuMemcpyDtoA(first, 8, memory, 8), CUDA_SUCCESS);
  std::array<unsigned, 4> out{};
  EXPECT_EQ(cuMemcpyAtoH(out.data(), first, 0, 16), CUDA_SUCCESS);
  EXPECT_THAT(out, ElementsAre(1, 2, 2, 1));
  EXPECT_EQ(cuMemcpyAtoHAsync(out.data(), second, 8, 8, nullptr), CUDA_SUCCESS);
  EXPECT_THAT(out, ElementsAre(1, 2, 2, 1));
  EXPECT_EQ(cuMemcpyAtoH(out.data(), first, 12, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyAtoH(out.data(), nullptr, 0, 4), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverCopyTest, CopiesBetweenContextsAreCopiesOnOneDevice) {
  CUcontext context = nullptr;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  const CUdeviceptr a = allocated(4), b = allocated(4);
  EXPECT_EQ(cuMemsetD32(a, 77, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyPeer(b, context, a, context, 4), CUDA_SUCCESS);
  std::array<unsigned, 1> out{};
  read(out, b);
  EXPECT_THAT(out, ElementsAre(77));
  EXPECT_EQ(cuMemcpyPeerAsync(b, nullptr, a, context, 4, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  CUDA_MEMCPY3D_PEER copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcContext = copy.dstContext = context;
  copy.srcDevice = a;
  copy.dstDevice = b;
  copy.WidthInBytes = 4;
  copy.Height = copy.Depth = 1;
  EXPECT_EQ(cuMemsetD32(a, 78, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpy3DPeer(&copy), CUDA_SUCCESS);
  read(out, b);
  EXPECT_THAT(out, ElementsAre(78));
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

TEST_F(DriverCopyTest, RowsAreFilledWithElements) {
  CUdeviceptr memory = 0;
  std::size_t pitch = 0;
  EXPECT_EQ(cuMemAllocPitch(&memory, &pitch, 8, 2, 4), CUDA_SUCCESS);
  EXPECT_GE(pitch, 8U);
  EXPECT_EQ(cuMemAllocPitch(&memory, &pitch, 8, 2, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocPitch(&memory, nullptr, 8, 2, 4), CUDA_ERROR_INVALID_VALUE);
  memory = allocated(16);
  EXPECT_EQ(cuMemsetD2D32(memory, 8, 1, 2, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD2D16(memory, 8, 2, 1, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD2D8Async(memory + 4, 8, 3, 1, 2, nullptr), CUDA_SUCCESS);
  std::array<unsigned, 4> out{};
  read(out, memory);
  EXPECT_THAT(out, ElementsAre(2, 3, 2, 3));
  EXPECT_EQ(cuMemsetD2D32(memory + 2, 8, 1, 1, 1), CUDA_ERROR_INVALID_VALUE) << "not aligned";
  EXPECT_EQ(cuMemsetD2D32(memory, 4, 1, 2, 2), CUDA_ERROR_INVALID_VALUE) << "rows overlap";
  EXPECT_EQ(cuMemsetD2D32Async(memory, 8, 1, 2, 3, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverCopyTest, HintsNameManagedMemoryAndAPlaceThatThereIs) {
  CUdeviceptr managed = 0;
  EXPECT_EQ(cuMemAllocManaged(&managed, 16, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  const CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, {0}},
      none{CU_MEM_LOCATION_TYPE_DEVICE, {1}};
  EXPECT_EQ(cuMemAdvise(managed, 16, CU_MEM_ADVISE_SET_READ_MOSTLY, device), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPrefetchAsync(managed, 16, device, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPrefetchAsync(managed, 16, none, 0, nullptr), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuMemPrefetchAsync(managed, 16, device, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPrefetchAsync(managed, 17, device, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAdvise(allocated(4), 4, CU_MEM_ADVISE_SET_READ_MOSTLY, device),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamAttachMemAsync(nullptr, managed, 0, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  void* older = nullptr;
  EXPECT_EQ(cuGetProcAddress("cuMemPrefetchAsync", &older, 12000, 0, nullptr), CUDA_SUCCESS);
  const auto prefetch =
      reinterpret_cast<CUresult (*)(CUdeviceptr, std::size_t, CUdevice, CUstream)>(older);
  EXPECT_EQ(prefetch(managed, 16, CU_DEVICE_CPU, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(prefetch(managed, 16, 1, nullptr), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(DriverCopyTest, TexturesAndSurfacesOfArrays) {
  runtime::TestModule module(kPtx);
  const CUarray array = made_array(4, 1, CU_AD_FORMAT_UNSIGNED_INT8);
  const std::array<unsigned char, 4> bytes{0, 51, 102, 255};
  EXPECT_EQ(cuMemcpyHtoA(array, 0, bytes.data(), 4), CUDA_SUCCESS);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC desc{};
  desc.addressMode[0] = desc.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject texture = 0;
  ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &desc, nullptr), CUDA_SUCCESS);
  CUfunction function = nullptr;
  ASSERT_EQ(cudaGetFuncBySymbol(&function, module.kernel("read")), cudaSuccess);
  CUdeviceptr out = allocated(16);
  void* arguments[] = {&texture, &out};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr),
            CUDA_SUCCESS);
  std::array<float, 4> values{};
  read(values, out);
  EXPECT_THAT(values, ElementsAre(0.0F, testing::FloatEq(0.2F), testing::FloatEq(0.4F), 1.0F))
      << "without CU_TRSF_READ_AS_INTEGER";
  CUDA_RESOURCE_DESC given{};
  EXPECT_EQ(cuTexObjectGetResourceDesc(&given, texture), CUDA_SUCCESS);
  EXPECT_EQ(given.res.array.hArray, array);
  CUDA_TEXTURE_DESC given_desc{};
  EXPECT_EQ(cuTexObjectGetTextureDesc(&given_desc, texture), CUDA_SUCCESS);
  EXPECT_EQ(given_desc.flags, 0U);
  EXPECT_EQ(given_desc.addressMode[0], CU_TR_ADDRESS_MODE_CLAMP);
  EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
  EXPECT_EQ(cuTexObjectGetResourceDesc(&given, texture), CUDA_ERROR_INVALID_VALUE);

  const CUarray written = made_array(4, 1, CU_AD_FORMAT_SIGNED_INT32, CUDA_ARRAY3D_SURFACE_LDST);
  resource.res.array.hArray = written;
  CUsurfObject surface = 0;
  ASSERT_EQ(cuSurfObjectCreate(&surface, &resource), CUDA_SUCCESS);
  ASSERT_EQ(cudaGetFuncBySymbol(&function, module.kernel("write")), cudaSuccess);
  void* surface_arguments[] = {&surface};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, surface_arguments, nullptr),
            CUDA_SUCCESS);
  std::array<int, 4> stored{};
  EXPECT_EQ(cuMemcpyAtoH(stored.data(), written, 0, 16), CUDA_SUCCESS);
  EXPECT_THAT(stored, ElementsAre(0, 3, 6, 9));
  EXPECT_EQ(cuSurfObjectGetResourceDesc(&given, surface), CUDA_SUCCESS);
  EXPECT_EQ(given.res.array.hArray, written);
  EXPECT_EQ(cuSurfObjectDestroy(surface), CUDA_SUCCESS);
  ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &desc, nullptr), CUDA_SUCCESS)
      << "integers of 32 bits are never turned into reals";
}

TEST_F(DriverCopyTest, BadResourcesAreRefused) {
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  CUDA_TEXTURE_DESC desc{};
  CUDA_RESOURCE_DESC resource{};
  EXPECT_EQ(cuTexObjectCreate(&texture, nullptr, &desc, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTexObjectCreate(&texture, &resource, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTexObjectCreate(&texture, &resource, &desc, nullptr), CUDA_ERROR_INVALID_HANDLE)
      << "no array";
  EXPECT_EQ(cuSurfObjectCreate(&surface, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTexObjectGetTextureDesc(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear = {allocated(64), CU_AD_FORMAT_FLOAT, 1, 64};
  EXPECT_EQ(cuTexObjectCreate(&texture, &resource, &desc, nullptr), CUDA_SUCCESS);
  CUDA_RESOURCE_DESC given{};
  EXPECT_EQ(cuTexObjectGetResourceDesc(&given, texture), CUDA_SUCCESS);
  EXPECT_EQ(given.res.linear.devPtr, resource.res.linear.devPtr);
  EXPECT_EQ(given.res.linear.format, CU_AD_FORMAT_FLOAT);
  EXPECT_EQ(given.res.linear.sizeInBytes, 64U);
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuTexObjectCreate(&texture, &resource, &desc, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  CUmipmappedArray mipmapped = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR wanted{4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  EXPECT_EQ(cuMipmappedArrayCreate(&mipmapped, &wanted, 2), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("cuTexObjectCreate: mipmapped arrays are not emulated"));
  EXPECT_EQ(refused().size(), 2U);
}

}  // namespace
}  // namespace warpgauge::emulator::driver::driver_copy_test
