// CUDA arrays, and texture and surface objects, for the families that read through the texture
// unit. Each frees itself.
#pragma once

#include <type_traits>

#include "warpgauge/warpgauge.h"

namespace textures {

/// An element as a texture holds it: textures know no double, but pairs of words.
template <typename T>
using Texel = std::conditional_t<std::is_same_v<T, double>, int2, T>;

template <typename T>
__device__ T value_of(T texel) {
  return texel;
}
inline __device__ double value_of(int2 texel) { return __hiloint2double(texel.y, texel.x); }

/// A CUDA array: memory whose order of elements is the device's own. An extent has 0 in the
/// dimensions that the array does not have; `flags` add surfaces or layers.
class Array {
 public:
  Array() = default;
  ~Array() {
    if (array_ != nullptr) static_cast<void>(cudaFreeArray(array_));
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  template <typename T>
  void allocate(cudaExtent extent, unsigned flags = cudaArrayDefault) {
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<Texel<T>>();
    WARPGAUGE_CUDA(cudaMalloc3DArray(&array_, &channels, extent, flags));
  }
  /// Fills all of it with elements that lie on the device, row by row without gaps.
  template <typename T>
  void fill(const T* data, cudaExtent extent) {
    const auto present = [](std::size_t length) { return length == 0 ? 1 : length; };
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<T*>(data), extent.width * sizeof(T), extent.width,
                                      present(extent.height));
    copy.dstArray = array_;
    copy.extent = make_cudaExtent(extent.width, present(extent.height), present(extent.depth));
    copy.kind = cudaMemcpyDeviceToDevice;
    WARPGAUGE_CUDA(cudaMemcpy3D(&copy));
  }
  template <typename T>
  void make_from(const T* data, cudaExtent extent) {
    allocate<T>(extent);
    fill(data, extent);
  }
  operator cudaArray_t() const { return array_; }

 private:
  cudaArray_t array_ = nullptr;
};

/// How a texture is read. `beside` holds in all dimensions; wrapping and mirroring need normalised
/// coordinates.
struct Reading {
  cudaTextureAddressMode beside = cudaAddressModeClamp;
  cudaTextureFilterMode filter = cudaFilterModePoint;
  cudaTextureReadMode values = cudaReadModeElementType;
  bool normalised_coordinates = false;
};

inline cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

/// Read by index (tex1Dfetch), and 0 beside it.
template <typename T>
cudaResourceDesc resource_of(const T* data, std::size_t count) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<T*>(data);
  resource.res.linear.desc = cudaCreateChannelDesc<Texel<T>>();
  resource.res.linear.sizeInBytes = count * sizeof(T);
  return resource;
}

/// Rows in linear memory, `pitch` bytes apart.
template <typename T>
cudaResourceDesc resource_of(const T* data, std::size_t width, std::size_t height,
                             std::size_t pitch) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = const_cast<T*>(data);
  resource.res.pitch2D.desc = cudaCreateChannelDesc<Texel<T>>();
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  return resource;
}

class Texture {
 public:
  Texture() = default;
  ~Texture() {
    if (object_ != 0) static_cast<void>(cudaDestroyTextureObject(object_));
  }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  void over(const cudaResourceDesc& resource, const Reading& reading = {}) {
    cudaTextureDesc desc = {};
    for (cudaTextureAddressMode& mode : desc.addressMode) mode = reading.beside;
    desc.filterMode = reading.filter;
    desc.readMode = reading.values;
    desc.normalizedCoords = reading.normalised_coordinates;
    WARPGAUGE_CUDA(cudaCreateTextureObject(&object_, &resource, &desc, nullptr));
  }
  bool exists() const { return object_ != 0; }
  operator cudaTextureObject_t() const { return object_; }

 private:
  cudaTextureObject_t object_ = 0;
};

/// Over an array that was allocated with cudaArraySurfaceLoadStore.
class Surface {
 public:
  Surface() = default;
  ~Surface() {
    if (object_ != 0) static_cast<void>(cudaDestroySurfaceObject(object_));
  }
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;

  void over(const Array& array) {
    const cudaResourceDesc resource = resource_of(array);
    WARPGAUGE_CUDA(cudaCreateSurfaceObject(&object_, &resource));
  }
  bool exists() const { return object_ != 0; }
  operator cudaSurfaceObject_t() const { return object_; }

 private:
  cudaSurfaceObject_t object_ = 0;
};

}  // namespace textures
