// A handle of cuBLAS-Xt for each choice of devices.
#pragma once

#include <cublasXt.h>

#include <vector>

#include "kernels/cublas/handle.h"
#include "warpgauge/warpgauge.h"

namespace warpgauge {

/// Device 0, or all of them.
enum class XtDevices { first, all };

/// The library's handle for one choice of devices, made when it is first needed, with the edge of
/// the blocks that matrices are cut into.
template <XtDevices kDevices = XtDevices::first>
cublasXtHandle_t cublas_xt(int block) {
  static const cublasXtHandle_t handle = [] {
    cublasXtHandle_t made = nullptr;
    WARPGAUGE_CUBLAS(cublasXtCreate, &made);
    int count = 1;
    if (kDevices == XtDevices::all) WARPGAUGE_CUDA(cudaGetDeviceCount(&count));
    std::vector<int> devices;
    for (int device = 0; device < count; ++device) devices.push_back(device);
    WARPGAUGE_CUBLAS(cublasXtDeviceSelect, made, count, devices.data());
    return made;
  }();
  WARPGAUGE_CUBLAS(cublasXtSetBlockDim, handle, block);
  return handle;
}

}  // namespace warpgauge
