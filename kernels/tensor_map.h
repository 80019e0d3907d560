// Tensor maps of matrices, as tensor copies (cp.async.bulk.tensor) take them: which boxes they
// bring to shared memory, and where each element of a box lies there.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "warpgauge/warpgauge.h"

namespace warpgauge {

/// A matrix by rows, without gaps, and the boxes that are copied of it. A row of a box has at most
/// 128 bytes where they are swizzled. Rows of the matrix are multiples of 16 bytes.
struct MatrixBoxes {
  CUtensorMapDataType type;
  std::size_t element_bytes;
  int rows, columns, box_rows, box_columns;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
};

/// Makes `map` the tensor map of a matrix on the device. Call it in prepare(): it needs a driver.
/// Throws std::runtime_error for boxes that the driver refuses. (A map that a function returns may
/// lie at an address that is aligned to less than 64 bytes, which the driver refuses, too.)
inline void set_tensor_map(CUtensorMap& map, const void* matrix, const MatrixBoxes& boxes) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = {};
  constexpr unsigned kCudaOfTensorMaps = 12000;
  WARPGAUGE_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                  kCudaOfTensorMaps, cudaEnableDefault, &found));
  if (function == nullptr) throw std::runtime_error("the driver has no cuTensorMapEncodeTiled");
  // Fastest extent first; its stride is that of elements, and not given.
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(boxes.columns),
                                static_cast<cuuint64_t>(boxes.rows)};
  const cuuint64_t strides[] = {boxes.columns * boxes.element_bytes};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(boxes.box_columns),
                            static_cast<cuuint32_t>(boxes.box_rows)};
  const cuuint32_t every[] = {1, 1};
  const CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
      &map, boxes.type, 2, const_cast<void*>(matrix), extents, strides, box, every,
      CU_TENSOR_MAP_INTERLEAVE_NONE, boxes.swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw std::runtime_error("cuTensorMapEncodeTiled refuses the boxes: error " +
                             std::to_string(result));
  }
}

}  // namespace warpgauge
