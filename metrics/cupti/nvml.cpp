// Loads NVML at run time, and calls it through declarations of its own.
#include "metrics/cupti/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <utility>

#include "metrics/cupti/cupti.h"

namespace warpgauge::metrics {
namespace {

// Constants of NVML's interface, which is stable from version to version.
constexpr int kSuccess = 0, kInsufficientSize = 7;
constexpr unsigned kSmClock = 1, kMemoryClock = 2;
constexpr unsigned kGpuTemperature = 0;

/// Laid out as nvmlProcessInfo_v2_t.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

}  // namespace

/// NVML, loaded and initialised.
class NvmlMonitor::Library {
 public:
  Library() : handle_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      throw Unmeasured("NVML (libnvidia-ml.so.1) cannot be loaded",
                       "It belongs to the driver; in a container, add the capability 'utility' "
                       "(NVIDIA_DRIVER_CAPABILITIES)");
    }
    const int status = call<int()>("nvmlInit_v2");
    if (status == kSuccess) return;
    const std::string why = error_text(status);
    dlclose(handle_);
    throw Unmeasured("nvmlInit_v2 failed: " + why, "");
  }
  ~Library() {
    call<int()>("nvmlShutdown");
    dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Calls a function of NVML; -1 if this NVML does not have it.
  template <typename Function, typename... Arguments>
  int call(const char* name, Arguments... arguments) const {
    auto* const function = reinterpret_cast<Function*>(dlsym(handle_, name));
    return function == nullptr ? -1 : function(arguments...);
  }

  std::string error_text(int status) const {
    auto* const text = reinterpret_cast<const char* (*)(int)>(dlsym(handle_, "nvmlErrorString"));
    return text == nullptr ? fmt::format("status {}", status) : text(status);
  }

 private:
  void* handle_;
};

NvmlMonitor::NvmlMonitor(const std::string& pci_bus_id) : library_(std::make_unique<Library>()) {
  const int status = library_->call<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2",
                                                              pci_bus_id.c_str(), &device_);
  if (status != kSuccess) {
    throw Unmeasured(
        fmt::format("NVML does not report GPU {}: {}", pci_bus_id, library_->error_text(status)),
        "");
  }
  unchanging_.max_sm_clock_mhz = number("nvmlDeviceGetMaxClockInfo", kSmClock);
  unchanging_.max_memory_clock_mhz = number("nvmlDeviceGetMaxClockInfo", kMemoryClock);
  unsigned mig = 0, pending = 0;
  library_->call<int(void*, unsigned*, unsigned*)>("nvmlDeviceGetMigMode", device_, &mig, &pending);
  unchanging_.mig = mig != 0;
}

NvmlMonitor::~NvmlMonitor() = default;

int NvmlMonitor::number(const char* function, unsigned what) const {
  unsigned value = 0;
  const int status =
      library_->call<int(void*, unsigned, unsigned*)>(function, device_, what, &value);
  return status == kSuccess ? static_cast<int>(value) : 0;
}

GpuState NvmlMonitor::state() const {
  GpuState state = unchanging_;
  state.sm_clock_mhz = number("nvmlDeviceGetClockInfo", kSmClock);
  state.memory_clock_mhz = number("nvmlDeviceGetClockInfo", kMemoryClock);
  state.temperature_c = number("nvmlDeviceGetTemperature", kGpuTemperature);
  unsigned long long reasons = 0;
  // This older name of the function exists in every driver.
  library_->call<int(void*, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons",
                                                  device_, &reasons);
  state.throttling = throttling_from(reasons);
  std::array<ProcessInfo, 64> processes{};
  auto count = static_cast<unsigned>(processes.size());
  const int status = library_->call<int(void*, unsigned*, ProcessInfo*)>(
      "nvmlDeviceGetComputeRunningProcesses_v3", device_, &count, processes.data());
  if (status == kSuccess || status == kInsufficientSize) state.processes = static_cast<int>(count);
  return state;
}

std::vector<std::string> throttling_from(unsigned long long reasons) {
  constexpr std::pair<unsigned long long, const char*> kReasons[] = {
      {0x4, "power cap"},         {0x8, "hardware slowdown"}, {0x10, "sync boost"},
      {0x20, "thermal slowdown"}, {0x40, "thermal slowdown"}, {0x80, "external power brake"}};
  std::vector<std::string> words;
  for (const auto& [bit, word] : kReasons) {
    if ((reasons & bit) == 0) continue;
    if (words.empty() || words.back() != word) words.emplace_back(word);
  }
  return words;
}

}  // namespace warpgauge::metrics
