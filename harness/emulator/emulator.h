// The emulator's own functions, beside those that every runtime has (harness/runtime.h). A process
// has one emulator, on which the functions of the CUDA runtime (runtime/) work, too.
#pragma once

#include <string>
#include <vector>

namespace warpgauge::metrics {
struct DeviceFault;
struct LineCounts;
}  // namespace warpgauge::metrics

namespace warpgauge::emulator {

class LaunchWatch;

/// Tells `watch` of the launches from now on. In a process that is forked from this one, counts,
/// accesses and faults of before the fork are the parent's alone.
void watch_launches(LaunchWatch* watch);

/// The counts of the kernels that ended since the last call (or ever), ordered by kernel, file and
/// line, with the cures of the accesses since take_accesses(). A kernel that still runs is not
/// among them. Warp instructions and divergent branches of a kernel have no line (file empty, line
/// 0).
std::vector<metrics::LineCounts> take_counts();

/// The launches since the last call that could not begin, whether or not the program looked at
/// the error.
std::vector<metrics::DeviceFault> take_failed_launches();

/// Calls of the CUDA runtime that are not emulated, in order, a sentence each: those whose error
/// the program has not taken with cudaGetLastError().
std::vector<std::string> refused_calls();

/// The copies and fills since the last call that went beyond their memory, a sentence each, whether
/// or not the program looked at the error.
std::vector<std::string> take_wrong_calls();

/// The last call of the CUDA runtime; empty without one.
std::string last_call();

/// The last call that failed, with its error; empty without one.
std::string last_failure();

}  // namespace warpgauge::emulator
