// The state of a GPU, from NVIDIA's management library (NVML). The library belongs to the driver
// and is loaded when the program runs: a build needs neither it nor its header.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace warpgauge::metrics {

/// The state of a GPU at one moment; 0 or empty where NVML does not report it.
struct GpuState {
  int sm_clock_mhz = 0, memory_clock_mhz = 0;
  int max_sm_clock_mhz = 0, max_memory_clock_mhz = 0;
  int temperature_c = 0;
  std::vector<std::string> throttling;  ///< why clocks are lower than they could be: "power cap"
  int processes = 0;                    ///< processes with a CUDA context on the GPU
  bool mig = false;                     ///< the GPU is divided into instances (MIG)
};

/// Asks NVML about one GPU.
class NvmlMonitor {
 public:
  /// `pci_bus_id` as cudaDeviceGetPCIBusId() writes it ("0000:3B:00.0"). Throws Unmeasured where
  /// NVML is missing or does not have the GPU.
  explicit NvmlMonitor(const std::string& pci_bus_id);
  ~NvmlMonitor();
  NvmlMonitor(const NvmlMonitor&) = delete;
  NvmlMonitor& operator=(const NvmlMonitor&) = delete;

  /// The state now. Each question takes the driver 0.3 ms, so constant properties are asked for
  /// once.
  GpuState state() const;

 private:
  class Library;
  int number(const char* function, unsigned what) const;

  std::unique_ptr<Library> library_;
  void* device_ = nullptr;
  GpuState unchanging_;
};

/// The words for the bits that nvmlDeviceGetCurrentClocksEventReasons() sets when a GPU is slower
/// than it could be. An idle GPU and clocks set by a user are no such reasons.
std::vector<std::string> throttling_from(unsigned long long reasons);

}  // namespace warpgauge::metrics
