// The common parts of benchmarks of emulated kernels: memory, the launch, the counters.
#pragma once

#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>

#include "harness/emulator/emulator.h"
#include "harness/runtime.h"
#include "metrics/counting/line_counts.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge::benchmarks {

/// Device memory for n floats, all zero.
class Floats {
 public:
  explicit Floats(std::size_t n) {
    WARPGAUGE_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), n * sizeof(float)));
    WARPGAUGE_CUDA(cudaMemset(data_, 0, n * sizeof(float)));
  }
  ~Floats() { cudaFree(data_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  operator float*() const { return data_; }

 private:
  float* data_ = nullptr;
};

/// Runs `launch` on as many threads as the benchmark's argument says.
inline void run(benchmark::State& state, const std::function<void()>& launch) {
  const int threads = static_cast<int>(state.range(0));
  emulate_arch(emulated_arch(), {}, threads);
  launch();  // decodes the kernel
  emulator::take_counts();
  for ([[maybe_unused]] auto iteration : state) {
    launch();
    WARPGAUGE_CUDA(cudaDeviceSynchronize());
  }
  std::uint64_t instructions = 0;
  for (const metrics::LineCounts& line : emulator::take_counts()) {
    instructions += line.counts.instructions;
  }
  if (instructions == 0) state.SkipWithError("nothing was executed");
  const auto total = static_cast<double>(instructions);
  state.counters["warp_instructions"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["per_thread"] = benchmark::Counter(total / threads, benchmark::Counter::kIsRate);
}

/// 1, 2, 4, ... of them, as the host has cores.
inline void threads(benchmark::internal::Benchmark* benchmark) {
  const int most = static_cast<int>(std::thread::hardware_concurrency());
  for (int n = 1; n <= most; n *= 2) benchmark->Arg(n);
  benchmark->ArgName("threads")->UseRealTime()->Unit(benchmark::kMillisecond);
}

}  // namespace warpgauge::benchmarks
