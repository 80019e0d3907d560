// Texture and surface instructions, through the emulated runtime.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "tests/emulator/runtime_test.h"

namespace warpgauge::emulator::runtime::runtime_texture_test {
namespace {

// out[lane] = tex2D(texture, lane, 0.5), and a surface that
// gets lane * 3 at byte lane * 4 + shift of its first row.
const std::string kPtx = kPtxHead + R"(
.visible .entry read(.param .u64 texture, .param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .f32 %f<8>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [texture];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  mov.f32 %f2, 0f3F000000;
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.f32 [%rd4], %f3;
  ret;
}
.visible .entry write(.param .u64 surface, .param .u32 shift)
{
  .reg .b32 %r<6>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [surface];
  ld.param.u32 %r1, [shift];
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r2, 4, %r1;
  mul.lo.s32 %r4, %r2, 3;
  mov.u32 %r5, 0;
  sust.b.2d.b32.trap [%rd1, {%r3, %r5}], {%r4};
  ret;
}
)";

class TextureKernelTest : public RuntimeTest {
 protected:
  cudaArray_t make_array(unsigned flags, cudaChannelFormatKind kind) {
    const cudaChannelFormatDesc channels = {32, 0, 0, 0, kind};
    cudaArray_t array = nullptr;
    EXPECT_EQ(cudaMallocArray(&array, &channels, 8, 2, flags), cudaSuccess);
    return array;
  }
  static cudaResourceDesc resource_of(cudaArray_t array) {
    cudaResourceDesc out{};
    out.resType = cudaResourceTypeArray;
    out.res.array.array = array;
    return out;
  }

