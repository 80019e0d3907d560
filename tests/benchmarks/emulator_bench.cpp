// How fast the emulator executes: warp instructions per second, counting included, with one thread
// and with two and more.
#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <thread>

#include "harness/emulator/emulator.h"
#include "metrics/line_counts.h"
#include "tests/benchmarks/emulator_kernels.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge::benchmarks {
namespace {

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
void run(benchmark::State& state, const std::function<void()>& launch) {
  emulator::Emulator& emulator = emulator::Emulator::instance();
  emulator::machine::Options options;
  options.threads = static_cast<int>(state.range(0));
  emulator.set_options(options);
  launch();  // decodes the kernel
  emulator.take_counts();
  for ([[maybe_unused]] auto iteration : state) {
    launch();
    WARPGAUGE_CUDA(cudaDeviceSynchronize());
  }
  std::uint64_t instructions = 0;
  for (const metrics::LineCounts& line : emulator.take_counts()) {
    instructions += line.counts.instructions;
  }
  if (instructions == 0) state.SkipWithError("nothing was executed");
  const auto total = static_cast<double>(instructions);
  state.counters["warp_instructions"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["per_thread"] =
      benchmark::Counter(total / options.threads, benchmark::Counter::kIsRate);
}

void threads(benchmark::internal::Benchmark* benchmark) {
  const int most = static_cast<int>(std::thread::hardware_concurrency());
  for (int n = 1; n <= most; n *= 2) benchmark->Arg(n);
  benchmark->ArgName("threads")->UseRealTime()->Unit(benchmark::kMillisecond);
}

void emulated_transpose(benchmark::State& state) {
  constexpr int kEdge = 1024;
  const Floats a(kEdge * kEdge), b(kEdge * kEdge);
  run(state, [&] { launch_transpose(b, a, kEdge, kEdge); });
}
BENCHMARK(emulated_transpose)->Apply(threads);

void emulated_reduce(benchmark::State& state) {
  constexpr int kCount = 1 << 22;
  const Floats a(kCount), sums(256);
  run(state, [&] { launch_reduce(sums, a, kCount); });
}
BENCHMARK(emulated_reduce)->Apply(threads);

void emulated_matmul_tiled(benchmark::State& state) {
  constexpr int kEdge = 256;
  const Floats a(kEdge * kEdge), b(kEdge * kEdge), c(kEdge * kEdge);
  run(state, [&] { launch_matmul_tiled(c, a, b, kEdge); });
}
BENCHMARK(emulated_matmul_tiled)->Apply(threads);

void emulated_matmul_register_blocked(benchmark::State& state) {
  constexpr int kEdge = 512;
  const Floats a(kEdge * kEdge), b(kEdge * kEdge), c(kEdge * kEdge);
  run(state, [&] { launch_matmul_register_blocked(c, a, b, kEdge); });
}
BENCHMARK(emulated_matmul_register_blocked)->Apply(threads);

}  // namespace
}  // namespace warpgauge::benchmarks
