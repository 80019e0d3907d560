// Asks the CUDA runtime and the kernel module about GPUs.
#include "harness/devices.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>

#include "harness/runtime.h"
#include "metrics/architecture/architectures.h"
#include "metrics/base/hash.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge {
int device_attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  WARPGAUGE_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string driver_version() {
  if (is_emulated()) return "emulator";
  std::ifstream stream("/sys/module/nvidia/version");
  std::string version;
  if (stream >> version) return version;
  int supported = 0;
  WARPGAUGE_CUDA(cudaDriverGetVersion(&supported));
  return "CUDA " + cuda_version_text(supported);
}

std::string why_no_device(cudaError_t error, int count, bool has_driver) {
  // Without any driver the runtime reports an insufficient one.
  const bool no_driver = error == cudaErrorInsufficientDriver && !has_driver;
  if (error == cudaErrorNoDevice || no_driver || (error == cudaSuccess && count == 0)) {
    return no_driver ? "no CUDA device here (no NVIDIA driver)" : "no CUDA device here";
  }
  WARPGAUGE_CUDA(error);
  return "";
}

std::string why_no_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  return why_no_device(error, count, std::filesystem::exists("/dev/nvidiactl"));
}

std::optional<metrics::Device> current_device() {
  if (!why_no_device().empty()) return std::nullopt;
  int device = 0;
  WARPGAUGE_CUDA(cudaGetDevice(&device));
  cudaDeviceProp p{};
  WARPGAUGE_CUDA(cudaGetDeviceProperties(&p, device));
  return metrics::Device{
      .name = p.name,
      .chip = "",
      .compute_capability = fmt::format("{}.{}", p.major, p.minor),
      .driver = driver_version(),
      .uuid_hash = metrics::hash_text(std::as_bytes(std::span(p.uuid.bytes))),
      .sm_clock_mhz = device_attribute(cudaDevAttrClockRate, device) / 1000,
      .memory_clock_mhz = device_attribute(cudaDevAttrMemoryClockRate, device) / 1000};
}

bool is_exclusive_device() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return false;
  int mode = cudaComputeModeDefault;
  return cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device) == cudaSuccess &&
         mode == cudaComputeModeExclusiveProcess;
}

std::string arch_of(const metrics::Device& device) {
  std::string digits = device.compute_capability;
  std::erase(digits, '.');
  return "sm_" + digits;
}

double peak_bytes_per_second(int device) {
  const double clock_hz = 1000.0 * device_attribute(cudaDevAttrMemoryClockRate, device);
  return 2 * clock_hz * device_attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8;
}

double peak_flops_per_second(int device, std::string_view type) {
  if (type != "f32" && type != "f64") return 0;
  const metrics::Architecture* const arch = metrics::find_architecture(
      fmt::format("sm_{}{}", device_attribute(cudaDevAttrComputeCapabilityMajor, device),
                  device_attribute(cudaDevAttrComputeCapabilityMinor, device)));
  if (arch == nullptr) return 0;
  const double of_float =
      arch->peak_flops_per_second(device_attribute(cudaDevAttrMultiProcessorCount, device),
                                  1000.0 * device_attribute(cudaDevAttrClockRate, device));
  if (type == "f32") return of_float;
  const int ratio = device_attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
  return ratio > 0 ? of_float / ratio : 0;
}

}  // namespace warpgauge
