// The GPUs of this machine.
#pragma once

#include <cstddef>
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

/// One process only may use the current device (compute mode exclusive). False where there is none.
bool is_exclusive_device();

/// How many processes count so many cases on one GPU the fastest: more wait for one another longer
/// than they save.
std::size_t processes_on_gpu(std::size_t cases, bool is_exclusive);

/// "sm_90" for a device of compute capability 9.0. running_arch() has the name of the code on it.
std::string arch_of(const metrics::Device& device);

/// Peak of the memory of a device in bytes per second: both edges of its clock times the width of
/// its bus. 0 if the device does not report it.
double peak_bytes_per_second(int device);

/// Peak of arithmetic of a device, without tensor cores, in operations of `type` ("f32", "f64") a
/// second: a multiply-add is two. 0 for other types, and where the device is not known.
double peak_flops_per_second(int device, std::string_view type);

/// The GPU that CTest assigned to this test (CTEST_RESOURCE_GROUP_0_GPUS, "id:1,slots:1"), or the
/// first one. Throws std::runtime_error.
int assigned_device();

/// Makes the GPU that CTest assigned to this test the current one; does nothing outside of CTest.
/// Throws std::runtime_error.
void use_assigned_device();

/// A table of the properties of every device, for people; says so where there is none.
std::string describe_devices();

/// The first GPU of each model, for scripts: a line "UUID<tab>name" each, with the UUID as
/// CUDA_VISIBLE_DEVICES takes it; empty where there is none. Throws metrics::CudaError.
std::string describe_models();

}  // namespace warpgauge
