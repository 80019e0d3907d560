// The time of the launches of a case, by CUDA events.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "harness/bench/timed_stream.h"
#include "harness/cases/registry.h"
#include "warpgauge/comparison.h"

namespace warpgauge::bench {

/// Runs one case again and again, each time in the timed stream. With a cold cache a problem that
/// fits into it is there three times, and the runs go round: no run finds the addresses of the one
/// before.
class Stopwatch {
 public:
  /// Makes the problem, runs it once and checks the result: what is wrong is not timed. Throws
  /// std::runtime_error with the difference, or metrics::CudaError.
  Stopwatch(const Case& timed, TimedStream& stream);
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Microseconds of one more run. Inputs and outputs are left as the last run left them.
  double time_us();
  const std::string& why_not_held() const { return stream_.why_not_held(); }  ///< as there

  const Problem& problem() const { return *problems_.front(); }
  /// Milliseconds of the problem's sequential solution on the CPU, the fastest of some runs; 0 if
  /// it has none. Independent of the GPU and of time_us().
  double sequential_ms();
  /// How far the result was from the reference.
  const Errors& errors() const { return errors_; }

 private:
  const Case& case_;
  TimedStream& stream_;
  std::vector<std::unique_ptr<Problem>> problems_;  ///< equal ones
  std::size_t next_ = 0;
  Errors errors_;
};

/// The throughput that the current device's memory reaches in practice, in bytes per second: the
/// best of some runs of the runtime's copy (each byte read and written) and fill (written) of
/// 256 MiB.
double measured_peak_bytes_per_second();

}  // namespace warpgauge::bench
