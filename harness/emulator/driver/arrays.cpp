// CUDA arrays.
#include "harness/emulator/driver/arrays.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "harness/emulator/driver/call.h"

namespace warpgauge::emulator::driver {
namespace {

using runtime::Failure;
using runtime::require;
using runtime::State;

struct FormatRow {
  CUarray_format format;
  int bits;
  cudaChannelFormatKind kind;
};

constexpr FormatRow kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

// The flags have the same numbers.
static_assert(CUDA_ARRAY3D_LAYERED == cudaArrayLayered);
static_assert(CUDA_ARRAY3D_SURFACE_LDST == cudaArraySurfaceLoadStore);
static_assert(CUDA_ARRAY3D_CUBEMAP == cudaArrayCubemap);
static_assert(CUDA_ARRAY3D_TEXTURE_GATHER == cudaArrayTextureGather);

cudaError_t made_array(const char* name, CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* wanted) {
  cudaChannelFormatDesc channels{};
  const auto error = runtime::call(name, [&](State&) {
    require(array != nullptr && wanted != nullptr);
    channels = channels_of(wanted->Format, wanted->NumChannels);
  });
  if (error != cudaSuccess) return error;
  cudaArray_t made = nullptr;
  const cudaExtent extent{wanted->Width, wanted->Height, wanted->Depth};
  const auto result = cudaMalloc3DArray(&made, &channels, extent, wanted->Flags);
  if (result == cudaSuccess) *array = array_of(made);
  return result;
}

CUresult described(const char* name, CUarray array, CUDA_ARRAY3D_DESCRIPTOR& out) {
  return call(name, [&] {
    cudaChannelFormatDesc channels{};
    cudaExtent extent{};
    unsigned flags = 0;
    const auto error = cudaArrayGetInfo(&channels, &extent, &flags, array_of(array));
    if (error != cudaSuccess) return error;
    const auto [format, count] = format_of(channels);
    out = {extent.width, extent.height, extent.depth, format, count, flags};
    return cudaSuccess;
  });
}

CUresult null_descriptor(const char* name) {
  return query(name, [](State&) { require(false); });
}

}  // namespace

cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels) {
  const auto* const row = std::ranges::find(kFormats, format, &FormatRow::format);
  if (row == std::end(kFormats)) {
    throw Failure{cudaErrorNotSupported,
                  "arrays of format " + std::to_string(format) + " are not emulated"};
  }
  require(channels == 1 || channels == 2 || channels == 4);
  const int bits = row->bits;
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0,
          row->kind};
}

ArrayFormat format_of(const cudaChannelFormatDesc& channels) {
  for (const FormatRow& row : kFormats) {
    if (row.bits != channels.x || row.kind != channels.f) continue;
    return {row.format, channels.w != 0 ? 4U : (channels.y != 0 ? 2U : 1U)};
  }
  throw Failure{cudaErrorInvalidValue};
}

WARPGAUGE_API CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* wanted) {
  return call("cuArray3DCreate", [&] { return made_array("cuArray3DCreate", array, wanted); });
}

WARPGAUGE_API CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* wanted) {
  static constexpr char kName[] = "cuArrayCreate";
  if (wanted == nullptr) return null_descriptor(kName);
  const CUDA_ARRAY3D_DESCRIPTOR same{wanted->Width,  wanted->Height,      0,
                                     wanted->Format, wanted->NumChannels, 0};
  return call(kName, [&] { return made_array(kName, array, &same); });
}

WARPGAUGE_API CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray array) {
  static constexpr char kName[] = "cuArray3DGetDescriptor";
  return out == nullptr ? null_descriptor(kName) : described(kName, array, *out);
}

WARPGAUGE_API CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* out, CUarray array) {
  static constexpr char kName[] = "cuArrayGetDescriptor";
  if (out == nullptr) return null_descriptor(kName);
  CUDA_ARRAY3D_DESCRIPTOR all{};
  const CUresult result = described(kName, array, all);
  if (result == CUDA_SUCCESS) *out = {all.Width, all.Height, all.Format, all.NumChannels};
  return result;
}

WARPGAUGE_API CUresult cuArrayDestroy(CUarray array) {
  return call("cuArrayDestroy", [&] {
    // The runtime frees nullptr.
    return array == nullptr ? cudaErrorInvalidResourceHandle : cudaFreeArray(array_of(array));
  });
}

}  // namespace warpgauge::emulator::driver
