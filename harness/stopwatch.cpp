#include "harness/stopwatch.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

#include "harness/run_facts.h"
#include "metrics/cuda_error.h"

namespace warpgauge {
namespace {

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  WARPGAUGE_CUDA(cudaGetDevice(&device));
  WARPGAUGE_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

}  // namespace

Stopwatch::Stopwatch(const Case& one, Cache cache) : case_(one), problem_(one.make_problem()) {
  problem_->reset();
  launch_in_range(one, *problem_);
  WARPGAUGE_CUDA(cudaDeviceSynchronize());
  Comparison comparison;
  const auto before = std::chrono::steady_clock::now();
  problem_->check(comparison);
  check_ms_ =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count();
  if (!comparison.compared()) throw std::runtime_error("its check compares nothing");
  if (!comparison.passed()) throw std::runtime_error("wrong result: " + comparison.failure());
  errors_ = comparison.errors();
  if (cache == Cache::cold) {
    flushed_bytes_ = 2 * static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize));
    WARPGAUGE_CUDA(cudaMalloc(&flushed_, flushed_bytes_));
  }
  WARPGAUGE_CUDA(cudaEventCreate(&begin_));
  WARPGAUGE_CUDA(cudaEventCreate(&end_));
}

Stopwatch::~Stopwatch() {
  // Errors here are earlier ones of the context, which have been reported where they arose.
  if (begin_ != nullptr) static_cast<void>(cudaEventDestroy(begin_));
  if (end_ != nullptr) static_cast<void>(cudaEventDestroy(end_));
  if (flushed_ != nullptr) static_cast<void>(cudaFree(flushed_));
}

double Stopwatch::time_us() {
  if (flushed_ != nullptr) WARPGAUGE_CUDA(cudaMemsetAsync(flushed_, 0, flushed_bytes_, nullptr));
  WARPGAUGE_CUDA(cudaEventRecord(begin_, nullptr));
  launch_in_range(case_, *problem_);
  WARPGAUGE_CUDA(cudaEventRecord(end_, nullptr));
  WARPGAUGE_CUDA(cudaEventSynchronize(end_));
  float milliseconds = 0;
  WARPGAUGE_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
  return 1000.0 * milliseconds;
}

double peak_bytes_per_second() {
  const double clock_hz = 1000.0 * attribute(cudaDevAttrMemoryClockRate);
  return 2 * clock_hz * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
}

}  // namespace warpgauge
