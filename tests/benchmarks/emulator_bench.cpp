// Speed of the emulator: warp instructions per second, counting included, with one thread and with
// two and more.
#include "tests/benchmarks/emulated_launches.h"
#include "tests/benchmarks/emulator_kernels.h"

namespace warpgauge::benchmarks {
namespace {

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
