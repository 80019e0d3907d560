#include "harness/bench/stopwatch.h"

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>

#include "harness/meter.h"
#include "harness/runtime.h"
#include "warpgauge/cuda_error.h"
#include "warpgauge/problem.h"

namespace warpgauge::bench {
namespace {

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  WARPGAUGE_CUDA(cudaGetDevice(&device));
  WARPGAUGE_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

/// Lets the default stream wait until `word`, host memory that the GPU can read, is `number` or
/// more.
cudaError_t queue_wait(const std::uint32_t* word, std::uint32_t number) {
  constexpr unsigned kSinceVersion = 12000;  // of the function that needs no option of the driver
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  WARPGAUGE_CUDA(cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &entry, kSinceVersion,
                                                  cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  void* address = nullptr;
  WARPGAUGE_CUDA(cudaHostGetDevicePointer(&address, const_cast<std::uint32_t*>(word), 0));
  const auto wait =
      reinterpret_cast<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(entry);
  // The runtime's errors have the driver's numbers.
  return static_cast<cudaError_t>(
      wait(nullptr, reinterpret_cast<CUdeviceptr>(address), number, CU_STREAM_WAIT_VALUE_GEQ));
}

}  // namespace

Stopwatch::Stopwatch(const Case& one, Cache cache) : case_(one) {
  constexpr std::size_t kCopies = 3;
  problems_.push_back(one.make_problem());
  Problem& first = *problems_.front();
  first.reset();
  launch_in_range(one, first);
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
  if (cache == Cache::cold) {
    flushed_bytes_ = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize));
    WARPGAUGE_CUDA(cudaMalloc(&flushed_, flushed_bytes_));
    const bool fits = first.bytes() <= static_cast<double>(flushed_bytes_);
    while (fits && problems_.size() < kCopies) {
      problems_.push_back(one.make_problem());
      problems_.back()->reset();
    }
  }
  WARPGAUGE_CUDA(cudaEventCreate(&begin_));
  WARPGAUGE_CUDA(cudaEventCreate(&end_));
  if (!is_emulated()) prepare_hold();
}

void Stopwatch::prepare_hold() {
  constexpr std::chrono::milliseconds kLimit{50};  // far more than queueing takes on a slow host
  WARPGAUGE_CUDA(cudaHostAlloc(reinterpret_cast<void**>(&hold_ended_), sizeof(*hold_ended_),
                               cudaHostAllocMapped));
  *hold_ended_ = 0;
  if (const cudaError_t error = queue_wait(hold_ended_, 0); error != cudaSuccess) {
    why_not_held_ =
        fmt::format("the driver cannot hold launches back ({})", cudaGetErrorName(error));
    return;
  }
  hold_.emplace(*hold_ended_, kLimit);
}

Stopwatch::~Stopwatch() {
  hold_.reset();  // or what follows would wait for it
  // Errors here are earlier ones of the context, which have been reported where they arose.
  if (begin_ != nullptr) static_cast<void>(cudaEventDestroy(begin_));
  if (end_ != nullptr) static_cast<void>(cudaEventDestroy(end_));
  if (flushed_ != nullptr) static_cast<void>(cudaFree(flushed_));
  if (hold_ended_ != nullptr) static_cast<void>(cudaFreeHost(hold_ended_));
}

double Stopwatch::time_us() {
  while (hold_ && hold_->works()) {
    if (const auto us = run_us(true)) return *us;
  }
  if (hold_) why_not_held_ = "its launches wait for the GPU";
  return *run_us(false);
}

std::optional<double> Stopwatch::run_us(bool held) {
  if (flushed_ != nullptr) WARPGAUGE_CUDA(cudaMemsetAsync(flushed_, 0, flushed_bytes_, nullptr));
  if (held) WARPGAUGE_CUDA(queue_wait(hold_ended_, hold_->begin()));
  WARPGAUGE_CUDA(cudaEventRecord(begin_, nullptr));
  launch_in_range(case_, *problems_[next_]);
  WARPGAUGE_CUDA(cudaEventRecord(end_, nullptr));
  const bool in_time = !held || hold_->end();
  WARPGAUGE_CUDA(cudaEventSynchronize(end_));
  next_ = (next_ + 1) % problems_.size();
  if (!in_time) return std::nullopt;
  float milliseconds = 0;
  WARPGAUGE_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
  return 1000.0 * milliseconds;
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
