// Speed of counting accesses: items per second are accesses of a whole warp.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <random>

#include "metrics/counting/counting_rules.h"

namespace warpgauge::metrics {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;

template <typename Address>
std::array<Address, 32> strided(std::uint32_t stride) {
  std::array<Address, 32> addresses{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) addresses[lane] = 4096 + lane * stride;
  return addresses;
}

template <typename Address>
std::array<Address, 32> scattered(std::uint32_t width) {
  std::mt19937 random(7);
  std::array<Address, 32> addresses{};
  for (Address& address : addresses) {
    address = 4096 + static_cast<std::uint32_t>(random()) % 1024 * width;
  }
  return addresses;
}

void shared(benchmark::State& state, AccessKind kind, int width,
            const std::array<std::uint32_t, 32>& addresses, std::uint32_t mask = kAll) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(addresses.data());
    benchmark::ClobberMemory();
    benchmark::DoNotOptimize(shared_cost(kind, width, addresses.data(), mask));
  }
  state.SetItemsProcessed(state.iterations());
}

void global(benchmark::State& state, int width, const std::array<std::uint64_t, 32>& addresses) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(addresses.data());
    benchmark::ClobberMemory();
    benchmark::DoNotOptimize(global_cost(width, addresses.data(), kAll));
  }
  state.SetItemsProcessed(state.iterations());
}

void local(benchmark::State& state, int width, const std::array<std::uint32_t, 32>& offsets) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(offsets.data());
    benchmark::ClobberMemory();
    benchmark::DoNotOptimize(local_sectors(width, offsets.data(), kAll));
  }
  state.SetItemsProcessed(state.iterations());
}

using enum AccessKind;
const auto shared_strided = strided<std::uint32_t>;
const auto global_strided = strided<std::uint64_t>;

BENCHMARK_CAPTURE(shared, load_4_unit_stride, shared_load, 4, shared_strided(4));
BENCHMARK_CAPTURE(shared, load_4_half_the_lanes, shared_load, 4, shared_strided(4), 0x55555555);
BENCHMARK_CAPTURE(shared, load_4_broadcast, shared_load, 4, shared_strided(0));
BENCHMARK_CAPTURE(shared, load_4_padded_column, shared_load, 4, shared_strided(33 * 4));
BENCHMARK_CAPTURE(shared, load_4_column, shared_load, 4, shared_strided(32 * 4));
BENCHMARK_CAPTURE(shared, load_4_scattered, shared_load, 4, scattered<std::uint32_t>(4));
BENCHMARK_CAPTURE(shared, load_8_unit_stride, shared_load, 8, shared_strided(8));
BENCHMARK_CAPTURE(shared, load_16_unit_stride, shared_load, 16, shared_strided(16));
BENCHMARK_CAPTURE(shared, load_16_scattered, shared_load, 16, scattered<std::uint32_t>(16));
BENCHMARK_CAPTURE(shared, atomic_unit_stride, shared_atomic, 4, shared_strided(4));
BENCHMARK_CAPTURE(shared, ldmatrix_padded, ldmatrix, 16, shared_strided(144));
BENCHMARK_CAPTURE(shared, async_copy_bypass_unit_stride, async_copy_bypass, 16, shared_strided(16));
BENCHMARK_CAPTURE(global, unit_stride, 4, global_strided(4));
BENCHMARK_CAPTURE(global, column, 4, global_strided(4096));
BENCHMARK_CAPTURE(global, scattered, 4, scattered<std::uint64_t>(4));
BENCHMARK_CAPTURE(local, equal_offsets, 4, shared_strided(0));
BENCHMARK_CAPTURE(local, scattered, 4, scattered<std::uint32_t>(4));

}  // namespace
}  // namespace warpgauge::metrics
