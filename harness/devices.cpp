#include "harness/devices.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>

#include "harness/runtime.h"
#include "metrics/architecture/architectures.h"
#include "metrics/base/available_cores.h"
#include "metrics/base/hash.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  WARPGAUGE_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// "580.159.04", as the kernel module says; the CUDA version it supports where there is no module
/// to ask (as in some containers).
std::string driver_version() {
  if (is_emulated()) return "emulator";
  std::ifstream stream("/sys/module/nvidia/version");
  std::string version;
  if (stream >> version) return version;
  int supported = 0;
  WARPGAUGE_CUDA(cudaDriverGetVersion(&supported));
  return "CUDA " + version_text(supported);
}

std::string size_text(double bytes) {
  constexpr double kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
  if (bytes >= kGiB) return fmt::format("{:.1f} GiB", bytes / kGiB);
  if (bytes >= kMiB) return fmt::format("{:.1f} MiB", bytes / kMiB);
  if (bytes >= kKiB) return fmt::format("{:.0f} KiB", bytes / kKiB);
  return fmt::format("{:.0f} bytes", bytes);
}

/// "GPU-01234567-89ab-cdef-0123-456789abcdef".
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

/// "3352 GB/s".
std::string bandwidth_text(int device) {
  const double peak = is_emulated() ? 0 : peak_bytes_per_second(device);  // its clock is nominal
  return peak > 0 ? fmt::format("{:.0f} GB/s", peak / 1e9) : "unknown";
}

/// "66.9 TFLOP/s".
std::string arithmetic_text(int device, std::string_view type) {
  const double peak = is_emulated() ? 0 : peak_flops_per_second(device, type);
  return peak > 0 ? fmt::format("{:.3g} TFLOP/s", peak / 1e12) : "unknown";
}

std::string describe(int device) {
  cudaDeviceProp p{};
  WARPGAUGE_CUDA(cudaGetDeviceProperties(&p, device));
  const auto yes_no = [](int flag) { return flag != 0 ? "yes" : "no"; };
  const auto extents = [](const int* e) { return fmt::format("{} x {} x {}", e[0], e[1], e[2]); };
  const auto clock = [&](cudaDeviceAttr which) {
    return fmt::format("{:.0f} MHz", attribute(which, device) / 1000.0);
  };
  std::string text = fmt::format("device {}: {}\n", device, p.name);
  const auto row = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<32} {}\n", name, value);
  };
  row("compute capability", fmt::format("{}.{}", p.major, p.minor));
  row("multiprocessors", std::to_string(p.multiProcessorCount));
  row("clock", clock(cudaDevAttrClockRate));
  row("arithmetic of float, peak", arithmetic_text(device, "f32"));
  row("arithmetic of double, peak", arithmetic_text(device, "f64"));
  row("memory", size_text(static_cast<double>(p.totalGlobalMem)));
  row("memory clock", clock(cudaDevAttrMemoryClockRate));
  row("memory bus", fmt::format("{} bits", p.memoryBusWidth));
  row("memory bandwidth, peak", bandwidth_text(device));
  row("L2 cache", size_text(p.l2CacheSize));
  row("constant memory", size_text(static_cast<double>(p.totalConstMem)));
  row("shared memory per block", size_text(static_cast<double>(p.sharedMemPerBlock)));
  row("shared memory per block, opt-in", size_text(static_cast<double>(p.sharedMemPerBlockOptin)));
  row("shared memory per multiprocessor",
      size_text(static_cast<double>(p.sharedMemPerMultiprocessor)));
  row("registers per block", std::to_string(p.regsPerBlock));
  row("registers per multiprocessor", std::to_string(p.regsPerMultiprocessor));
  row("warp size", std::to_string(p.warpSize));
  row("threads per block", std::to_string(p.maxThreadsPerBlock));
  row("threads per multiprocessor", std::to_string(p.maxThreadsPerMultiProcessor));
  row("blocks per multiprocessor", std::to_string(p.maxBlocksPerMultiProcessor));
  row("block extents", extents(p.maxThreadsDim));
  row("grid extents", extents(p.maxGridSize));
  row("memory pitch", size_text(static_cast<double>(p.memPitch)));
  row("texture alignment", size_text(static_cast<double>(p.textureAlignment)));
  row("copy engines", std::to_string(p.asyncEngineCount));
  row("concurrent kernels", yes_no(p.concurrentKernels));
  row("maps host memory", yes_no(p.canMapHostMemory));
  row("kernel time limit", yes_no(attribute(cudaDevAttrKernelExecTimeout, device)));
  row("ECC", yes_no(p.ECCEnabled));
  row("integrated", yes_no(p.integrated));
  return text;
}

}  // namespace

