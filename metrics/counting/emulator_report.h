// The counts and faults of an emulated program, handed from that program to `warpgauge emulate`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "metrics/counting/device_fault.h"
#include "metrics/counting/line_counts.h"
#include "metrics/facts/fact.h"
#include "metrics/machine_code/kernel_resources.h"

namespace warpgauge::metrics {

/// A process that has launched kernels.
struct ReportedProcess {
  std::string id;  ///< its number, "-", and what makes it unique
  std::string program;
  bool ended = false;  ///< with a report; if not, its counts are missing

  bool operator==(const ReportedProcess&) const = default;
};

/// The machine code that a kernel was compared with. Members are empty where there is none.
struct ReportedCode {
  KernelResources resources;
  std::uint64_t shared_static_bytes = 0;
  std::string sass_hash;

  bool operator==(const ReportedCode&) const = default;
};

struct ReportedKernel {
  std::string name;                  ///< mangled
  std::uint64_t launches = 0;        ///< that began
  std::vector<Launch> counted = {};  ///< those whose counts were kept, by shape
  std::vector<ReportedCode> codes = {};

  void add(const ReportedCode& code);
};

/// What a process last did with the CUDA runtime.
struct ReportedRuntime {
  std::string program;
  std::string call;     ///< the last function
  std::string failure;  ///< the last that failed, with its error: "cudaFree: cudaErrorInvalidValue"
};

struct CountsReport {
  std::vector<LineCounts> lines = {};
  std::vector<DeviceFault> faults = {};
  std::vector<ReportedProcess> processes = {};
  std::vector<ReportedKernel> kernels = {};
  std::vector<ReportedRuntime> runtimes = {};
  std::vector<std::string> refused = {};  ///< calls that the program did not take for failed
};

/// Names the file that a program under the emulated runtime writes its report to when it ends.
inline constexpr const char* kReportVariable = "WARPGAUGE_EMULATED_REPORT";

class ReportError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Appends to the file, which several processes may do at once: a JSON line for each line of
/// counts, then one for each kernel, with the key "launches", one for each fault, with the key
/// "fault", one for each process that launched kernels, with the key "process", and one for each
/// that used the runtime, with the key "call", and each refused call, with the key "refused".
/// Throws ReportError.
void append_report(const std::filesystem::path& path, const CountsReport& report);

/// All that is in the file, lines of the same kernel, file and line added up, each kernel, process
/// and refused call once; empty if there is no such file. Throws ReportError.
CountsReport read_report(const std::filesystem::path& path);

}  // namespace warpgauge::metrics
