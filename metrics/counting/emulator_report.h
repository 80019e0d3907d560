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
  bool ended = false;  ///< it ended with a report; if not, its counts are missing

  bool operator==(const ReportedProcess&) const = default;
};

/// The machine code that a kernel was compared with. Members are empty where it is missing.
struct ReportedCode {
  KernelResources resources;
  std::uint64_t shared_static_bytes = 0;
  std::string sass_hash;

  bool operator==(const ReportedCode&) const = default;
};

struct ReportedKernel {
  std::string name;                  ///< mangled
  std::uint64_t launches = 0;        ///< launches that began
  std::vector<Launch> counted = {};  ///< the launches whose counts were kept, by shape
  std::vector<ReportedCode> codes = {};

  void add(const ReportedCode& code);
};

/// The last calls of a process to the CUDA runtime.
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
  /// Calls that are a fault of the program: it ignored a refusal, or went beyond memory.
  std::vector<std::string> refused = {};
  /// That a process asked for the driver's private tables, which tells why nothing was launched.
  std::vector<std::string> private_tables = {};
  std::vector<EmptyLaunches> empty_launches = {};
  bool replayed = false;    ///< the launch of the order to be replayed has come
  bool is_partial = false;  ///< a process could not write what it has counted
};

/// The environment variable with the file to which a program under the emulated runtime appends its
/// report when it ends.
inline constexpr const char* kReportVariable = "WARPGAUGE_EMULATED_REPORT";

class ReportError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Appends the report to the file as JSON lines; several processes may do so at once. There is a
/// line for each line of counts, and with a key of its own for each kernel ("launches"), fault
/// ("fault"), process that launched kernels ("process"), process that used the runtime ("call"),
/// refused call ("refused"), who asked for private tables ("tables"), kernel with empty launches
/// ("empty"), and one for the launch to be replayed ("replayed"). Throws ReportError where it
/// cannot be written, and leaves a mark of that beside the file.
void append_report(const std::filesystem::path& path, const CountsReport& report);

/// Reads the file. Counts of the same kernel, file and line are added up; each kernel, process and
/// refused call is there once. Empty if there is no such file. Throws ReportError.
CountsReport read_report(const std::filesystem::path& path);

}  // namespace warpgauge::metrics
