// The GPU that CTest assigns to a test.
#pragma once

namespace warpgauge {

/// The GPU that CTest assigned to this test (CTEST_RESOURCE_GROUP_0_GPUS, "id:1,slots:1"), or the
/// first one. Throws std::runtime_error where CTest's text is another.
int assigned_device();

/// Makes the GPU that CTest assigned to this test the current one; does nothing outside of CTest,
/// and where CUDA has no devices. Throws as assigned_device(), and metrics::CudaError for a GPU
/// that is not there.
void use_assigned_device();

}  // namespace warpgauge
