// The driver's names of swizzles.
#pragma once

#include <string_view>

#include "metrics/counting/swizzle.h"

namespace warpgauge::metrics {

/// "CU_TENSOR_MAP_SWIZZLE_128B"
constexpr std::string_view name_of(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none:
      break;
    case Swizzle::span_32:
      return "CU_TENSOR_MAP_SWIZZLE_32B";
    case Swizzle::span_64:
      return "CU_TENSOR_MAP_SWIZZLE_64B";
    case Swizzle::span_128:
      return "CU_TENSOR_MAP_SWIZZLE_128B";
    case Swizzle::span_128_atom_32:
      return "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B";
    case Swizzle::span_128_atom_32_flip_8:
      return "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B";
    case Swizzle::span_128_atom_64:
      return "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B";
  }
  return "CU_TENSOR_MAP_SWIZZLE_NONE";
}

}  // namespace warpgauge::metrics
