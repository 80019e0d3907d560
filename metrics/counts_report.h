// The counts and faults of an emulated program, handed from that program to `warpgauge emulate`.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "metrics/device_fault.h"
#include "metrics/line_counts.h"

namespace warpgauge::metrics {

/// A process that has launched kernels.
struct ReportedProcess {
  std::string id;  ///< its number, "-", and what makes it unique
  std::string program;
  bool ended = false;  ///< with a report; if not, its counts are missing

  bool operator==(const ReportedProcess&) const = default;
};

struct CountsReport {
  std::vector<LineCounts> lines = {};
  std::vector<DeviceFault> faults = {};
  std::vector<ReportedProcess> processes = {};
};

/// Names the file that a program under the emulated runtime writes its report to when it ends.
inline constexpr const char* kReportVariable = "WARPGAUGE_EMULATED_REPORT";

class ReportError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One JSON line for each line of counts, then one for each fault, with the key "fault", then one
/// for each process, with the key "process".
std::string report_text(const CountsReport& report);
/// Appends report_text() to the file, which several processes may do at once. Throws ReportError.
void append_report(const std::filesystem::path& path, const CountsReport& report);

/// All that is in the file, lines of the same kernel, file and line added up, each process once;
/// empty if there is no such file. Throws ReportError.
CountsReport read_report(const std::filesystem::path& path);

}  // namespace warpgauge::metrics
