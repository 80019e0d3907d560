// Texture and surface objects, made of arrays, linear and pitched memory.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "harness/emulator/machine/memory/texture.h"
#include "harness/emulator/runtime/arrays.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/copy.h"
#include "harness/emulator/runtime/device_properties.h"

namespace warpgauge::emulator::runtime {
namespace {

using machine::memory::Surface;
using machine::memory::Surfaces;
using machine::memory::Texels;
using machine::memory::Texture;
using machine::memory::Textures;

void set_format(machine::memory::Texels& texels, const cudaChannelFormatDesc& channels) {
  require(is_supported(channels), cudaErrorInvalidChannelDescriptor);
  texels.channels = channels.w != 0 ? 4 : (channels.y != 0 ? 2 : 1);
  texels.bits = channels.x;
  switch (channels.f) {
    case cudaChannelFormatKindSigned:
      texels.kind = machine::memory::Texels::Kind::signed_integer;
      break;
    case cudaChannelFormatKindUnsigned:
      texels.kind = machine::memory::Texels::Kind::unsigned_integer;
      break;
    default:
      texels.kind = machine::memory::Texels::Kind::real;
  }
}

machine::memory::Texels texels_of_array(State& state, cudaArray_t handle) {
  const Array& array = array_of(state, handle);
  machine::memory::Texels out;
  set_format(out, array.channels);
  out.data = array.data;
  out.writes = array.writes.get();
  out.width = array.extent.width;
  out.height = array.rows();
  out.depth = array.slices();
  out.pitch = array.pitch();
  out.slice = array.slice_bytes();
  out.layered = (array.flags & cudaArrayLayered) != 0;
  const bool flat = array.extent.height == 0;
  out.cubemap = (array.flags & cudaArrayCubemap) != 0;
  out.dimensions = flat ? 1 : (array.extent.depth == 0 || out.layered || out.cubemap ? 2 : 3);
  return out;
}

void require_memory(State& state, const void* memory, const Size& size, std::size_t pitch) {
  const Box box{static_cast<std::byte*>(const_cast<void*>(memory)), pitch, 0};
  require(reinterpret_cast<std::uintptr_t>(memory) % kTextureAlignment == 0);
  check_end(state, {box, Side::device}, size, "memory of the texture");
}

machine::memory::Texels texels_of_linear(State& state, const cudaResourceDesc& resource) {
  const auto& linear = resource.res.linear;
  machine::memory::Texels out;
  set_format(out, linear.desc);
  out.data = static_cast<const std::byte*>(linear.devPtr);
  out.width = linear.sizeInBytes / out.texel_bytes();
  require(out.width > 0 && out.width <= static_cast<std::uint64_t>(kMaxTexture1dLinear));
  require_memory(state, linear.devPtr, {linear.sizeInBytes, 1, 1}, 0);
  return out;
}

machine::memory::Texels texels_of_pitched(State& state, const cudaResourceDesc& resource) {
  const auto& pitched = resource.res.pitch2D;
  machine::memory::Texels out;
  set_format(out, pitched.desc);
  out.data = static_cast<const std::byte*>(pitched.devPtr);
  out.dimensions = 2;
  out.width = pitched.width;
  out.height = pitched.height;
  out.pitch = pitched.pitchInBytes;
  require(out.width > 0 && out.height > 0);
  require(out.pitch % kTexturePitchAlignment == 0 && out.pitch >= out.width * out.texel_bytes());
  require_memory(state, pitched.devPtr, {out.width * out.texel_bytes(), out.height, 1}, out.pitch);
  return out;
}

machine::memory::Texels texels_of(State& state, const cudaResourceDesc& resource) {
  switch (resource.resType) {
    case cudaResourceTypeArray:
      return texels_of_array(state, resource.res.array.array);
    case cudaResourceTypeLinear:
      return texels_of_linear(state, resource);
    case cudaResourceTypePitch2D:
      return texels_of_pitched(state, resource);
    case cudaResourceTypeMipmappedArray:
      throw Failure{cudaErrorNotSupported, "mipmapped arrays are not emulated"};
  }
  throw Failure{cudaErrorInvalidValue};
}

machine::memory::Texture::Address address_mode(cudaTextureAddressMode mode, bool normalised) {
  switch (mode) {
    // Only normalised coordinates can go round; the others are clamped.
    case cudaAddressModeWrap:
      return normalised ? machine::memory::Texture::Address::wrap
                        : machine::memory::Texture::Address::clamp;
    case cudaAddressModeMirror:
      return normalised ? machine::memory::Texture::Address::mirror
                        : machine::memory::Texture::Address::clamp;
    case cudaAddressModeClamp:
      return machine::memory::Texture::Address::clamp;
    case cudaAddressModeBorder:
      return machine::memory::Texture::Address::border;
  }
  throw Failure{cudaErrorInvalidValue};
}

machine::memory::Texture texture_of(const machine::memory::Texels& texels, cudaResourceType type,
                                    const cudaTextureDesc& desc) {
  const bool integers = texels.kind != machine::memory::Texels::Kind::real;
  machine::memory::Texture out;
  out.texels = texels;
  if (type == cudaResourceTypeLinear) {
    // Read by tex1Dfetch only, which gives 0 beside the memory.
    out.by_index = true;
    out.address.fill(machine::memory::Texture::Address::border);
  } else {
    out.normalised_coordinates = desc.normalizedCoords != 0 || texels.cubemap;
    out.linear_filter = desc.filterMode == cudaFilterModeLinear;
    out.seamless = texels.cubemap && desc.seamlessCubemap != 0;
    for (int axis = 0; axis < 3; ++axis) {
      out.address[axis] = address_mode(desc.addressMode[axis], out.normalised_coordinates);
    }
    std::ranges::copy(desc.borderColor, out.border.begin());
  }
  out.normalised_values = integers && desc.readMode == cudaReadModeNormalizedFloat;
  require(!out.normalised_values || texels.bits < 32, cudaErrorInvalidNormSetting);
  require(!out.linear_filter || out.reads_floats(), cudaErrorInvalidFilterSetting);
  if (desc.sRGB != 0) throw Failure{cudaErrorNotSupported, "sRGB textures are not emulated"};
  return out;
}

const TextureRequest& request_of(const std::map<std::uint64_t, TextureRequest>& objects,
                                 std::uint64_t handle) {
  const auto found = objects.find(handle);
  require(found != objects.end());
  return found->second;
}

}  // namespace

WARPGAUGE_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture,
                                                  const cudaResourceDesc* resource,
                                                  const cudaTextureDesc* desc,
                                                  const cudaResourceViewDesc* view) {
  return call(__func__, [&](State& state) {
    require(texture != nullptr && resource != nullptr && desc != nullptr);
    if (view != nullptr && view->format != cudaResViewFormatNone) {
      throw Failure{cudaErrorNotSupported, "resource views are not emulated"};
    }
    const machine::memory::Texels texels = texels_of(state, *resource);
    *texture =
        machine::memory::Textures::instance().add(texture_of(texels, resource->resType, *desc));
    state.device().textures[*texture] = {*resource, *desc};
  });
}

