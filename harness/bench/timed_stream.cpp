// Records events around launches in the default stream, held back and with flushed caches if asked.
#include "harness/bench/timed_stream.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <chrono>

#include "harness/runtime.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge::bench {
namespace {

std::size_t l2_bytes() {
  int device = 0, bytes = 0;
  WARPGAUGE_CUDA(cudaGetDevice(&device));
  WARPGAUGE_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
  return static_cast<std::size_t>(bytes);
}

}  // namespace

TimedStream::TimedStream(Cache cache) {
  WARPGAUGE_CUDA(cudaEventCreate(&begin_));
  WARPGAUGE_CUDA(cudaEventCreate(&end_));
  if (!is_emulated()) prepare_hold();
  if (cache == Cache::hot) return;
  flushed_bytes_ = l2_bytes();
  WARPGAUGE_CUDA(cudaMalloc(&flushed_, flushed_bytes_));
}

void TimedStream::prepare_hold() {
  constexpr std::chrono::milliseconds kLimit{50};  // far more than queueing takes on a slow host
  WARPGAUGE_CUDA(cudaHostAlloc(reinterpret_cast<void**>(&hold_ended_), sizeof(*hold_ended_),
                               cudaHostAllocMapped));
  *hold_ended_ = 0;
  try {
    holding_kernel_.emplace(hold_ended_);
  } catch (const metrics::CudaError& error) {
    cannot_hold_ =
        fmt::format("the driver cannot hold launches back ({})", cudaGetErrorName(error.code()));
    return;
  }
  hold_.emplace(*hold_ended_, kLimit);
}

TimedStream::~TimedStream() {
  hold_.reset();  // or what follows would wait for it
  // Errors here are earlier ones of the context, which have been reported where they arose.
  if (begin_ != nullptr) static_cast<void>(cudaEventDestroy(begin_));
  if (end_ != nullptr) static_cast<void>(cudaEventDestroy(end_));
  if (flushed_ != nullptr) static_cast<void>(cudaFree(flushed_));
  if (hold_ended_ != nullptr) static_cast<void>(cudaFreeHost(hold_ended_));
}

void TimedStream::begin_case() {
  why_not_held_ = cannot_hold_;
  if (hold_) hold_->forget();
}

double TimedStream::time_us(const std::function<void()>& launch) {
  while (hold_ && hold_->works()) {
    if (const auto us = run_us(launch, true)) return *us;
  }
  if (hold_) why_not_held_ = "its launches wait for the GPU";
  return *run_us(launch, false);
}

std::optional<double> TimedStream::run_us(const std::function<void()>& launch, bool held) {
  if (flushed_ != nullptr) WARPGAUGE_CUDA(cudaMemsetAsync(flushed_, 0, flushed_bytes_, nullptr));
  if (held) {
    holding_kernel_->queue(hold_->begin());
    holding_kernel_->pass();
  }
  WARPGAUGE_CUDA(cudaEventRecord(begin_, nullptr));
  try {
    launch();
  } catch (...) {
    if (held) hold_->end();  // or what follows would wait for it
    throw;
  }
  WARPGAUGE_CUDA(cudaEventRecord(end_, nullptr));
  if (held) holding_kernel_->pass();
  const bool in_time = !held || hold_->end();
  WARPGAUGE_CUDA(cudaEventSynchronize(end_));
  if (!in_time) return std::nullopt;
  float milliseconds = 0;
  WARPGAUGE_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
  return 1000.0 * milliseconds;
}

}  // namespace warpgauge::bench
