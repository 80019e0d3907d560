// The GPUs of this machine as text.
#pragma once

#include <string>

namespace warpgauge {

/// A table of the properties of every device, for people; says so where there is none. Throws
/// metrics::CudaError.
std::string describe_devices();

/// The first GPU of each model, for scripts: a line "UUID<tab>name" each, with the UUID as
/// CUDA_VISIBLE_DEVICES takes it; empty where there is none. Throws metrics::CudaError.
std::string describe_models();

}  // namespace warpgauge