  TestModule module_{kPtx};
};

TEST_F(TextureKernelTest, TexReadsAnArray) {
  const std::vector<float> row = {0, 10, 20, 30, 40, 50, 60, 70};
  cudaArray_t array = make_array(0, cudaChannelFormatKindFloat);
  ASSERT_EQ(cudaMemcpy2DToArray(array, 0, 0, row.data(), 32, 32, 1, cudaMemcpyHostToDevice),
            cudaSuccess);
  const cudaResourceDesc resource = resource_of(array);
  cudaTextureDesc desc{};
  desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
  desc.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture = 0;
  ASSERT_EQ(cudaCreateTextureObject(&texture, &resource, &desc, nullptr), cudaSuccess);

  float* out = nullptr;
  ASSERT_EQ(
      cudaMallocManaged(reinterpret_cast<void**>(&out), 9 * sizeof(float), cudaMemAttachGlobal),
      cudaSuccess);
  void* arguments[] = {&texture, &out};
  ASSERT_EQ(cudaLaunchKernel(module_.kernel("read"), 1, 9, arguments, 0, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0], 0);
  for (int i = 1; i < 8; ++i) EXPECT_EQ(out[i], i * 10.0f - 5);
  EXPECT_EQ(out[8], 70);

  ASSERT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  ASSERT_EQ(cudaLaunchKernel(module_.kernel("read"), 1, 1, arguments, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure) << "the object is no more";
}

TEST_F(TextureKernelTest, LinearMemoryHasNoCoordinates) {
  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.desc = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  linear.res.linear.sizeInBytes = 256;
  ASSERT_EQ(cudaMalloc(&linear.res.linear.devPtr, 256), cudaSuccess);
  const cudaTextureDesc desc{};
  cudaTextureObject_t texture = 0;
  ASSERT_EQ(cudaCreateTextureObject(&texture, &linear, &desc, nullptr), cudaSuccess);
  void* out = nullptr;
  ASSERT_EQ(cudaMalloc(&out, 256), cudaSuccess);
  void* arguments[] = {&texture, &out};
  ASSERT_EQ(cudaLaunchKernel(module_.kernel("read"), 1, 8, arguments, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_THAT(fault_text(), testing::HasSubstr(
                                "the texture lies over linear memory, which only tex1Dfetch reads, "
                                "by an index; a coordinate needs an array"));
}

TEST_F(TextureKernelTest, SustWritesASurfaceAndTrapsBesideIt) {
  cudaArray_t array = make_array(cudaArraySurfaceLoadStore, cudaChannelFormatKindSigned);
  const cudaResourceDesc resource = resource_of(array);
  cudaSurfaceObject_t surface = 0;
  ASSERT_EQ(cudaCreateSurfaceObject(&surface, &resource), cudaSuccess);
  int shift = 0;
  void* arguments[] = {&surface, &shift};
  ASSERT_EQ(cudaLaunchKernel(module_.kernel("write"), 1, 8, arguments, 0, nullptr), cudaSuccess);
  std::vector<int> row(8);
  ASSERT_EQ(cudaMemcpy2DFromArray(row.data(), 32, array, 0, 0, 32, 1, cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(row[i], i * 3);

  shift = 4;
  ASSERT_EQ(cudaLaunchKernel(module_.kernel("write"), 1, 8, arguments, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

// All forms of the instructions, by one thread: `body` leaves its results in %r1 to %r4.
class TextureFormTest : public TextureKernelTest {
 protected:
  std::array<std::uint32_t, 4> run(const std::string& body, std::uint64_t object) {
    TestModule module(kPtxHead + R"(
.visible .entry form(.param .u64 object, .param .u64 out)
{
  .reg .b16 %h<6>;
  .reg .b32 %r<12>;
  .reg .f32 %f<12>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [object];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;
  mov.u32 %r10, 1; mov.u32 %r11, 99;
  mov.f32 %f10, 0f3FC00000; // 1.5
  mov.f32 %f11, 0f3F000000; // 0.5
)" + body + R"(
  st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};
  ret;
}
)");
    std::array<std::uint32_t, 4>* out = nullptr;
    EXPECT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&out), sizeof *out, cudaMemAttachGlobal),
              cudaSuccess);
    void* arguments[] = {&object, &out};
    EXPECT_EQ(cudaLaunchKernel(module.kernel("form"), 1, 1, arguments, 0, nullptr), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << body;
    return *out;
  }

  float run_float(const std::string& body, std::uint64_t object) {
    return std::bit_cast<float>(run(body, object)[0]);
  }

  /// An array of 4 x 3 x 2 floats, which count from 0.
  cudaArray_t make_volume(unsigned flags) {
    const cudaChannelFormatDesc channels = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    cudaArray_t array = nullptr;
    EXPECT_EQ(cudaMalloc3DArray(&array, &channels, {4, 3, 2}, flags), cudaSuccess);
    std::vector<float> values(24);
    std::iota(values.begin(), values.end(), 0.0f);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = {values.data(), 16, 16, 3};
    copy.dstArray = array;
    copy.extent = {4, 3, 2};
    copy.kind = cudaMemcpyHostToDevice;
    EXPECT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
    return array;
  }

  std::uint64_t texture_of(cudaArray_t array) {
    const cudaResourceDesc resource = resource_of(array);
    const cudaTextureDesc desc{};
    cudaTextureObject_t texture = 0;
    EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &desc, nullptr), cudaSuccess);
    return texture;
  }
};

TEST_F(TextureFormTest, VolumesAndLayers) {
  const std::uint64_t volume = texture_of(make_volume(0));
  const std::uint64_t layers = texture_of(make_volume(cudaArrayLayered));
  // (1, 0, 1) of the volume; (1, 0) of layer 1, and of the last one where there is no layer 99.
  EXPECT_EQ(run_float("tex.3d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f10, %f11, %f10, %f10}];",
                      volume),
            13);
  EXPECT_EQ(run_float("tex.a2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%r10, %f10, %f11, %f11}];",
                      layers),
            13);
  EXPECT_EQ(run_float("tex.level.a2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, "
                      "[%rd1, {%r11, %f10, %f11, %f11}], %f10;",
                      layers),
            13);
  const auto sizes =
      run("txq.width.b32 %r1, [%rd1]; txq.height.b32 %r2, [%rd1]; txq.depth.b32 %r3, [%rd1]; "
          "txq.array_size.b32 %r4, [%rd1];",
          layers);
  EXPECT_EQ(sizes, (std::array<std::uint32_t, 4>{4, 3, 1, 2}));
}

TEST_F(TextureFormTest, CubemapsAreReadByADirection) {
  const auto make = [&](std::size_t slices, unsigned flags) {
    const cudaChannelFormatDesc channels = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    cudaArray_t array = nullptr;
    EXPECT_EQ(cudaMalloc3DArray(&array, &channels, {2, 2, slices}, flags), cudaSuccess);
    std::vector<float> values(4 * slices);
    std::iota(values.begin(), values.end(), 0.0f);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = {values.data(), 8, 8, 2};
    copy.dstArray = array;
    copy.extent = {2, 2, slices};
    copy.kind = cudaMemcpyHostToDevice;
    EXPECT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
    return array;
  };
  const std::uint64_t cube = texture_of(make(6, cudaArrayCubemap));
  const std::uint64_t layers = texture_of(make(12, cudaArrayCubemap | cudaArrayLayered));
  const auto number = [](float value) {
    char text[16];
    std::snprintf(text, sizeof text, "0f%08X", std::bit_cast<std::uint32_t>(value));
    return std::string(text);
  };
  // Worked out with the table of faces in the CUDA Programming Guide; a face has 2 x 2 texels.
  const struct {
    float x, y, z, texel;
  } directions[] = {{1, -0.5f, -0.5f, 3}, {-1, -0.5f, 0.5f, 7},  {-0.5f, 1, 0.5f, 10},
                    {0.5f, -1, 0.5f, 13}, {-0.5f, -0.5f, 1, 18}, {0.5f, 0.5f, -1, 20},
                    {30, -15, -15, 3}};
  for (const auto& [x, y, z, texel] : directions) {
    const std::string at = number(x) + ", " + number(y) + ", " + number(z);
    const std::string values = "{%r1, %r2, %r3, %r4}";
    EXPECT_EQ(run_float("tex.cube.v4.f32.f32 " + values + ", [%rd1, {" + at + ", %f10}];", cube),
              texel);
    EXPECT_EQ(run_float("tex.acube.v4.f32.f32 " + values + ", [%rd1, {%r10, " + at + "}];", layers),
              24 + texel);
  }
  cudaArray_t wrong = nullptr;
  const cudaChannelFormatDesc channels = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  EXPECT_EQ(cudaMalloc3DArray(&wrong, &channels, {2, 3, 6}, cudaArrayCubemap),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc3DArray(&wrong, &channels, {2, 2, 5}, cudaArrayCubemap),
            cudaErrorInvalidValue);
}

TEST_F(TextureFormTest, LinearMemoryIsFetchedAndZeroBesideIt) {
  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.desc = {16, 16, 0, 0, cudaChannelFormatKindSigned};
  linear.res.linear.sizeInBytes = 8;
  const std::int16_t values[] = {1, 2, -3, 4};
  ASSERT_EQ(cudaMalloc(&linear.res.linear.devPtr, 512), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(linear.res.linear.devPtr, values, 8, cudaMemcpyHostToDevice), cudaSuccess);
  const cudaTextureDesc desc{};
  cudaTextureObject_t texture = 0;
  ASSERT_EQ(cudaCreateTextureObject(&texture, &linear, &desc, nullptr), cudaSuccess);
  const auto fetch_at = [&](const std::string& coordinate) {
    return run("tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {" + coordinate + "}];", texture);
  };
  EXPECT_EQ(fetch_at("%r10"), (std::array<std::uint32_t, 4>{0xfffffffd, 4, 0, 0}));
  EXPECT_EQ(fetch_at("%r11"), (std::array<std::uint32_t, 4>{0, 0, 0, 0}));
}

TEST_F(TextureFormTest, PitchedMemoryIsFiltered) {
  cudaResourceDesc pitched{};
  pitched.resType = cudaResourceTypePitch2D;
  auto& plane = pitched.res.pitch2D;
  plane.desc = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
  plane.width = plane.height = 2;
  ASSERT_EQ(cudaMallocPitch(&plane.devPtr, &plane.pitchInBytes, 2, 2), cudaSuccess);
  const unsigned char values[] = {0, 51, 102, 255};
  ASSERT_EQ(cudaMemcpy2D(plane.devPtr, plane.pitchInBytes, values, 2, 2, 2, cudaMemcpyHostToDevice),
            cudaSuccess);
  cudaTextureDesc desc{};
  desc.readMode = cudaReadModeNormalizedFloat;
  desc.filterMode = cudaFilterModeLinear;
  desc.normalizedCoords = 1;
  cudaTextureObject_t texture = 0;
  ASSERT_EQ(cudaCreateTextureObject(&texture, &pitched, &desc, nullptr), cudaSuccess);
  EXPECT_FLOAT_EQ(
      run_float("tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f11, %f11}];", texture),
      (0 + 0.2f + 0.4f + 1) / 4);
}

TEST_F(TextureFormTest, GatherTakesOneChannel) {
  const cudaChannelFormatDesc channels = {32, 32, 0, 0, cudaChannelFormatKindUnsigned};
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &channels, 2, 2, cudaArrayTextureGather), cudaSuccess);
  const std::uint32_t values[] = {1, 10, 2, 20, 3, 30, 4, 40};
  ASSERT_EQ(cudaMemcpy2DToArray(array, 0, 0, values, 16, 16, 2, cudaMemcpyHostToDevice),
            cudaSuccess);
  const auto four =
      run("mov.f32 %f1, 0f3F800000; tld4.g.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f1, %f1}];",
          texture_of(array));
  EXPECT_EQ(four, (std::array<std::uint32_t, 4>{30, 40, 20, 10}));
}

TEST_F(TextureFormTest, SurfacesReadAndWriteBytes) {
  const cudaChannelFormatDesc channels = {8, 8, 8, 8, cudaChannelFormatKindUnsigned};
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &channels, 3, 2, cudaArraySurfaceLoadStore), cudaSuccess);
  std::vector<unsigned char> values(24);
  std::iota(values.begin(), values.end(), static_cast<unsigned char>(0));
  ASSERT_EQ(cudaMemcpy2DToArray(array, 0, 0, values.data(), 12, 12, 2, cudaMemcpyHostToDevice),
            cudaSuccess);
  const cudaResourceDesc resource = resource_of(array);
  cudaSurfaceObject_t surface = 0;
  ASSERT_EQ(cudaCreateSurfaceObject(&surface, &resource), cudaSuccess);
  const std::string convert =
      "cvt.u32.u16 %r1, %h1; cvt.u32.u16 %r2, %h2; cvt.u32.u16 %r3, %h3; cvt.u32.u16 %r4, %h4;";
  const auto load = [&](const std::string& outside, const std::string& x) {
    return run("suld.b.2d.v4.b8." + outside + " {%h1, %h2, %h3, %h4}, [%rd1, {" + x + ", %r10}]; " +
                   convert,
               surface);
  };
  EXPECT_EQ(load("trap", "4"), (std::array<std::uint32_t, 4>{16, 17, 18, 19}));
  EXPECT_EQ(load("zero", "12"), (std::array<std::uint32_t, 4>{0, 0, 0, 0}));
  EXPECT_EQ(load("clamp", "12"), (std::array<std::uint32_t, 4>{20, 21, 22, 23}));
  EXPECT_EQ(load("clamp", "-4"), (std::array<std::uint32_t, 4>{12, 13, 14, 15}));
  const auto sizes = run("suq.width.b32 %r1, [%rd1]; suq.height.b32 %r2, [%rd1];", surface);
  EXPECT_EQ(sizes[0], 3u);
  EXPECT_EQ(sizes[1], 2u);

