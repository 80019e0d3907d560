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
.visible .entry write(.param .u64 surface, .param .u32 shift)
{
  .reg .b32 %shift, %lane, %byte, %value, %row;
  .reg .b64 %surface;
  ld.param.u64 %surface, [surface];
  ld.param.u32 %shift, [shift];
  mov.u32 %lane, %tid.x;
  mad.lo.s32 %byte, %lane, 4, %shift;
  mul.lo.s32 %value, %lane, 3;
  mov.u32 %row, 0;
  sust.b.2d.b32.trap [%surface, {%byte, %row}], {%value};
  ret;
}
)";

constexpr cudaChannelFormatDesc kFloat = {32, 0, 0, 0, cudaChannelFormatKindFloat};
constexpr cudaChannelFormatDesc kInt = {32, 0, 0, 0, cudaChannelFormatKindSigned};

/// Makes resources, and textures and surfaces of them.
class TextureTest : public RuntimeTest {
 protected:
  static cudaArray_t make_array(const cudaChannelFormatDesc& channels, std::size_t width,
                                std::size_t height, unsigned flags) {
    cudaArray_t array = nullptr;
    EXPECT_EQ(cudaMallocArray(&array, &channels, width, height, flags), cudaSuccess);
    return array;
  }

  static cudaResourceDesc resource_of(cudaArray_t array) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
  }
  /// A resource of `bytes` over linear memory, of which `allocated` bytes are there.
  static cudaResourceDesc linear_memory(const cudaChannelFormatDesc& channels, std::size_t bytes,
                                        std::size_t allocated) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.desc = channels;
    resource.res.linear.sizeInBytes = bytes;
    EXPECT_EQ(cudaMalloc(&resource.res.linear.devPtr, allocated), cudaSuccess);
    return resource;
  }

  static cudaTextureObject_t texture_of(const cudaResourceDesc& resource,
                                        const cudaTextureDesc& desc = {}) {
    cudaTextureObject_t texture = 0;
    EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &desc, nullptr), cudaSuccess);
    return texture;
  }
  static cudaSurfaceObject_t surface_of(cudaArray_t array) {
    const cudaResourceDesc resource = resource_of(array);
    cudaSurfaceObject_t surface = 0;
    EXPECT_EQ(cudaCreateSurfaceObject(&surface, &resource), cudaSuccess);
    return surface;
  }
};

class TextureKernelTest : public TextureTest {
 protected:
  /// Launches a kernel of the module with one block.
  void launch(const char* kernel, unsigned threads, std::vector<void*> arguments) {
    EXPECT_EQ(cudaLaunchKernel(module_.kernel(kernel), 1, threads, arguments.data(), 0, nullptr),
              cudaSuccess);
  }

  TestModule module_{kPtx};
};

TEST_F(TextureKernelTest, TexReadsAnArray) {
  const std::vector<float> row = {0, 10, 20, 30, 40, 50, 60, 70};
  cudaArray_t array = make_array(kFloat, 8, 2, 0);
  ASSERT_EQ(cudaMemcpy2DToArray(array, 0, 0, row.data(), 32, 32, 1, cudaMemcpyHostToDevice),
            cudaSuccess);
  cudaTextureDesc desc{};
  desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
  desc.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture = texture_of(resource_of(array), desc);

  float* out = nullptr;
  ASSERT_EQ(
      cudaMallocManaged(reinterpret_cast<void**>(&out), 9 * sizeof(float), cudaMemAttachGlobal),
      cudaSuccess);
  launch("read", 9, {&texture, &out});
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0], 0);
  for (int i = 1; i < 8; ++i) EXPECT_EQ(out[i], i * 10.0f - 5);
  EXPECT_EQ(out[8], 70);

  ASSERT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  launch("read", 1, {&texture, &out});
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure) << "the object is no more";
}

TEST_F(TextureKernelTest, LinearMemoryHasNoCoordinates) {
  cudaTextureObject_t texture = texture_of(linear_memory(kFloat, 256, 256));
  void* out = nullptr;
  ASSERT_EQ(cudaMalloc(&out, 256), cudaSuccess);
  launch("read", 8, {&texture, &out});
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_THAT(fault_text(), testing::HasSubstr(
                                "the texture lies over linear memory, which only tex1Dfetch reads, "
                                "by an index; a coordinate needs an array"));
}

