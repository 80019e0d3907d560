// Times the launches of a case, on buffers that are made once.
#include "harness/bench/stopwatch.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>

#include "harness/measuring/case_runner.h"
#include "harness/runtime.h"
#include "warpgauge/cuda_error.h"
#include "warpgauge/problem.h"

namespace warpgauge::bench {
Stopwatch::Stopwatch(const Case& timed, TimedStream& stream) : case_(timed), stream_(stream) {
  constexpr std::size_t kCopies = 3;
  problems_.push_back(timed.problem());
  Problem& first = *problems_.front();
  first.reset();
  launch_in_range(timed, first);
  WARPGAUGE_CUDA(cudaDeviceSynchronize());
  const std::string overwritten = first.overwritten_input();
  if (!overwritten.empty()) throw std::runtime_error(overwritten);
  Comparison comparison;
  first.check(comparison);
  if (!comparison.compared() && !comparison.is_counts_only()) {
    throw std::runtime_error("its check compares nothing");
  }
  if (!comparison.passed()) throw std::runtime_error("wrong result: " + comparison.failure());
  errors_ = comparison.errors();
  const bool fits_cache = first.bytes() <= static_cast<double>(stream.flushed_bytes());
  while (stream.flushed_bytes() > 0 && fits_cache && problems_.size() < kCopies) {
    problems_.push_back(timed.problem());
    problems_.back()->reset();
  }
  stream.begin_case();
}

double Stopwatch::time_us() {
  return stream_.time_us([this] {
    launch_in_range(case_, *problems_[next_]);
    next_ = (next_ + 1) % problems_.size();
  });
}

double measured_peak_bytes_per_second() {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  constexpr int kRuns = 9;
  const auto fastest = [&](double moved, const std::function<void()>& move) {
    double best_ms = 0;
    cudaEvent_t begin = nullptr, end = nullptr;
    WARPGAUGE_CUDA(cudaEventCreate(&begin));
    WARPGAUGE_CUDA(cudaEventCreate(&end));
    for (int run = 0; run < kRuns; ++run) {
      WARPGAUGE_CUDA(cudaEventRecord(begin, nullptr));
      move();
      WARPGAUGE_CUDA(cudaEventRecord(end, nullptr));
      WARPGAUGE_CUDA(cudaEventSynchronize(end));
      float ms = 0;
      WARPGAUGE_CUDA(cudaEventElapsedTime(&ms, begin, end));
      if (run == 0 || ms < best_ms) best_ms = ms;
    }
    WARPGAUGE_CUDA(cudaEventDestroy(begin));
    WARPGAUGE_CUDA(cudaEventDestroy(end));
    return 1000 * moved / best_ms;
  };
  void *from = nullptr, *to = nullptr;
  WARPGAUGE_CUDA(cudaMalloc(&from, kBytes));
  WARPGAUGE_CUDA(cudaMalloc(&to, kBytes));
  const double copied = fastest(2.0 * kBytes, [&] {
    WARPGAUGE_CUDA(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToDevice, nullptr));
  });
  const double set =
      fastest(1.0 * kBytes, [&] { WARPGAUGE_CUDA(cudaMemsetAsync(to, 0, kBytes, nullptr)); });
  WARPGAUGE_CUDA(cudaFree(from));
  WARPGAUGE_CUDA(cudaFree(to));
  return std::max(copied, set);
}

double Stopwatch::sequential_ms() {
  constexpr double kEnoughMs = 300;
  using Clock = std::chrono::steady_clock;
  double fastest = 0, total = 0;
  while (total < kEnoughMs) {
    const auto before = Clock::now();
    if (!problems_.front()->solve_sequentially()) return 0;
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - before).count();
    fastest = total == 0 ? ms : std::min(fastest, ms);
    total += ms;
  }
  return fastest;
}

}  // namespace warpgauge::bench
