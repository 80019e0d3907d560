// Texture and surface objects.
#include <algorithm>

#include "harness/emulator/driver/arrays.h"
#include "harness/emulator/driver/call.h"

namespace warpgauge::emulator::driver {
namespace {

using runtime::Failure;
using runtime::require;
using runtime::State;

cudaResourceDesc resource_of(const CUDA_RESOURCE_DESC& given) {
  cudaResourceDesc out{};
  out.resType = static_cast<cudaResourceType>(given.resType);  // both have the same numbers
  switch (given.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      out.res.array.array = array_of(given.res.array.hArray);
      break;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = given.res.linear;
      out.res.linear.devPtr = pointer(linear.devPtr);
      out.res.linear.desc = channels_of(linear.format, linear.numChannels);
      out.res.linear.sizeInBytes = linear.sizeInBytes;
      break;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& pitched = given.res.pitch2D;
      out.res.pitch2D.devPtr = pointer(pitched.devPtr);
      out.res.pitch2D.desc = channels_of(pitched.format, pitched.numChannels);
      out.res.pitch2D.width = pitched.width;
      out.res.pitch2D.height = pitched.height;
      out.res.pitch2D.pitchInBytes = pitched.pitchInBytes;
      break;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      throw Failure{cudaErrorNotSupported, "mipmapped arrays are not emulated"};
    default:
      throw Failure{cudaErrorInvalidValue};
  }
  return out;
}

CUDA_RESOURCE_DESC resource_of(const cudaResourceDesc& given) {
  CUDA_RESOURCE_DESC out{};
  out.resType = static_cast<CUresourcetype>(given.resType);
  if (given.resType == cudaResourceTypeArray) {
    out.res.array.hArray = array_of(given.res.array.array);
  } else if (given.resType == cudaResourceTypeLinear) {
    const auto& linear = given.res.linear;
    const auto [format, channels] = format_of(linear.desc);
    out.res.linear = {reinterpret_cast<CUdeviceptr>(linear.devPtr), format, channels,
                      linear.sizeInBytes};
  } else {
    const auto& pitched = given.res.pitch2D;
    const auto [format, channels] = format_of(pitched.desc);
    out.res.pitch2D = {reinterpret_cast<CUdeviceptr>(pitched.devPtr),
                       format,
                       channels,
                       pitched.width,
                       pitched.height,
                       pitched.pitchInBytes};
  }
  return out;
}

cudaTextureDesc texture_of(const CUDA_TEXTURE_DESC& given) {
  cudaTextureDesc out{};
  for (int axis = 0; axis < 3; ++axis) {  // both have the same numbers
    out.addressMode[axis] = static_cast<cudaTextureAddressMode>(given.addressMode[axis]);
  }
  const auto has = [&](unsigned flag) { return (given.flags & flag) != 0 ? 1 : 0; };
  out.filterMode = static_cast<cudaTextureFilterMode>(given.filterMode);
  out.readMode =
      has(CU_TRSF_READ_AS_INTEGER) != 0 ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  out.sRGB = has(CU_TRSF_SRGB);
  out.normalizedCoords = has(CU_TRSF_NORMALIZED_COORDINATES);
  out.disableTrilinearOptimization = has(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  out.seamlessCubemap = has(CU_TRSF_SEAMLESS_CUBEMAP);
  out.maxAnisotropy = given.maxAnisotropy;
  out.mipmapFilterMode = static_cast<cudaTextureFilterMode>(given.mipmapFilterMode);
  out.mipmapLevelBias = given.mipmapLevelBias;
  out.minMipmapLevelClamp = given.minMipmapLevelClamp;
  out.maxMipmapLevelClamp = given.maxMipmapLevelClamp;
  std::ranges::copy(given.borderColor, out.borderColor);
  return out;
}

CUDA_TEXTURE_DESC texture_of(const cudaTextureDesc& given) {
  CUDA_TEXTURE_DESC out{};
  for (int axis = 0; axis < 3; ++axis) {
    out.addressMode[axis] = static_cast<CUaddress_mode>(given.addressMode[axis]);
  }
  const auto flag = [](bool is_set, unsigned value) { return is_set ? value : 0U; };
  out.filterMode = static_cast<CUfilter_mode>(given.filterMode);
  out.flags =
      flag(given.readMode == cudaReadModeElementType, CU_TRSF_READ_AS_INTEGER) |
      flag(given.sRGB != 0, CU_TRSF_SRGB) |
      flag(given.normalizedCoords != 0, CU_TRSF_NORMALIZED_COORDINATES) |
      flag(given.disableTrilinearOptimization != 0, CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) |
      flag(given.seamlessCubemap != 0, CU_TRSF_SEAMLESS_CUBEMAP);
  out.maxAnisotropy = given.maxAnisotropy;
  out.mipmapFilterMode = static_cast<CUfilter_mode>(given.mipmapFilterMode);
  out.mipmapLevelBias = given.mipmapLevelBias;
  out.minMipmapLevelClamp = given.minMipmapLevelClamp;
  out.maxMipmapLevelClamp = given.maxMipmapLevelClamp;
  std::ranges::copy(given.borderColor, out.borderColor);
  return out;
}

/// The driver reads integers of 32 bits as they are, with and without CU_TRSF_READ_AS_INTEGER.
bool has_wide_integers(const cudaResourceDesc& resource) {
  cudaChannelFormatDesc channels = resource.resType == cudaResourceTypeLinear
                                       ? resource.res.linear.desc
                                       : resource.res.pitch2D.desc;
  if (resource.resType == cudaResourceTypeArray &&
      cudaGetChannelDesc(&channels, resource.res.array.array) != cudaSuccess) {
    return false;
  }
  return channels.x == 32 && channels.f != cudaChannelFormatKindFloat;
}

/// Calls `make` with the runtime's description of a resource.
template <typename Make>
CUresult made_of(const char* name, const CUDA_RESOURCE_DESC* given, Make make) {
  return call(name, [&] {
    cudaResourceDesc resource{};
    const auto error = runtime::call(name, [&](State&) {
      require(given != nullptr);
      resource = resource_of(*given);
    });
    return error == cudaSuccess ? make(resource) : error;
  });
}

/// Gives what `get` gets of the runtime, in the driver's words.
template <typename Description, typename Out, typename Get, typename Convert>
CUresult given_back(const char* name, Out* out, Get get, Convert convert) {
  return call(name, [&] {
    Description found{};
    const auto error = get(out == nullptr ? nullptr : &found);
    if (error == cudaSuccess) *out = convert(found);
    return error;
  });
}

}  // namespace

WARPGAUGE_API CUresult cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource,
                                         const CUDA_TEXTURE_DESC* desc,
                                         const CUDA_RESOURCE_VIEW_DESC* view) {
  return made_of("cuTexObjectCreate", resource, [&](const cudaResourceDesc& same) {
    cudaResourceViewDesc same_view{};
    if (view != nullptr) {  // the runtime refuses all others
      same_view.format = static_cast<cudaResourceViewFormat>(view->format);
    }
    cudaTextureDesc same_desc = desc == nullptr ? cudaTextureDesc{} : texture_of(*desc);
    if (has_wide_integers(same)) same_desc.readMode = cudaReadModeElementType;
    return cudaCreateTextureObject(texture, &same, desc == nullptr ? nullptr : &same_desc,
                                   &same_view);
  });
}

WARPGAUGE_API CUresult cuTexObjectDestroy(CUtexObject texture) {
  return call("cuTexObjectDestroy", [&] { return cudaDestroyTextureObject(texture); });
}

WARPGAUGE_API CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUtexObject texture) {
  return given_back<cudaResourceDesc>(
      "cuTexObjectGetResourceDesc", out,
      [&](cudaResourceDesc* found) { return cudaGetTextureObjectResourceDesc(found, texture); },
      [](const cudaResourceDesc& found) { return resource_of(found); });
}

WARPGAUGE_API CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* out, CUtexObject texture) {
  return given_back<cudaTextureDesc>(
      "cuTexObjectGetTextureDesc", out,
      [&](cudaTextureDesc* found) { return cudaGetTextureObjectTextureDesc(found, texture); },
      [](const cudaTextureDesc& found) { return texture_of(found); });
}

WARPGAUGE_API CUresult cuSurfObjectCreate(CUsurfObject* surface,
                                          const CUDA_RESOURCE_DESC* resource) {
  return made_of("cuSurfObjectCreate", resource, [&](const cudaResourceDesc& same) {
    return cudaCreateSurfaceObject(surface, &same);
  });
}

WARPGAUGE_API CUresult cuSurfObjectDestroy(CUsurfObject surface) {
  return call("cuSurfObjectDestroy", [&] { return cudaDestroySurfaceObject(surface); });
}

WARPGAUGE_API CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUsurfObject surface) {
  return given_back<cudaResourceDesc>(
      "cuSurfObjectGetResourceDesc", out,
      [&](cudaResourceDesc* found) { return cudaGetSurfaceObjectResourceDesc(found, surface); },
      [](const cudaResourceDesc& found) { return resource_of(found); });
}

}  // namespace warpgauge::emulator::driver