TEST_F(TextureKernelTest, SustWritesASurfaceAndTrapsBesideIt) {
  cudaArray_t array = make_array(kInt, 8, 2, cudaArraySurfaceLoadStore);
  cudaSurfaceObject_t surface = surface_of(array);
  int shift = 0;
  launch("write", 8, {&surface, &shift});
  std::vector<int> row(8);
  ASSERT_EQ(cudaMemcpy2DFromArray(row.data(), 32, array, 0, 0, 32, 1, cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(row[i], i * 3);

  shift = 4;
  launch("write", 8, {&surface, &shift});
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

/// What a form leaves in %r1 to %r4.
using Results = std::array<std::uint32_t, 4>;

// All forms of the instructions, by one thread.
class TextureFormTest : public TextureTest {
 protected:
  /// What `body` leaves in %r1 to %r4. It has the texture or the surface in %object, bytes in %h1
  /// to %h4, and numbers in registers of their names: %i1, %i99, %f0_5, %f1 and %f1_5.
  Results run(const std::string& body, std::uint64_t object) {
    TestModule module(kPtxHead + R"(
.visible .entry form(.param .u64 object, .param .u64 out)
{
  .reg .b16 %h<5>;
  .reg .b32 %r<5>;
  .reg .b32 %i1, %i99;
  .reg .f32 %f0_5, %f1, %f1_5;
  .reg .b64 %object, %out;
  ld.param.u64 %object, [object];
  ld.param.u64 %out, [out];
  mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;
  mov.u32 %i1, 1;
  mov.u32 %i99, 99;
  mov.f32 %f0_5, 0f3F000000;
  mov.f32 %f1, 0f3F800000;
  mov.f32 %f1_5, 0f3FC00000;
)" + body + R"(
  st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};
  ret;
}
)");
    Results* out = nullptr;
    EXPECT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&out), sizeof *out, cudaMemAttachGlobal),
              cudaSuccess);
    void* arguments[] = {&object, &out};
    EXPECT_EQ(cudaLaunchKernel(module.kernel("form"), 1, 1, arguments, 0, nullptr), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << body;
    return *out;
  }

  /// The results of `form`, an instruction that reads a texture at `coordinates`. `rest` has what
  /// follows them, from its comma on.
  Results tex(const std::string& form, const std::string& coordinates, std::uint64_t object,
              const std::string& rest = "") {
    return run(form + " {%r1, %r2, %r3, %r4}, [%object, {" + coordinates + "}]" + rest + ";",
               object);
  }
  /// The first of them, which is a float.
  float tex_float(const std::string& form, const std::string& coordinates, std::uint64_t object,
                  const std::string& rest = "") {
    return std::bit_cast<float>(tex(form, coordinates, object, rest)[0]);
  }

  /// An array of floats, which count from 0.
  static cudaArray_t make_counted(const cudaExtent& extent, unsigned flags) {
    cudaArray_t array = nullptr;
    EXPECT_EQ(cudaMalloc3DArray(&array, &kFloat, extent, flags), cudaSuccess);
    std::vector<float> values(extent.width * extent.height * extent.depth);
    std::iota(values.begin(), values.end(), 0.0f);
    const std::size_t row = extent.width * sizeof(float);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = {values.data(), row, row, extent.height};
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    EXPECT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
    return array;
  }
  static cudaArray_t make_volume(unsigned flags) { return make_counted({4, 3, 2}, flags); }
};

TEST_F(TextureFormTest, VolumesAndLayers) {
  const std::uint64_t volume = texture_of(resource_of(make_volume(0)));
  const std::uint64_t layers = texture_of(resource_of(make_volume(cudaArrayLayered)));
  // (1, 0, 1) of the volume; (1, 0) of layer 1, and of the last one where there is no layer 99.
  EXPECT_EQ(tex_float("tex.3d.v4.f32.f32", "%f1_5, %f0_5, %f1_5, %f1_5", volume), 13);
  EXPECT_EQ(tex_float("tex.a2d.v4.f32.f32", "%i1, %f1_5, %f0_5, %f0_5", layers), 13);
  EXPECT_EQ(tex_float("tex.level.a2d.v4.f32.f32", "%i99, %f1_5, %f0_5, %f0_5", layers, ", %f1_5"),
            13);
  const auto sizes = run(
      "txq.width.b32 %r1, [%object]; txq.height.b32 %r2, [%object]; txq.depth.b32 %r3, [%object]; "
      "txq.array_size.b32 %r4, [%object];",
      layers);
  EXPECT_EQ(sizes, (Results{4, 3, 1, 2}));
}

TEST_F(TextureFormTest, CubemapsAreReadByADirection) {
  const std::uint64_t cube = texture_of(resource_of(make_counted({2, 2, 6}, cudaArrayCubemap)));
  const std::uint64_t layers =
      texture_of(resource_of(make_counted({2, 2, 12}, cudaArrayCubemap | cudaArrayLayered)));
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
    EXPECT_EQ(tex_float("tex.cube.v4.f32.f32", at + ", %f1_5", cube), texel);
    EXPECT_EQ(tex_float("tex.acube.v4.f32.f32", "%i1, " + at, layers), 24 + texel);
  }
  cudaArray_t wrong = nullptr;
  EXPECT_EQ(cudaMalloc3DArray(&wrong, &kFloat, {2, 3, 6}, cudaArrayCubemap), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc3DArray(&wrong, &kFloat, {2, 2, 5}, cudaArrayCubemap), cudaErrorInvalidValue);
}

