// The GPUs of this machine.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <string>
#include <string_view>

#include "metrics/facts/fact.h"

namespace warpgauge {

/// The current device, without its chip name (CUPTI has that); nullopt where there is none. Throws
/// metrics::CudaError for a GPU that is there and cannot be used.
std::optional<metrics::Device> current_device();

/// Says that there is no device here; empty where there is one. Throws as current_device().
std::string why_no_device();
/// The same from what cudaGetDeviceCount() gave, and whether a driver is loaded.
std::string why_no_device(cudaError_t error, int count, bool has_driver);

/// True if only one process may use the current device (compute mode exclusive). False where there
/// is no device, or none that can be asked.
bool is_exclusive_device();

/// "sm_90" for a device of compute capability 9.0. running_arch() has the name of the code on it.
std::string arch_of(const metrics::Device& device);

/// Peak of the memory of a device in bytes per second: both edges of its clock times the width of
/// its bus. 0 if the device does not report it. Throws metrics::CudaError.
double peak_bytes_per_second(int device);

/// Peak of arithmetic of a device without tensor cores, in operations of `type` ("f32", "f64") per
/// second. A multiply-add is two. 0 for other types and unknown architectures. Throws
/// metrics::CudaError.
double peak_flops_per_second(int device, std::string_view type);

/// An attribute of a device. Throws metrics::CudaError.
int device_attribute(cudaDeviceAttr which, int device);

/// The version of the driver from the kernel module ("580.159.04"); "emulator" on emulated ones.
/// Where no module can be asked (as in some containers), the CUDA version that the driver supports
/// ("CUDA 13.0"). Throws metrics::CudaError.
std::string driver_version();

/// "13.0" for a version as the CUDA runtime says it, 13000.
std::string cuda_version_text(int version);

}  // namespace warpgauge
