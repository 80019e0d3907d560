// The time of the launches of a case, by CUDA events.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/hold.h"
#include "harness/registry.h"
#include "warpgauge/comparison.h"

namespace warpgauge::bench {

/// The state of the L2 cache when a launch begins.
enum class Cache {
  cold,  ///< nothing of the problem: it is flushed before each launch
  hot    ///< what the launch before has left
};

/// Runs one case again and again, each time between two events of the default stream, which is held
/// back until the launches of the run are queued: a slow host makes no gaps between them. That
/// covers what is launched in the default stream and in streams that wait for it: all but those
/// made with cudaStreamNonBlocking. With a cold cache a problem that fits into it is there three
/// times, and the runs go round: no run finds the addresses of the one before.
///
/// The stream waits for a word of the host's memory (cuStreamWaitValue32). A kernel that spins
/// would do the same, and be compiled into every program for each architecture; a graph cannot have
/// all launches: allocations, legacy streams and many calls of libraries cannot be captured.
class Stopwatch {
 public:
  /// Makes the problem, runs it once and checks the result: what is wrong is not timed. Throws
  /// std::runtime_error with the difference, or metrics::CudaError.
  Stopwatch(const Case& one, Cache cache);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Microseconds of one more run. Inputs and outputs are left as the last run left them.
  double time_us();
  /// Why the GPU waited for the host in times so far, which are then the host's as well; empty if
  /// it did not. The emulator's launches run on the host: no word of them.
  const std::string& why_not_held() const { return why_not_held_; }

  const Problem& problem() const { return *problems_.front(); }
  /// Milliseconds of the problem's sequential solution on the CPU, the fastest of some runs; 0 if
  /// it has none. Independent of the GPU and of time_us().
  double sequential_ms();
  /// How far the result was from the reference.
  const Errors& errors() const { return errors_; }

 private:
  void prepare_hold();
  /// A run, held back if `held`; nothing if it could not be.
  std::optional<double> run_us(bool held);

  const Case& case_;
  std::vector<std::unique_ptr<Problem>> problems_;  ///< equal ones
  std::size_t next_ = 0;
  Errors errors_;
  void* flushed_ = nullptr;  ///< device memory as large as the L2 cache; null if hot
  std::size_t flushed_bytes_ = 0;
  std::uint32_t* hold_ended_ = nullptr;  ///< host memory that the GPU reads
  std::optional<Hold> hold_;             ///< nothing where launches cannot be held
  std::string why_not_held_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// The throughput that the current device's memory reaches in practice, in bytes per second: the
/// best of some runs of the runtime's copy (each byte read and written) and fill (written) of
/// 256 MiB.
double measured_peak_bytes_per_second();

}  // namespace warpgauge::bench
