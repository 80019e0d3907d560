// What the doctor finds out by counting: one kernel whose bank conflicts are known from theory
// (that of the self test), on the way that the gate takes. Each of these uses CUDA, and may take a
// broken driver with it: call them in a process of its own (see isolate.h). None throws for what
// CUDA or CUPTI report; all say it as their finding.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "harness/doctor/precondition.h"

namespace warpgauge {

/// Was this built with CUPTI, and do its libraries load?
Precondition check_cupti();

/// Counts the known kernel with what counts here, CUPTI or the emulator.
Precondition check_exact_count();

/// Measures the known kernel in one session of the range profiler.
Precondition check_hardware_counters();

/// Asks the doctor of the emulated program `program` for its exact count. Each of its checks may
/// take half of `time_limit`, so that it ends before its caller is stopped.
Precondition check_emulator(const std::filesystem::path& program, std::chrono::seconds time_limit);

/// Has the build kept what ptxas said of the kernels?
Precondition check_ptxas();

}  // namespace warpgauge
