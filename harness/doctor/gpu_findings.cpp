// Checks the GPU, its driver and the code for it.
#include "harness/doctor/gpu_findings.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "harness/cases/device_code.h"
#include "harness/devices.h"
#include "metrics/architecture/arch_name.h"
#include "metrics/cupti/cupti.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge::doctor {
namespace {

/// "sm_75 sm_90", or "nothing".
std::string archs_text(std::span<const std::string> archs) {
  if (archs.empty()) return "nothing";
  std::vector<std::string> sorted(archs.begin(), archs.end());
  std::ranges::sort(sorted, {}, metrics::arch_order);
  sorted.erase(std::ranges::unique(sorted).begin(), sorted.end());
  return fmt::format("{}", fmt::join(sorted, " "));
}

std::vector<std::string> archs_of(const auto& codes) {
  std::set<std::string> archs;
  for (const auto& code : codes) archs.insert(code.arch);
  return {archs.begin(), archs.end()};
}

/// The findings of a machine without a GPU.
Precondition no_gpu(std::string_view id) {
  return {.id = std::string(id), .health = Health::unknown, .text = "no GPU"};
}

Precondition none_visible(const std::string& why, const HostProbe& here) {
  Precondition finding{.id = id::kGpu, .health = Health::warn, .text = why};
  const int on_bus = gpus_on_bus(here);
  const auto visible = here.variable("CUDA_VISIBLE_DEVICES");
  if (on_bus > 0) finding.text += fmt::format(", but {} on the PCI bus", on_bus);
  if (visible) finding.text += fmt::format("; CUDA_VISIBLE_DEVICES='{}'", *visible);
  if (visible) {
    finding.remedy = "unset CUDA_VISIBLE_DEVICES, or name a GPU of nvidia-smi -L in it";
  } else if (on_bus > 0) {
    finding.remedy = "install NVIDIA's driver; start a container with --gpus all";
  } else {
    finding.remedy =
        "use a machine with one (a container: --gpus all); without, the emulator counts, and "
        "nothing is timed";
  }
  return finding;
}

std::vector<Precondition> state_findings() {
  try {
    int device = 0;
    std::array<char, 32> bus_id{};
    WARPGAUGE_CUDA(cudaGetDevice(&device));
    WARPGAUGE_CUDA(cudaDeviceGetPCIBusId(bus_id.data(), bus_id.size(), device));
    return check_state(metrics::NvmlMonitor(bus_id.data()).state());
  } catch (const std::runtime_error& error) {  // CudaError, Unmeasured
    std::vector<Precondition> findings;
    for (const char* id : {"MIG", "clocks", "other processes"}) {
      findings.push_back(failed_finding(id, error.what()));
      findings.back().health = Health::unknown;
    }
    return findings;
  }
}

}  // namespace

Precondition check_driver(int supported, int built, const std::string& version) {
  Precondition finding{.id = id::kDriver};
  if (supported == 0) {
    finding.text = "no NVIDIA driver here";
    return finding;
  }
  finding.text = fmt::format("{} supports CUDA {}; this was built with CUDA {}", version,
                             cuda_version_text(supported), cuda_version_text(built));
  if (supported >= built) {
    finding.health = Health::ok;
    return finding;
  }
  // Within a major version CUDA itself runs on older drivers, but CUPTI may not.
  finding.health = supported / 1000 == built / 1000 ? Health::warn : Health::fail;
  finding.remedy = metrics::cuda_remedy(cudaErrorInsufficientDriver);
  return finding;
}

