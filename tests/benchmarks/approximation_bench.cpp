// Speed of approximate functions: items per second are instructions of a whole warp.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include "tests/emulator/alu_bench.h"

namespace warpgauge::emulator::machine {
namespace {

/// Each lane has values between 2^-8 and 2^8.
void approximation(benchmark::State& state, const std::string& instruction) {
  AluBench bench(isa::best_isa(), ".reg .f32 %d, %a, %b; .reg .f64 %dd, %da; .reg .b32 %dh, %ah;",
                 instruction);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponents(-8, 8);
  for (int lane = 0; lane < kLanes; ++lane) {
    const double value = std::exp2(exponents(random));
    if (bench.has("%a")) bench.reg<float>("%a")[lane] = static_cast<float>(value);
    if (bench.has("%b")) bench.reg<float>("%b")[lane] = static_cast<float>(1 / value);
    if (bench.has("%da")) bench.reg<double>("%da")[lane] = value;
    if (bench.has("%ah")) bench.reg<std::uint32_t>("%ah")[lane] = random();
  }
  for (auto _ : state) {
    bench.run();
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(approximation, ex2, "ex2.approx.f32 %d, %a;");
BENCHMARK_CAPTURE(approximation, ex2_ftz, "ex2.approx.ftz.f32 %d, %a;");
BENCHMARK_CAPTURE(approximation, lg2, "lg2.approx.f32 %d, %a;");
BENCHMARK_CAPTURE(approximation, rcp, "rcp.approx.f32 %d, %a;");
BENCHMARK_CAPTURE(approximation, rcp_ftz, "rcp.approx.ftz.f32 %d, %a;");
BENCHMARK_CAPTURE(approximation, rsqrt, "rsqrt.approx.f32 %d, %a;");
BENCHMARK_CAPTURE(approximation, sqrt, "sqrt.approx.f32 %d, %a;");
BENCHMARK_CAPTURE(approximation, sin, "sin.approx.f32 %d, %a;");
BENCHMARK_CAPTURE(approximation, cos, "cos.approx.f32 %d, %a;");
BENCHMARK_CAPTURE(approximation, tanh, "tanh.approx.f32 %d, %a;");
BENCHMARK_CAPTURE(approximation, div, "div.approx.f32 %d, %a, %b;");
BENCHMARK_CAPTURE(approximation, div_full, "div.full.f32 %d, %a, %b;");
BENCHMARK_CAPTURE(approximation, rcp_f64, "rcp.approx.ftz.f64 %dd, %da;");
BENCHMARK_CAPTURE(approximation, rsqrt_f64, "rsqrt.approx.f64 %dd, %da;");
BENCHMARK_CAPTURE(approximation, ex2_f16x2, "ex2.approx.f16x2 %dh, %ah;");
BENCHMARK_CAPTURE(approximation, tanh_bf16x2, "tanh.approx.bf16x2 %dh, %ah;");

}  // namespace
}  // namespace warpgauge::emulator::machine
