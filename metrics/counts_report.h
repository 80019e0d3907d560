// The counts of an emulated program, handed from that program to `warpgauge emulate`.
#pragma once

#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpgauge::metrics {

struct LineCounts;

/// Names the file that a program under the emulated runtime writes its counts to when it ends.
inline constexpr const char* kReportVariable = "WARPGAUGE_EMULATED_REPORT";

class ReportError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One JSON line for each of `lines`.
std::string report_text(std::span<const LineCounts> lines);
/// Appends one JSON line for each of `lines` to the file, which several processes may do at once.
/// Throws ReportError.
void append_report(const std::filesystem::path& path, std::span<const LineCounts> lines);

/// All that is in the file, lines of the same kernel, file and line added up; empty if there is no
/// such file. Throws ReportError.
std::vector<LineCounts> read_report(const std::filesystem::path& path);

}  // namespace warpgauge::metrics
