// CUDA arrays.
#include "harness/emulator/runtime/array.h"

#include <string>

#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/runtime/call.h"

namespace warpgauge::emulator::runtime {
namespace {

constexpr unsigned kKnownFlags =
    cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather;

void allocate(State& state, cudaArray_t* array, const cudaChannelFormatDesc* channels,
              cudaExtent extent, unsigned flags) {
  require(array != nullptr && channels != nullptr && extent.width > 0);
  require(is_supported(*channels), cudaErrorInvalidChannelDescriptor);
  if ((flags & ~kKnownFlags) != 0) {
    throw Failure{cudaErrorNotSupported, "cubemaps and sparse arrays are not emulated"};
  }
  const bool layered = (flags & cudaArrayLayered) != 0;
  require(extent.depth == 0 || extent.height > 0 || layered);
  require(!layered || extent.depth > 0);

  Device& device = state.device();
  auto made = std::make_unique<Array>();
  made->channels = *channels;
  made->extent = extent;
  made->flags = flags;
  made->data = device.machine.memory().allocate(
      made->slice_bytes() * made->slices(), machine::memory::Memory::Kind::array,
      "CUDA array #" + std::to_string(++device.allocations));
  require(made->data != nullptr, cudaErrorMemoryAllocation);
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
