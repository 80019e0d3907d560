// Writes the properties of GPUs.
#include "harness/device_table.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <set>
#include <string_view>

#include "harness/devices.h"
#include "harness/runtime.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge {
namespace {

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
  const double peak =
      is_emulated() ? 0 : peak_bytes_per_second(device);  // the emulator's clock is nominal
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
    return fmt::format("{:.0f} MHz", device_attribute(which, device) / 1000.0);
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
  row("kernel time limit", yes_no(device_attribute(cudaDevAttrKernelExecTimeout, device)));
  row("ECC", yes_no(p.ECCEnabled));
  row("integrated", yes_no(p.integrated));
  return text;
}

}  // namespace

std::string describe_devices() {
  int runtime = 0;
  WARPGAUGE_CUDA(cudaRuntimeGetVersion(&runtime));
  std::string text = fmt::format("CUDA runtime {}, ", cuda_version_text(runtime));
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
