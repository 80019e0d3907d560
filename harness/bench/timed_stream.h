// The default stream, with what it takes to time launches in it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "harness/bench/hold.h"
#include "harness/bench/holding_kernel.h"

namespace warpgauge::bench {

/// The state of the L2 cache when a launch begins.
enum class Cache {
  cold,  ///< nothing of the problem: it is flushed before each launch
  hot    ///< the cache is as the launch before has left it
};

/// Times launches between two events of the default stream, which is held back until they are
/// queued: a slow host makes no gaps between them. That covers what is launched in the default
/// stream and in streams that wait for it: all but those made with cudaStreamNonBlocking.
///
/// A kernel that spins holds it (HoldingKernel), and one that ends at once stands on either side of
/// what is timed: without those two the medians of processes are up to 11 % apart for kernels of 6
/// to 10 us on an H200, with them 4 %. With a wait of the stream itself (cuStreamWaitValue32) they
/// are up to 7 % from nvbench's. A graph cannot have all launches: allocations, legacy streams and
/// many calls of libraries cannot be captured.
///
/// One serves all cases of a process: to make it takes longer than to time most of them.
class TimedStream {
 public:
  explicit TimedStream(Cache cache);  ///< throws metrics::CudaError
  ~TimedStream();
  TimedStream(const TimedStream&) = delete;
  TimedStream& operator=(const TimedStream&) = delete;

  /// The size of the L2 cache, which is flushed before each run; 0 if it stays hot.
  std::size_t flushed_bytes() const { return flushed_bytes_; }
  /// Says that other launches follow: waits of earlier ones are forgotten.
  void begin_case();
  /// Microseconds that the GPU took for what `launch` launches. Throws what that throws.
  double time_us(const std::function<void()>& launch);
  /// Why the GPU waited for the host in times since begin_case(), which are then the host's as
  /// well; empty if it did not. The emulator's launches run on the host: no word of them.
  const std::string& why_not_held() const { return why_not_held_; }

 private:
  void prepare_hold();
  /// A run, held back if `held`; nothing if it could not be.
  std::optional<double> run_us(const std::function<void()>& launch, bool held);

  void* flushed_ = nullptr;  ///< device memory as large as the L2 cache; null if hot
  std::size_t flushed_bytes_ = 0;
  std::uint32_t* hold_ended_ = nullptr;  ///< host memory that the GPU reads
  std::optional<HoldingKernel> holding_kernel_;
  std::optional<Hold> hold_;  ///< nothing where launches cannot be held
  std::string cannot_hold_, why_not_held_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace warpgauge::bench
