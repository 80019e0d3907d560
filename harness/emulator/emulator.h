// The emulator as its process sees it: what it pretends to be, and what it counted. The functions
// of the CUDA runtime (runtime/) work on the same single instance.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/machine/core/options.h"
#include "metrics/counting/coverage.h"

namespace warpgauge::metrics {
struct DeviceFault;
struct LineAccess;
struct LineCounts;
}  // namespace warpgauge::metrics

namespace warpgauge::emulator {

class LaunchWatch;

class Emulator {
 public:
  static Emulator& instance();

  /// The architecture of the emulated GPU: "sm_90" (also "sm_90a"), any of
  /// metrics::architectures(). By default the value of the environment variable
  /// WARPGAUGE_EMULATED_ARCH, else sm_90. Throws std::invalid_argument if unknown, std::logic_error
  /// if the device is in use already (cudaDeviceReset ends that).
  void choose_architecture(std::string_view arch);
  std::string architecture() const;
  /// The architectures that every fat binary registered so far holds PTX for. Throws
  /// metrics::FatBinaryError.
  std::vector<std::string> architectures() const;

  /// Older PTX is run where there is none for the architecture, as the driver would. The counts are
  /// those of other code than the GPU would run then, and predicted at best. Off unless the
  /// environment variable WARPGAUGE_EMULATED_OLDER_PTX is 1.
  void allow_older_ptx(bool allow);

  /// How kernels run from now on. `print` and what CUDA's limits set (stack, heap, printf) are kept
  /// as they are.
  void set_options(const machine::Options& options);

  /// Messages count allocations from 1 again ("cudaMalloc #1").
  void number_allocations_anew();

  /// An access of a kernel that would write to this memory, of cudaMalloc, is a fault from now on;
  /// `why` ends its text.
  void let_kernels_only_read(void* memory, const std::string& why);

  /// Tells `watch` of the launches from now on. In a process that is forked from this one, counts,
  /// accesses and faults of before the fork are the parent's alone.
  void watch_launches(LaunchWatch* watch);

  /// Sets the checks from now on: see machine::Checks, machine::Options::schedules.
  void check(const machine::Checks& checks, int schedules);

  // Results can be taken while a kernel runs, too: they are of the kernels that have ended.

  /// The counts of kernels that ran to their end since the last call (or ever),
  /// ordered by kernel, file and line, with the cures of the accesses since take_accesses(). Warp
  /// instructions and divergent branches of a kernel have no line (file empty, line 0).
  std::vector<metrics::LineCounts> take_counts();

  /// The accesses of their lines that show most, since the last call: see AccessTable::take().
  std::vector<metrics::LineAccess> take_accesses();

  /// From now on launches count which lines and branches they run, which takes time. With
  /// `with_unlaunched`, code that is there at a launch is listed though it never runs.
  void count_coverage(bool with_unlaunched = false);
  /// The lines that kernels have run since the last call, of kernels that ran to their end.
  metrics::Coverage take_coverage();
  /// The device code registered since the last call, as what never ran.
  metrics::Coverage code_to_cover();

  /// The faults of kernels since the last call, the latest last. A device has one until it is
  /// reset.
  std::vector<metrics::DeviceFault> take_faults();
  /// The findings of the checks of accesses since the last call, each pair of lines once a launch.
  std::vector<metrics::DeviceFault> take_findings();
  /// The launches since the last call that could not begin, whether or not the program looked at
  /// the error.
  std::vector<metrics::DeviceFault> take_failed_launches();
  /// Calls of the CUDA runtime that are not emulated, in order, a sentence each: those whose error
  /// the program has not taken with cudaGetLastError().
  std::vector<std::string> refused_calls() const;
  /// The last call of the CUDA runtime, and the last that failed, with its error: empty without
  /// one.
  std::string last_call() const;
  std::string last_failure() const;
};

}  // namespace warpgauge::emulator
