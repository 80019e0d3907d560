// The functions that the emulator has beside those of every runtime (harness/runtime.h). A process
// has one emulator. The functions of the CUDA runtime (runtime/) use the same one.
#pragma once

#include <string>
#include <vector>

namespace warpgauge::metrics {
struct DeviceFault;
struct EmptyLaunches;
struct LineCounts;
}  // namespace warpgauge::metrics

namespace warpgauge::emulator {

class LaunchWatch;

/// Tells `watch` of the launches from now on. A process forked from this one starts without the
/// counts, accesses and faults that its parent has so far.
void watch_launches(LaunchWatch* watch);

/// The counts of the kernels that ended since the last call, ordered by kernel, file and line, with
/// the cures of the accesses since take_accesses(). A kernel that still runs is left out. The warp
/// instructions and divergent branches of a kernel have no line (file empty, line 0).
std::vector<metrics::LineCounts> take_counts();

/// The launches since the last call that could not begin, even if the program did not look at the
/// error.
std::vector<metrics::DeviceFault> take_failed_launches();
/// Launches with an empty grid since the last call, whose errors the program has taken.
std::vector<metrics::EmptyLaunches> take_empty_launches();

/// The calls of functions that are not emulated, in order, a sentence each. A call is dropped when
/// the program takes its error with cudaGetLastError().
std::vector<std::string> refused_calls();

/// A sentence if the program asked the driver for its private tables, which is why a runtime that
/// is part of it does not work; empty: it did not.
std::string private_tables();

/// The copies and fills since the last call that went beyond their memory, a sentence each, even if
/// the program did not look at the error.
std::vector<std::string> take_wrong_calls();

/// Whether the launch of the order that is to be replayed has come.
bool order_was_replayed();

/// The name of the last function of the CUDA runtime that was called; empty without one.
std::string last_call();

/// The last function that failed, with its error; empty without one.
std::string last_failure();

}  // namespace warpgauge::emulator
