// The doctor's checks that count: the kernel of the self test, whose bank conflicts are known from
// theory, measured as the gate measures. Each uses CUDA, and a broken driver may crash in it: call
// them in a process of their own (see worker_pool.h). Errors of CUDA and CUPTI become preconditions
// that failed.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "harness/doctor/precondition.h"

namespace warpgauge::doctor {

/// Was this built with CUPTI, and do its libraries load?
Precondition check_cupti();

/// Counts the known kernel with CUPTI, or with the emulator in an emulated program.
Precondition check_exact_count();

/// Measures the known kernel in one session of the range profiler.
Precondition check_hardware_counters();

/// Asks the doctor of the emulated program `program` for its exact count. Each of its checks may
/// take half of `time_limit`, so that it ends before its caller is stopped.
Precondition check_emulator(const std::filesystem::path& program, std::chrono::seconds time_limit);

/// Was the CUDA toolkit that compiled the kernels tested with this version of warpgauge?
Precondition check_toolkit(std::string_view toolkit, std::string_view newest_tested);

/// Has the build kept the reports of ptxas on the kernels?
Precondition check_ptxas();

}  // namespace warpgauge::doctor