TEST_F(TextureFormTest, LinearMemoryIsFetchedAndZeroBesideIt) {
  const cudaResourceDesc linear =
      linear_memory({16, 16, 0, 0, cudaChannelFormatKindSigned}, 8, 512);
  const std::int16_t values[] = {1, 2, -3, 4};
  ASSERT_EQ(cudaMemcpy(linear.res.linear.devPtr, values, 8, cudaMemcpyHostToDevice), cudaSuccess);
  const cudaTextureObject_t texture = texture_of(linear);
  EXPECT_EQ(tex("tex.1d.v4.s32.s32", "%i1", texture), (Results{0xfffffffd, 4, 0, 0}));
  EXPECT_EQ(tex("tex.1d.v4.s32.s32", "%i99", texture), (Results{0, 0, 0, 0}));
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
  const cudaTextureObject_t texture = texture_of(pitched, desc);
  EXPECT_FLOAT_EQ(tex_float("tex.2d.v4.f32.f32", "%f0_5, %f0_5", texture),
                  (0 + 0.2f + 0.4f + 1) / 4);
}

TEST_F(TextureFormTest, GatherTakesOneChannel) {
  cudaArray_t array =
      make_array({32, 32, 0, 0, cudaChannelFormatKindUnsigned}, 2, 2, cudaArrayTextureGather);
  const std::uint32_t values[] = {1, 10, 2, 20, 3, 30, 4, 40};
  ASSERT_EQ(cudaMemcpy2DToArray(array, 0, 0, values, 16, 16, 2, cudaMemcpyHostToDevice),
            cudaSuccess);
  const auto four = tex("tld4.g.2d.v4.u32.f32", "%f1, %f1", texture_of(resource_of(array)));
  EXPECT_EQ(four, (Results{30, 40, 20, 10}));
}

TEST_F(TextureFormTest, SurfacesReadAndWriteBytes) {
  cudaArray_t array =
      make_array({8, 8, 8, 8, cudaChannelFormatKindUnsigned}, 3, 2, cudaArraySurfaceLoadStore);
  std::vector<unsigned char> values(24);
  std::iota(values.begin(), values.end(), static_cast<unsigned char>(0));
  ASSERT_EQ(cudaMemcpy2DToArray(array, 0, 0, values.data(), 12, 12, 2, cudaMemcpyHostToDevice),
            cudaSuccess);
  const cudaSurfaceObject_t surface = surface_of(array);
  const std::string convert =
      "cvt.u32.u16 %r1, %h1; cvt.u32.u16 %r2, %h2; cvt.u32.u16 %r3, %h3; cvt.u32.u16 %r4, %h4;";
  const auto load = [&](const std::string& outside, const std::string& x) {
    return run("suld.b.2d.v4.b8." + outside + " {%h1, %h2, %h3, %h4}, [%object, {" + x +
                   ", %i1}]; " + convert,
               surface);
  };
  EXPECT_EQ(load("trap", "4"), (Results{16, 17, 18, 19}));
  EXPECT_EQ(load("zero", "12"), (Results{0, 0, 0, 0}));
  EXPECT_EQ(load("clamp", "12"), (Results{20, 21, 22, 23}));
  EXPECT_EQ(load("clamp", "-4"), (Results{12, 13, 14, 15}));
  const auto sizes = run("suq.width.b32 %r1, [%object]; suq.height.b32 %r2, [%object];", surface);
  EXPECT_EQ(sizes[0], 3u);
  EXPECT_EQ(sizes[1], 2u);

  run("mov.u16 %h1, 200; sust.b.2d.b8.zero [%object, {7, %i1}], {%h1}; "
      "sust.b.2d.b32.clamp [%object, {400, %i99}], {%i99};",
      surface);
  ASSERT_EQ(cudaMemcpy2DFromArray(values.data(), 12, array, 0, 0, 12, 2, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(values[12 + 7], 200);
  EXPECT_EQ(values[12 + 8], 99) << "clamped to the last element";
  EXPECT_EQ(values[12 + 9], 0);
}

TEST_F(TextureFormTest, LayersOfSurfaces) {
  const cudaSurfaceObject_t surface =
      surface_of(make_volume(cudaArrayLayered | cudaArraySurfaceLoadStore));
  const auto texel = run("suld.b.a2d.b32.trap {%r1}, [%object, {%i1, 8, %i1, %i1}];", surface);
  EXPECT_EQ(std::bit_cast<float>(texel[0]), 12 + 4 + 2);
}

TEST_F(TextureTest, ObjectsThatMakeNoSenseAreRefused) {
  const cudaResourceDesc resource = resource_of(make_array(kInt, 8, 2, 0));
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

  const cudaResourceDesc linear = linear_memory(kFloat, 512, 256);
  desc = {};
  EXPECT_EQ(cudaCreateTextureObject(&texture, &linear, &desc, nullptr), cudaErrorInvalidValue)
      << "longer than the memory";
}

}  // namespace
}  // namespace warpgauge::emulator::runtime::runtime_texture_test
