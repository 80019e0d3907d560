// Reads which GPU CTest assigned.
#include "harness/ctest_device.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "warpgauge/cuda_error.h"

namespace warpgauge {

int assigned_device() {
  const char* assigned = std::getenv("CTEST_RESOURCE_GROUP_0_GPUS");
  if (assigned == nullptr) return 0;
  const std::string_view text(assigned);
  int device = -1;
  const std::string_view digits = text.starts_with("id:") ? text.substr(3) : std::string_view();
  std::from_chars(digits.data(), digits.data() + digits.size(), device);
  if (device < 0) {
    throw std::runtime_error(fmt::format(
        "CTEST_RESOURCE_GROUP_0_GPUS is '{}', expected id:NUMBER,slots:1; check the resource file",
        text));
  }
  return device;
}

void use_assigned_device() {
  const int device = assigned_device();
  int count = 0;
  if (device == 0) return;
  if (cudaGetDeviceCount(&count) != cudaSuccess)
    return;  // reported later, where a device is needed
  WARPGAUGE_CUDA(cudaSetDevice(device));
}

}  // namespace warpgauge
