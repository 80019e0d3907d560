// Speed of copies of boxes of tensors, beside a plain copy of as many bytes.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "harness/emulator/machine/memory/tensor_box.h"

namespace warpgauge::emulator::machine::memory {
namespace {

constexpr std::uint32_t kRows = 64, kColumns = 64, kBytes = kRows * kColumns * 2;
constexpr std::uint64_t kTensorColumns = 1024, kTensorRows = 1024;

/// A tensor of f16 in memory that outlives it; boxes of 64x64.
TensorMap tensor(const std::vector<std::byte>& memory, Swizzle swizzle) {
  TensorMap map;
  map.type = TensorMap::Type::f16;
  map.rank = 2;
  map.address = (reinterpret_cast<std::uint64_t>(memory.data()) + 63) / 64 * 64;
  map.size = {kTensorColumns, kTensorRows, 1, 1, 1};
  map.stride[0] = kTensorColumns * 2;
  map.box = {kColumns, kRows, 1, 1, 1};
  map.swizzle = swizzle;
  return map;
}

/// The i-th box of the tensor.
BoxPlace box(std::uint32_t i) {
  BoxPlace place;
  place.coordinates[0] = static_cast<std::int32_t>(i * kColumns % kTensorColumns);
  place.coordinates[1] =
      static_cast<std::int32_t>(i * kColumns / kTensorColumns * kRows % kTensorRows);
  return place;
}

class Memories {
 public:
  std::vector<std::byte> global = std::vector<std::byte>(kTensorColumns * kTensorRows * 2 + 64);
  alignas(1024) std::byte shared[kBytes];
};

void done(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kBytes));
}

void tensor_load(benchmark::State& state, Swizzle swizzle) {
  Memories memories;
  const TensorMap map = tensor(memories.global, swizzle);
  std::uint32_t i = 0;
  for (auto _ : state) {
    load_box(map, box(i++), memories.shared, 0);
    benchmark::ClobberMemory();
  }
  done(state);
}

void tensor_store(benchmark::State& state, Swizzle swizzle) {
  Memories memories;
  const TensorMap map = tensor(memories.global, swizzle);
  std::uint32_t i = 0;
  for (auto _ : state) {
    store_box(map, box(i++), memories.shared, 0);
    benchmark::ClobberMemory();
  }
  done(state);
}

void tensor_use(benchmark::State& state) {
  Memories memories;
  const TensorMap map = tensor(memories.global, Swizzle::span_128);
  std::uint32_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(use_of(map, box(i++)));
  done(state);
}

/// The rows of the same boxes, without a tensor map.
void row_copies(benchmark::State& state) {
  Memories memories;
  const TensorMap map = tensor(memories.global, Swizzle::none);
  std::uint32_t i = 0;
  for (auto _ : state) {
    const BoxPlace place = box(i++);
    const auto* from = reinterpret_cast<const std::byte*>(map.address) +
                       place.coordinates[1] * map.stride[0] + place.coordinates[0] * 2;
    for (std::uint32_t row = 0; row < kRows; ++row) {
      std::memcpy(memories.shared + row * kColumns * 2, from + row * map.stride[0], kColumns * 2);
    }
    benchmark::ClobberMemory();
  }
  done(state);
}

void plain_copy(benchmark::State& state) {
  Memories memories;
  std::uint32_t i = 0;
  for (auto _ : state) {
    std::memcpy(memories.shared, memories.global.data() + i++ % 256 * kBytes, kBytes);
    benchmark::ClobberMemory();
  }
  done(state);
}

BENCHMARK_CAPTURE(tensor_load, 128B, Swizzle::span_128);
BENCHMARK_CAPTURE(tensor_load, none, Swizzle::none);
BENCHMARK_CAPTURE(tensor_store, 128B, Swizzle::span_128);
BENCHMARK(tensor_use);
BENCHMARK(row_copies);
BENCHMARK(plain_copy);

}  // namespace
}  // namespace warpgauge::emulator::machine::memory
