// Functions of the CUDA runtime that make and describe arrays.
#include "harness/emulator/runtime/arrays.h"

#include <array>
#include <memory>
#include <string>

#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/runtime/allocation_checks.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/device_properties.h"

namespace warpgauge::emulator::runtime {
namespace {

constexpr unsigned kKnownFlags =
    cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather | cudaArrayCubemap;

using Extents = std::array<int, 3>;
struct Limits {
  Extents texture, surface;
};

/// The largest extents of such an array, as cudaMalloc3DArray documents them.
Limits limits_of(const cudaDeviceProp& p, const cudaExtent& extent, unsigned flags) {
  const bool flat = extent.height == 0;
  if ((flags & cudaArrayCubemap) != 0) {
    const bool layered = (flags & cudaArrayLayered) != 0;
    const auto &texture = p.maxTextureCubemapLayered, &surface = p.maxSurfaceCubemapLayered;
    return {{texture[0], texture[0], layered ? texture[1] : 6},
            {surface[0], surface[0], layered ? surface[1] : 6}};
  }
  if ((flags & cudaArrayLayered) != 0) {
    if (!flat) return {std::to_array(p.maxTexture2DLayered), std::to_array(p.maxSurface2DLayered)};
    const auto &texture = p.maxTexture1DLayered, &surface = p.maxSurface1DLayered;
    return {{texture[0], 0, texture[1]}, {surface[0], 0, surface[1]}};
  }
  if (extent.depth > 0) {
    const bool deep = extent.depth > static_cast<std::size_t>(p.maxTexture3D[2]);
    return {std::to_array(deep ? p.maxTexture3DAlt : p.maxTexture3D),
            std::to_array(p.maxSurface3D)};
  }
  if (flat) return {{p.maxTexture1D, 0, 0}, {p.maxSurface1D, 0, 0}};
  const bool gather = (flags & cudaArrayTextureGather) != 0;
  const auto& texture = gather ? p.maxTexture2DGather : p.maxTexture2D;
  return {{texture[0], texture[1], 0}, {p.maxSurface2D[0], p.maxSurface2D[1], 0}};
}

bool fits(const cudaExtent& extent, const Extents& most) {
  return extent.width <= static_cast<std::size_t>(most[0]) &&
         extent.height <= static_cast<std::size_t>(most[1]) &&
         extent.depth <= static_cast<std::size_t>(most[2]);
}

void allocate(State& state, cudaArray_t* array, const cudaChannelFormatDesc* channels,
              cudaExtent extent, unsigned flags) {
  require(array != nullptr && channels != nullptr && extent.width > 0);
  require(is_supported(*channels), cudaErrorInvalidChannelDescriptor);
  if ((flags & ~kKnownFlags) != 0) {
    throw Failure{cudaErrorNotSupported, "sparse arrays are not emulated"};
  }
  const bool layered = (flags & cudaArrayLayered) != 0;
  require(extent.depth == 0 || extent.height > 0 || layered);
  require(!layered || extent.depth > 0);
  const bool cubemap = (flags & cudaArrayCubemap) != 0;
  require(!cubemap || (extent.width == extent.height && extent.depth > 0 && extent.depth % 6 == 0));
  const bool surface = (flags & cudaArraySurfaceLoadStore) != 0;
  const Limits limits = limits_of(properties_of(state.arch(), state.limits()), extent, flags);
  require(fits(extent, limits.texture) && (!surface || fits(extent, limits.surface)));

  Device& device = state.device();
  auto made = std::make_unique<Array>();
  made->channels = *channels;
  made->extent = extent;
  made->flags = flags;
  made->data = device.machine.memory().allocate(
      made->slice_bytes() * made->slices(), machine::memory::Memory::Kind::array,
      "CUDA array #" + std::to_string(++device.allocations));
  require(made->data != nullptr, cudaErrorMemoryAllocation);
  if (surface) {
    made->writes = std::make_unique<machine::memory::SurfaceWrites>(
        made->data, made->slice_bytes() * made->slices());
  }
  *array = reinterpret_cast<cudaArray_t>(made.get());
  device.arrays.emplace(made.get(), std::move(made));
}

}  // namespace

Array& array_of(State& state, cudaArray_const_t array) {
  const auto found = state.device().arrays.find(array);
  require(found != state.device().arrays.end(), cudaErrorInvalidResourceHandle);
  return *found->second;
}

bool is_supported(const cudaChannelFormatDesc& channels) {
  const int bits = channels.x;
  if (bits != 8 && bits != 16 && bits != 32) return false;
  const bool two = channels.y == bits, four = two && channels.z == bits && channels.w == bits;
  const bool alike = four || ((two || channels.y == 0) && channels.z == 0 && channels.w == 0);
  switch (channels.f) {
    case cudaChannelFormatKindSigned:
    case cudaChannelFormatKindUnsigned:
      return alike;
    case cudaChannelFormatKindFloat:
      return alike && bits >= 16;
    default:
      return false;
  }
}

WARPGAUGE_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                          cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

WARPGAUGE_API cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                                          std::size_t width, std::size_t height, unsigned flags) {
  return call(__func__, [&](State& state) {
    require((flags & cudaArrayLayered) == 0);
    allocate(state, array, channels, {width, height, 0}, flags);
  });
}

WARPGAUGE_API cudaError_t cudaMalloc3DArray(cudaArray_t* array,
                                            const cudaChannelFormatDesc* channels,
                                            cudaExtent extent, unsigned flags) {
  return call(__func__, [&](State& state) { allocate(state, array, channels, extent, flags); });
}

WARPGAUGE_API cudaError_t cudaFreeArray(cudaArray_t array) {
  return call(__func__, [&](State& state) {
    if (array == nullptr) return;
    if (!state.device().arrays.contains(array)) find_wrong_free(state, "cudaFreeArray", array);
    state.memory().free(array_of(state, array).data);
    state.device().arrays.erase(array);
  });
}

WARPGAUGE_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channels, cudaExtent* extent,
                                           unsigned* flags, cudaArray_t array) {
  return call(__func__, [&](State& state) {
    const Array& found = array_of(state, array);
    if (channels != nullptr) *channels = found.channels;
    if (extent != nullptr) *extent = found.extent;
    if (flags != nullptr) *flags = found.flags;
  });
}

WARPGAUGE_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channels,
                                             cudaArray_const_t array) {
  return call(__func__, [&](State& state) {
    require(channels != nullptr);
    *channels = array_of(state, array).channels;
  });
}

}  // namespace warpgauge::emulator::runtime