  run("mov.u16 %h1, 200; sust.b.2d.b8.zero [%rd1, {7, %r10}], {%h1}; "
      "sust.b.2d.b32.clamp [%rd1, {400, %r11}], {%r11};",
      surface);
  ASSERT_EQ(cudaMemcpy2DFromArray(values.data(), 12, array, 0, 0, 12, 2, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(values[12 + 7], 200);
  EXPECT_EQ(values[12 + 8], 99) << "clamped to the last element";
  EXPECT_EQ(values[12 + 9], 0);
}

TEST_F(TextureFormTest, LayersOfSurfaces) {
  cudaArray_t array = make_volume(cudaArrayLayered | cudaArraySurfaceLoadStore);
  const cudaResourceDesc resource = resource_of(array);
  cudaSurfaceObject_t surface = 0;
  ASSERT_EQ(cudaCreateSurfaceObject(&surface, &resource), cudaSuccess);
  EXPECT_EQ(run_float("suld.b.a2d.b32.trap {%r1}, [%rd1, {%r10, 8, %r10, %r10}];", surface),
            12 + 4 + 2);
}

TEST_F(TextureKernelTest, ObjectsThatMakeNoSenseAreRefused) {
  cudaArray_t array = make_array(0, cudaChannelFormatKindSigned);
  const cudaResourceDesc resource = resource_of(array);
  cudaTextureDesc desc{};
  cudaTextureObject_t texture = 0;
  desc.filterMode = cudaFilterModeLinear;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &desc, nullptr),
            cudaErrorInvalidFilterSetting);
  desc.readMode = cudaReadModeNormalizedFloat;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &desc, nullptr),
            cudaErrorInvalidNormSetting);
  cudaSurfaceObject_t surface = 0;
  EXPECT_EQ(cudaCreateSurfaceObject(&surface, &resource), cudaErrorInvalidValue)
      << "the array was not made for surfaces";
  EXPECT_EQ(cudaDestroyTextureObject(12345), cudaErrorInvalidValue);

  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.desc = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  linear.res.linear.sizeInBytes = 512;
  desc = {};
  ASSERT_EQ(cudaMalloc(&linear.res.linear.devPtr, 256), cudaSuccess);
  EXPECT_EQ(cudaCreateTextureObject(&texture, &linear, &desc, nullptr), cudaErrorInvalidValue)
      << "longer than the memory";
}

}  // namespace
}  // namespace warpgauge::emulator::runtime::runtime_texture_test
