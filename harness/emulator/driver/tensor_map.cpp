// Tensor maps of the CUDA driver: cuTensorMapEncode*, which needs no device.
#include "harness/emulator/machine/memory/tensor_map.h"

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "harness/emulator/driver/refuse.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/state.h"

namespace warpgauge::emulator::driver {
namespace {

using machine::memory::BadTensorMap;
using machine::memory::Swizzle;
using machine::memory::TensorMap;

constexpr int kFirstArchitecture = 90;

/// Says on stderr why `name` fails.
CUresult fail(const char* name, CUresult code, const std::string& why) {
  runtime::State& state = runtime::State::instance();
  const std::lock_guard lock(state.mutex);
  state.say(std::string(name) + ": " + why);
  return code;
}

/// Ten times the compute capability of the emulated GPU.
int architecture() {
  runtime::State& state = runtime::State::instance();
  const std::lock_guard lock(state.mutex);
  return state.limits().major * 10 + state.limits().minor;
}

bool is_aligned(const CUtensorMap* map) {
  return reinterpret_cast<std::uintptr_t>(map) % machine::memory::kTensorMapAlignment == 0;
}

/// Writes the map where `to` points, if it keeps the rules.
CUresult write(const char* name, CUtensorMap* to, const TensorMap& map) {
  const int arch = architecture();
  if (arch < kFirstArchitecture) {
    return fail(name, CUDA_ERROR_NOT_SUPPORTED, "tensor maps need compute capability 9.0");
  }
  if (!is_aligned(to)) {
    return fail(name, CUDA_ERROR_INVALID_VALUE, "the tensor map is not aligned to 64 bytes");
  }
  if (const auto broken = machine::memory::broken_rule(map, arch)) {
    return fail(name, CUDA_ERROR_INVALID_VALUE, *broken);
  }
  machine::memory::write_tensor_map(map, reinterpret_cast<std::byte*>(to));
  return CUDA_SUCCESS;
}

/// A number as an enumerator of one byte; one that does not fit is none of them.
template <typename Enum, typename Number>
Enum enumerator(Number number) {
  return static_cast<Enum>(std::min<std::uint64_t>(static_cast<std::uint64_t>(number), 255));
}

/// The properties that both kinds of tensor map have.
struct Tensor {
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t* size;
  const cuuint64_t* strides;
  const cuuint32_t* steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion l2_promotion;
  CUtensorMapFloatOOBfill fill;
};

/// Arrays are read as far as the rank says; a rank that is too large is left to the rules.
TensorMap map_of(const Tensor& tensor) {
  TensorMap map;
  map.type = enumerator<TensorMap::Type>(tensor.type);
  map.rank = static_cast<int>(std::min<cuuint32_t>(tensor.rank, 255));
  map.address = reinterpret_cast<std::uint64_t>(tensor.address);
  map.interleave = enumerator<TensorMap::Interleave>(tensor.interleave);
  map.swizzle = enumerator<Swizzle>(tensor.swizzle);
  map.l2_promotion = enumerator<std::uint8_t>(tensor.l2_promotion);
  map.fill = enumerator<TensorMap::Fill>(tensor.fill);
  if (map.rank < 1 || map.rank > TensorMap::kMostDimensions) return map;
  std::copy_n(tensor.size, map.rank, map.size.begin());
  std::copy_n(tensor.steps, map.rank, map.step.begin());
  if (map.rank > 1) std::copy_n(tensor.strides, map.rank - 1, map.stride.begin());
  return map;
}

bool has_arrays(const Tensor& tensor) {
  return tensor.size != nullptr && tensor.steps != nullptr &&
         (tensor.strides != nullptr || tensor.rank <= 1);
}

}  // namespace

WARPGAUGE_API CUresult cuTensorMapEncodeTiled(
    CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
    const cuuint64_t* size, const cuuint64_t* strides, const cuuint32_t* box,
    const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill fill) {
  const Tensor tensor{type,  rank,       address, size,         strides,
                      steps, interleave, swizzle, l2_promotion, fill};
  if (map == nullptr || box == nullptr || !has_arrays(tensor)) {
    return fail(__func__, CUDA_ERROR_INVALID_VALUE, "a pointer is null");
  }
  TensorMap out = map_of(tensor);
  if (out.rank <= TensorMap::kMostDimensions) std::copy_n(box, out.rank, out.box.begin());
  return write(__func__, map, out);
}

WARPGAUGE_API CUresult cuTensorMapEncodeIm2col(
    CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
    const cuuint64_t* size, const cuuint64_t* strides, const int* lower, const int* upper,
    cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill fill) {
  const Tensor tensor{type,  rank,       address, size,         strides,
                      steps, interleave, swizzle, l2_promotion, fill};
  if (map == nullptr || lower == nullptr || upper == nullptr || !has_arrays(tensor)) {
    return fail(__func__, CUDA_ERROR_INVALID_VALUE, "a pointer is null");
  }
  TensorMap out = map_of(tensor);
  out.mode = TensorMap::Mode::im2col;
  out.channels = channels;
  out.pixels = pixels;
  if (out.rank > 2 && out.rank <= TensorMap::kMostDimensions) {
    std::copy_n(lower, out.spatial_dimensions(), out.lower.begin());
    std::copy_n(upper, out.spatial_dimensions(), out.upper.begin());
  }
  return write(__func__, map, out);
}

WARPGAUGE_API CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  if (map == nullptr) return fail(__func__, CUDA_ERROR_INVALID_VALUE, "the tensor map is null");
  try {
    TensorMap changed = machine::memory::read_tensor_map(reinterpret_cast<std::byte*>(map));
    changed.address = reinterpret_cast<std::uint64_t>(address);
    return write(__func__, map, changed);
  } catch (const BadTensorMap& bad) {
    return fail(__func__, CUDA_ERROR_INVALID_VALUE, bad.what());
  }
}

#if CUDA_VERSION >= 12080
WARPGAUGE_API CUresult cuTensorMapEncodeIm2colWide(CUtensorMap*, CUtensorMapDataType, cuuint32_t,
                                                   void*, const cuuint64_t*, const cuuint64_t*, int,
                                                   int, cuuint32_t, cuuint32_t, const cuuint32_t*,
                                                   CUtensorMapInterleave, CUtensorMapIm2ColWideMode,
                                                   CUtensorMapSwizzle, CUtensorMapL2promotion,
                                                   CUtensorMapFloatOOBfill) {
  return static_cast<CUresult>(refuse(__func__));
}
#endif

}  // namespace warpgauge::emulator::driver