WARPGAUGE_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return call(__func__, [&](State& state) {
    if (texture == 0) return;
    require(machine::memory::Textures::instance().remove(texture));
    state.device().textures.erase(texture);
  });
}

WARPGAUGE_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                                           cudaTextureObject_t texture) {
  return call(__func__, [&](State& state) {
    require(resource != nullptr);
    *resource = request_of(state.device().textures, texture).resource;
  });
}

WARPGAUGE_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* desc,
                                                          cudaTextureObject_t texture) {
  return call(__func__, [&](State& state) {
    require(desc != nullptr);
    *desc = request_of(state.device().textures, texture).texture;
  });
}

WARPGAUGE_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                                  const cudaResourceDesc* resource) {
  return call(__func__, [&](State& state) {
    require(surface != nullptr && resource != nullptr);
    require(resource->resType == cudaResourceTypeArray);
    const Array& array = array_of(state, resource->res.array.array);
    require((array.flags & cudaArraySurfaceLoadStore) != 0);
    machine::memory::Texels texels = texels_of(state, *resource);
    texels.layered = texels.layered || texels.cubemap;  // a face is a layer
    texels.cubemap = false;
    *surface = machine::memory::Surfaces::instance().add({texels});
    state.device().surfaces[*surface] = {*resource, {}};
  });
}

WARPGAUGE_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return call(__func__, [&](State& state) {
    if (surface == 0) return;
    require(machine::memory::Surfaces::instance().remove(surface));
    state.device().surfaces.erase(surface);
  });
}

WARPGAUGE_API cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                                           cudaSurfaceObject_t surface) {
  return call(__func__, [&](State& state) {
    require(resource != nullptr);
    *resource = request_of(state.device().surfaces, surface).resource;
  });
}

}  // namespace warpgauge::emulator::runtime
