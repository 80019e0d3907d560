// The doctor's checks of the machine without CUDA: files, variables, processes. They explain why
// counting fails; only counting shows whether it does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/doctor/precondition.h"

namespace warpgauge::doctor {

/// The machine as it is, or as a test sets it up.
struct HostProbe {
  std::filesystem::path root = "/";  ///< /proc, /sys, /tmp are looked for below it
  std::function<std::optional<std::string>(const char*)>
      variable;  ///< the value in the environment

  static HostProbe of_this_machine();
  std::filesystem::path at(const std::string& path) const;  ///< an absolute path below `root`
  /// The names of the visible processes, as the kernel keeps them: 15 characters.
  std::vector<std::string> processes() const;
};

/// NVIDIA GPUs on the PCI bus, whether a driver serves them or not.
int gpus_on_bus(const HostProbe& here);

/// May this process read performance counters (ERR_NVGPUCTRPERM)?
Precondition check_permission(const HostProbe& here);
/// Is there an MPS daemon, under which CUPTI cannot count?
Precondition check_mps(const HostProbe& here);
/// Is there another process that may have the counters: DCGM, a profiler, a debugger?
Precondition check_profilers(const HostProbe& here);
/// Do variables attach another tool to CUDA programs?
Precondition check_injection(const HostProbe& here);
/// Can the gate write its results into `out`? Writes nothing.
Precondition check_out(const std::filesystem::path& out);
/// Is enough of its disk free, for a folder that can be written?
Precondition check_room(const std::filesystem::path& out, std::uintmax_t free_bytes);
/// Can warpgauge-python in the folder `programs` be run, and does it have the packages that its
/// commands need? Runs it.
Precondition check_python(const std::filesystem::path& programs);

}  // namespace warpgauge::doctor