std::string why_no_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  // Without any driver the runtime calls the driver insufficient.
  const bool no_driver =
      error == cudaErrorInsufficientDriver && !std::filesystem::exists("/dev/nvidiactl");
  if (error == cudaErrorNoDevice || no_driver || (error == cudaSuccess && count == 0)) {
    return no_driver ? "no CUDA device here (no NVIDIA driver)" : "no CUDA device here";
  }
  WARPGAUGE_CUDA(error);
  return "";
}

std::optional<metrics::Device> current_device() {
  if (!why_no_device().empty()) return std::nullopt;
  int device = 0;
  WARPGAUGE_CUDA(cudaGetDevice(&device));
  cudaDeviceProp p{};
  WARPGAUGE_CUDA(cudaGetDeviceProperties(&p, device));
  return metrics::Device{.name = p.name,
                         .chip = "",
                         .compute_capability = fmt::format("{}.{}", p.major, p.minor),
                         .driver = driver_version(),
                         .uuid_hash = metrics::hash_text(std::as_bytes(std::span(p.uuid.bytes))),
                         .sm_clock_mhz = attribute(cudaDevAttrClockRate, device) / 1000,
                         .memory_clock_mhz = attribute(cudaDevAttrMemoryClockRate, device) / 1000};
}

std::size_t processes_on_gpu(std::size_t cases, bool is_exclusive) {
  constexpr std::size_t kMost = 6;
  constexpr std::size_t kWorthIt = 50;  // cases that take as long as the start of CUDA and CUPTI
  if (is_exclusive) return 1;
  return std::min(
      {kMost, 1 + cases / kWorthIt, static_cast<std::size_t>(metrics::available_cores())});
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
  const double clock_hz = 1000.0 * attribute(cudaDevAttrMemoryClockRate, device);
  return 2 * clock_hz * attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8;
}

double peak_flops_per_second(int device, std::string_view type) {
  if (type != "f32" && type != "f64") return 0;
  const metrics::Architecture* const arch = metrics::find_architecture(
      fmt::format("sm_{}{}", attribute(cudaDevAttrComputeCapabilityMajor, device),
                  attribute(cudaDevAttrComputeCapabilityMinor, device)));
  if (arch == nullptr) return 0;
  const double of_float =
      arch->peak_flops_per_second(attribute(cudaDevAttrMultiProcessorCount, device),
                                  1000.0 * attribute(cudaDevAttrClockRate, device));
  if (type == "f32") return of_float;
  const int ratio = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
  return ratio > 0 ? of_float / ratio : 0;
}

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
  if (cudaGetDeviceCount(&count) != cudaSuccess) return;  // said later, where a device is needed
  WARPGAUGE_CUDA(cudaSetDevice(device));
}

std::string describe_devices() {
  int runtime = 0;
  WARPGAUGE_CUDA(cudaRuntimeGetVersion(&runtime));
  std::string text = fmt::format("CUDA runtime {}, ", version_text(runtime));
  if (const std::string why = why_no_device(); !why.empty()) return text + why + "\n";
  int count = 0;
  WARPGAUGE_CUDA(cudaGetDeviceCount(&count));
  text += fmt::format("driver {}, {} device{}\n", driver_version(), count, count == 1 ? "" : "s");
  for (int device = 0; device < count; ++device) text += describe(device);
  return text;
}

std::string describe_models() {
  std::string text;
  if (!why_no_device().empty()) return text;
  int count = 0;
  WARPGAUGE_CUDA(cudaGetDeviceCount(&count));
  std::set<std::string> models;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp p{};
    WARPGAUGE_CUDA(cudaGetDeviceProperties(&p, device));
    if (!models.insert(p.name).second) continue;
    text += fmt::format("{}\t{}\n", uuid_text(p.uuid), p.name);
  }
  return text;
}

}  // namespace warpgauge
