// Speed of wgmma on one core of the emulator, beside a plain loop of the same product: FLOP/s count
// a multiplication and an addition of each pair of elements of the whole warpgroup.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine {
namespace {

constexpr int kRounds = 200;
constexpr std::uint32_t kTileBytes = 32 * 1024, kSharedBytes = 2 * kTileBytes;

void count_flops(benchmark::State& state, double products) {
  state.counters["FLOP/s"] =
      benchmark::Counter(2 * products * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate, benchmark::Counter::kIs1000);
}

/// `kRounds` times m64nNkK of tiles with 128 bytes of swizzling.
std::string kernel(int n, const std::string& form, const std::string& immediates) {
  std::string sums;
  for (int i = 0; i < n / 2; ++i) sums += (i == 0 ? "%d" : ", %d") + std::to_string(i);
  const std::uint64_t descriptor = 1 | std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
  const std::string a = std::to_string(descriptor - 1);
  const std::string b = std::to_string(descriptor - 1 + (kTileBytes >> 4));
  return ".version 8.0\n.target sm_90a\n.address_size 64\n"
         ".extern .shared .align 1024 .b8 tiles[];\n"
         ".visible .entry k() {\n"
         ".reg .pred %p<2>; .reg .b32 %r<2>, %d<128>; .reg .b64 %a, %b;\n"
         "mov.u64 %a, " +
         a + "; mov.u64 %b, " + b +
         "; mov.u32 %r0, 0;\n"
         "setp.eq.s32 %p0, %r0, %r0;\n"
         "next: wgmma.fence.sync.aligned;\n"
         "wgmma.mma_async.sync.aligned.m64n" +
         std::to_string(n) + form + " {" + sums + "}, %a, %b, %p0" + immediates +
         ";\n"
         "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
         "add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, " +
         std::to_string(kRounds) +
         ";\n"
         "@%p1 bra next; ret;\n}\n";
}

void multiply(benchmark::State& state, int k, const std::string& form,
              const std::string& immediates) {
  const int n = static_cast<int>(state.range(0));
  Options options;
  options.threads = 1;
  Machine machine(Architecture{}, options);
  Kernel* const found =
      machine.find_kernel(machine.load(ptx::parse(kernel(n, form, immediates), "bench.ptx")), "k");
  Launch launch;
  launch.block = {128, 1, 1};
  launch.dynamic_shared_bytes = kSharedBytes;
  machine.run(*found, launch);  // decodes
  for (auto _ : state) machine.run(*found, launch);
  count_flops(state, 64.0 * n * k * kRounds);
}

void wgmma_halves(benchmark::State& state) {
  multiply(state, 16, "k16.f32.f16.f16", ", 1, 1, 0, 0");
}
BENCHMARK(wgmma_halves)->Arg(64)->Arg(128)->Arg(256);
void wgmma_halves_n_major(benchmark::State& state) {
  multiply(state, 16, "k16.f32.f16.f16", ", 1, 1, 0, 1");
}
BENCHMARK(wgmma_halves_n_major)->Arg(128);
void wgmma_e4m3(benchmark::State& state) { multiply(state, 32, "k32.f32.e4m3.e4m3", ", 1, 1"); }
BENCHMARK(wgmma_e4m3)->Arg(128);
void wgmma_bytes(benchmark::State& state) { multiply(state, 32, "k32.s32.s8.s8", ""); }
BENCHMARK(wgmma_bytes)->Arg(128);
void wgmma_tf32(benchmark::State& state) { multiply(state, 8, "k8.f32.tf32.tf32", ", 1, 1"); }
BENCHMARK(wgmma_tf32)->Arg(128);

/// A peer: rows of B are added to rows of C, in floats.
void plain_loop(benchmark::State& state) {
  constexpr int kM = 64, kK = 16;
  const auto n = static_cast<std::size_t>(state.range(0));
  std::vector<float> a(kM * kK, 1), b(kK * n, 1), c(kM * n);
  for (auto _ : state) {
    for (std::size_t row = 0; row < kM; ++row) {
      for (std::size_t k = 0; k < kK; ++k) {
        const float left = a[row * kK + k];
        for (std::size_t i = 0; i < n; ++i) c[row * n + i] += left * b[k * n + i];
      }
    }
    benchmark::DoNotOptimize(c.data());
    benchmark::ClobberMemory();
  }
  count_flops(state, static_cast<double>(kM * kK * n));
}
BENCHMARK(plain_loop)->Arg(128)->Arg(256);

}  // namespace
}  // namespace warpgauge::emulator::machine