Precondition check_architectures(std::span<const std::string> cubins,
                                 std::span<const std::string> ptx, const std::string& arch) {
  Precondition finding{.id = id::kArchitectures, .health = Health::ok};
  const std::string machine_code = archs_text(cubins), portable = archs_text(ptx);
  const std::string all = machine_code == portable ? "machine code and PTX for " + machine_code
                                                   : fmt::format("machine code for {}; PTX for {}",
                                                                 machine_code, portable);
  if (arch.empty()) {
    finding.text = "this build has " + all;
    return finding;
  }
  const auto gpu = metrics::ArchName::parse(arch).value_or(metrics::ArchName());
  const std::string runs = metrics::running_code(cubins, gpu.number);
  const auto code = metrics::ArchName::parse(runs);
  if (code && code->number == gpu.number) {
    finding.text = fmt::format("machine code for {} is in this build, which has {}", runs, all);
    return finding;
  }
  finding.remedy = fmt::format(
      "cmake --preset dev -DCMAKE_CUDA_ARCHITECTURES={} && cmake --build "
      "--preset dev",
      arch.substr(arch.find('_') + 1));
  finding.health = Health::warn;
  const auto compiles = [&](const std::string& name) {
    const auto made = metrics::ArchName::parse(name);
    return made && made->ptx_compiles_for(gpu.number);
  };
  if (!runs.empty()) {
    finding.text = fmt::format(
        "no code of its own for {}: that of {} runs, whose compile-time facts these are", arch,
        runs);
  } else if (std::ranges::any_of(ptx, compiles)) {
    finding.text = fmt::format(
        "no machine code for {}: the driver compiles PTX, which compile-time facts do not see ({})",
        arch, all);
  } else {
    finding.health = Health::fail;
    finding.text = fmt::format("no code for {}: this build has {}", arch, all);
  }
  return finding;
}

std::vector<Precondition> check_state(const metrics::GpuState& state) {
  Precondition mig{.id = "MIG", .health = Health::ok, .text = "off"};
  if (state.mig) {
    mig = {.id = "MIG",
           .health = Health::warn,
           .text = "on: a part of a GPU cannot be profiled",
           .remedy = "select a whole GPU with CUDA_VISIBLE_DEVICES, or sudo nvidia-smi -mig 0"};
  }
  Precondition clocks{.id = "clocks", .health = Health::ok};
  clocks.text = fmt::format("SM {} of {} MHz, memory {} of {} MHz, {} C", state.sm_clock_mhz,
                            state.max_sm_clock_mhz, state.memory_clock_mhz,
                            state.max_memory_clock_mhz, state.temperature_c);
  if (state.max_sm_clock_mhz == 0) {
    clocks = {.id = "clocks", .text = "NVML does not report them"};
  } else if (!state.throttling.empty()) {
    clocks.health = Health::warn;
    clocks.text += fmt::format("; slowed down: {}", fmt::join(state.throttling, ", "));
    clocks.remedy =
        "wait until it is cool, and see nvidia-smi -q -d PERFORMANCE,POWER; counts do not suffer";
  } else if (state.sm_clock_mhz < state.max_sm_clock_mhz) {
    clocks.text += " (idle or locked)";
  }
  Precondition others{.id = "other processes", .health = Health::ok, .text = "none uses this GPU"};
  if (state.processes > 0) {
    others.health = Health::warn;
    others.text = fmt::format(
        "{} on this GPU: times and hardware counters suffer, exact counts do "
        "not",
        state.processes);
    others.remedy = "nvidia-smi shows them: wait for them to end, or measure on another GPU";
  }
  return {std::move(mig), std::move(clocks), std::move(others)};
}

std::vector<Precondition> look_at_gpu(const HostProbe& here) {
  std::string arch;
  Precondition gpu{.id = id::kGpu, .health = Health::ok};
  std::optional<metrics::Device> device;
  try {
    if ((device = current_device())) {
      int count = 0;
      WARPGAUGE_CUDA(cudaGetDeviceCount(&count));
      gpu.text = fmt::format("{}, compute capability {}; {} visible", device->name,
                             device->compute_capability, count);
      arch = arch_of(*device);
    } else {
      gpu = none_visible(why_no_device(), here);
    }
  } catch (const metrics::CudaError& error) {
    gpu = failed_finding(id::kGpu, error.what());
  }
  int supported = 0;
  // Asked without a check: where there is no driver, 0 is the answer.
  if (cudaDriverGetVersion(&supported) != cudaSuccess) supported = 0;
  std::vector<Precondition> findings = {
      std::move(gpu),
      check_driver(supported, CUDART_VERSION, device ? device->driver : "the driver"),
      check_architectures(archs_of(embedded_cubins()), archs_of(embedded_ptx()), arch)};
  if (device) {
    std::ranges::move(state_findings(), std::back_inserter(findings));
  } else {
    for (const char* id : {"MIG", "clocks", "other processes"}) findings.push_back(no_gpu(id));
  }
  return findings;
}

}  // namespace warpgauge::doctor
