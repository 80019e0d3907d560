// CUPTI on a real GPU: exact counts of kernels whose counts are known by heart. Compile with
// -lineinfo. The kernels' counts hold on every architecture since Turing unless a test says more.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "metrics/counting/line_counts.h"
#include "metrics/cupti/cupti.h"
#include "metrics/facts/catalog.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge::metrics {
namespace cupti_test {

constexpr int kSide = 1024;                 // of the matrix
constexpr int kTile = 32;                   // of a tile; a warp is one row of it
constexpr int kWarps = kSide * kSide / 32;  // 32,768 warps when each lane handles an element

// Each block moves a 32x32 tile through shared memory; kPitch 32 reads columns that lie in one
// bank, kPitch 33 spreads them over all.
template <int kPitch>
__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[kTile * kPitch];
  const int x = blockIdx.x * kTile + threadIdx.x;
  const int y = blockIdx.y * kTile + threadIdx.y;
  tile[threadIdx.y * kPitch + threadIdx.x] = in[y * kSide + x];
  __syncthreads();
  out[(blockIdx.x * kTile + threadIdx.y) * kSide + blockIdx.y * kTile + threadIdx.x] =
      tile[threadIdx.x * kPitch + threadIdx.y];
}

constexpr int kNaiveLine = __LINE__ + 4;  // of the store
__global__ void transpose_naive(const float* in, float* out) {
  const int x = blockIdx.x * kTile + threadIdx.x;
  const int y = blockIdx.y * kTile + threadIdx.y;
  out[x * kSide + y] = in[y * kSide + x];
}

// One warp. Lanes are `stride` floats apart.
__global__ void strided_load(const float* in, float* out, int stride) {
  out[threadIdx.x] = in[threadIdx.x * stride];
}

// One warp adds to one word. Atomics of a whole warp on one address may be merged into one lane
// by the compiler, so each lane has a word of its own.
__global__ void atomic_add(float* out) { atomicAdd(out + threadIdx.x, 1.0f); }
__global__ void atomic_exchange(float* out) {
  out[threadIdx.x] = atomicExch(out + 32 + threadIdx.x, 1.0f);
}

constexpr int kColumnLine = __LINE__ + 2;  // of the load
__device__ __noinline__ float of_column(const float* tile, int column) {
  return tile[threadIdx.x * kTile + column];
}
__global__ void calls(float* out) {
  __shared__ float tile[kTile * kTile];
  for (int row = 0; row < kTile; ++row) tile[row * kTile + threadIdx.x] = row;
  __syncwarp();
  out[threadIdx.x] = of_column(tile, 1) + of_column(tile, 2);
}

// The index is known at run time only, so the array must live in local memory.
__global__ void local_array(float* out, int index) {
  float values[64];
  for (int i = 0; i < 64; ++i) values[(i * index) % 64] = out[i];
  out[threadIdx.x] = values[(threadIdx.x + index) % 64];
}

__global__ void async_copy(const float* in, float* out) {
  __shared__ float stage[32];
  __pipeline_memcpy_async(stage + threadIdx.x, in + threadIdx.x, sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  out[threadIdx.x] = stage[threadIdx.x];
}

// The loop of different lengths cannot be turned into predicated instructions.
__global__ void divergent(float* out) {
  float sum = 0;
  if (threadIdx.x % 2 == 0) {
    for (int i = 0; i < static_cast<int>(threadIdx.x); ++i) sum += out[i + 32] * sum + 1;
  } else {
    sum = out[threadIdx.x + 64];
  }
  out[threadIdx.x] = sum;
}

__global__ void uniform(float* out) { out[threadIdx.x] = 1; }

}  // namespace cupti_test

namespace {

using namespace cupti_test;  // NOLINT: the kernels above, named so that their symbols are stable

const dim3 kGrid(kSide / kTile, kSide / kTile);
const dim3 kBlock(kTile, kTile);

// The reason why CUPTI cannot be used here; empty if it can. The first question makes a counter
// before there is any CUDA context, as programs should.
const std::string& why_not() {
  static const std::string kReason = []() -> std::string {
    try {
      SassCounter counter;
      return "";
    } catch (const Unmeasured& error) {
      return error.what();
    }
  }();
  return kReason;
}

class CuptiGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!why_not().empty()) GTEST_SKIP() << why_not();
    WARPGAUGE_CUDA(cudaMalloc(&in_, kBytes));
    WARPGAUGE_CUDA(cudaMalloc(&out_, kBytes));
    clear();
  }
  void TearDown() override {
    cudaFree(in_);
    cudaFree(out_);
  }
  void clear() {
    WARPGAUGE_CUDA(cudaMemset(in_, 0, kBytes));
    WARPGAUGE_CUDA(cudaMemset(out_, 0, kBytes));
  }

  std::vector<LineCounts> lines_of(SassCounter& counter, const std::function<void()>& launch) {
    return counter.count(launch);
  }
  Counts count(SassCounter& counter, const std::function<void()>& launch) {
    Counts sum;
    for (const LineCounts& line : lines_of(counter, launch)) sum += line.counts;
    return sum;
  }

  static constexpr std::size_t kBytes = sizeof(float) * kSide * kSide;
  float* in_ = nullptr;
  float* out_ = nullptr;
};

TEST_F(CuptiGpu, ChipIsOneOfCuptis) {
  EXPECT_THAT(cupti_chips(), ::testing::Contains(current_chip()));
  EXPECT_TRUE(chip_support(current_chip()).measures(metric("shared.bank_conflicts")));
}

TEST_F(CuptiGpu, UnpaddedTransposeHasThirtyOneConflictsPerWarp) {
  SassCounter counter;
  const Counts counts = count(counter, [&] { transpose<32><<<kGrid, kBlock>>>(in_, out_); });
  EXPECT_EQ(counts.shared_requests, 2u * kWarps);
  EXPECT_EQ(counts.shared_wavefronts_ideal, 2u * kWarps);
  EXPECT_EQ(counts.shared_wavefronts, 33u * kWarps);
  EXPECT_EQ(counts.global_load_requests, static_cast<std::uint64_t>(kWarps));
  EXPECT_EQ(counts.global_load_sectors, 4u * kWarps);
  EXPECT_EQ(counts.global_store_sectors, 4u * kWarps);
  EXPECT_EQ(counts.global_sectors_ideal, 8u * kWarps);
  EXPECT_EQ(counts.global_atomic_requests, 0u);
  EXPECT_EQ(counts.local_requests, 0u);
  EXPECT_EQ(counts.divergent_branches, 0u);
}

TEST_F(CuptiGpu, PaddedTransposeHasNoConflict) {
  SassCounter counter;
  const Counts counts = count(counter, [&] { transpose<33><<<kGrid, kBlock>>>(in_, out_); });
  EXPECT_EQ(counts.shared_wavefronts, 2u * kWarps);
  EXPECT_EQ(counts.shared_wavefronts_ideal, 2u * kWarps);
}

TEST_F(CuptiGpu, NaiveStoreTouchesThirtyTwoSectorsOnItsLine) {
  SassCounter counter;
  const auto lines = lines_of(counter, [&] { transpose_naive<<<kGrid, kBlock>>>(in_, out_); });
  const auto worst = std::ranges::max_element(
      lines, {}, [](const LineCounts& line) { return line.counts.global_store_sectors; });
  ASSERT_NE(worst, lines.end());
  EXPECT_EQ(worst->counts.global_store_requests, static_cast<std::uint64_t>(kWarps));
  EXPECT_EQ(worst->counts.global_store_sectors, 32u * kWarps);
  EXPECT_THAT(worst->kernel, ::testing::HasSubstr("transpose_naive"));
  EXPECT_TRUE(worst->file.ends_with("cupti_gpu_test.cu")) << "'" << worst->file << "'";
  EXPECT_EQ(worst->line, kNaiveLine);
}

TEST_F(CuptiGpu, StrideDecidesTheSectors) {
  SassCounter counter;
  const std::map<int, std::uint64_t> expected = {{0, 1},  {1, 4},  {2, 8},
                                                 {4, 16}, {8, 32}, {64, 32}};
  for (const auto& [stride, sectors] : expected) {
    const Counts counts =
        count(counter, [&, s = stride] { strided_load<<<1, 32>>>(in_, out_, s); });
    EXPECT_EQ(counts.global_load_requests, 1u) << stride;
    EXPECT_EQ(counts.global_load_sectors, sectors) << stride;
    EXPECT_EQ(counts.global_store_sectors, 4u) << stride;
  }
}

TEST_F(CuptiGpu, AtomicsAreNeitherLoadsNorStores) {
  SassCounter counter;
  const Counts reduction = count(counter, [&] { atomic_add<<<1, 32>>>(out_); });
  EXPECT_EQ(reduction.global_atomic_requests, 1u);
  EXPECT_EQ(reduction.global_atomic_sectors, 4u);
  EXPECT_EQ(reduction.global_load_requests + reduction.global_store_requests, 0u);
  const Counts exchange = count(counter, [&] { atomic_exchange<<<1, 32>>>(out_); });
  EXPECT_EQ(exchange.global_atomic_requests, 1u);
  EXPECT_EQ(exchange.global_atomic_sectors, 4u);
  EXPECT_EQ(exchange.global_store_sectors, 4u);
}

TEST_F(CuptiGpu, FunctionsThatAreNotInlinedAreSeen) {
  SassCounter counter;
  const auto lines = lines_of(counter, [&] { calls<<<1, 32>>>(out_); });
  const auto worst = std::ranges::max_element(
      lines, {}, [](const LineCounts& line) { return line.counts.shared_wavefronts; });
  ASSERT_NE(worst, lines.end());
  EXPECT_EQ(worst->counts.shared_wavefronts, 2u * 32);
  EXPECT_EQ(worst->counts.shared_requests, 2u);
  EXPECT_EQ(worst->line, kColumnLine);
  EXPECT_THAT(worst->kernel, ::testing::HasSubstr("calls"));
}

TEST_F(CuptiGpu, LocalArrayIsSeen) {
  SassCounter counter;
  const Counts counts = count(counter, [&] { local_array<<<1, 32>>>(out_, 3); });
  EXPECT_GT(counts.local_requests, 1u);
  EXPECT_GT(counts.local_sectors, 4u);
}

TEST_F(CuptiGpu, AsyncCopyLoadsAndTouchesSharedMemory) {
  SassCounter counter;
  const Counts counts = count(counter, [&] { async_copy<<<1, 32>>>(in_, out_); });
  EXPECT_EQ(counts.global_load_requests, 1u);
  EXPECT_EQ(counts.global_load_sectors, 4u);
  EXPECT_EQ(counts.global_store_sectors, 4u);
  EXPECT_EQ(counts.shared_requests, 2u);
  EXPECT_EQ(counts.shared_wavefronts, counts.shared_wavefronts_ideal);
}

TEST_F(CuptiGpu, DivergenceIsSeen) {
  SassCounter counter;
  EXPECT_GT(count(counter, [&] { divergent<<<1, 32>>>(out_); }).divergent_branches, 0u);
  EXPECT_EQ(count(counter, [&] { uniform<<<1, 32>>>(out_); }).divergent_branches, 0u);
}

TEST_F(CuptiGpu, CountsRepeatToTheLastDigit) {
  SassCounter counter;
  const auto launch = [&] {
    transpose<32><<<kGrid, kBlock>>>(in_, out_);
    transpose_naive<<<kGrid, kBlock>>>(in_, out_);
  };
  const Counts first = count(counter, launch);
  for (int i = 1; i < 20; ++i) EXPECT_EQ(count(counter, launch), first) << "repetition " << i;
}

TEST_F(CuptiGpu, WhatWasLaunchedBeforeIsNotCounted) {
  SassCounter counter;
  const auto launch = [&] { uniform<<<1, 32>>>(out_); };
  const auto same_kernel = [&] { uniform<<<8, 32>>>(out_); };
  const auto other_kernel = [&] { atomic_add<<<8, 32>>>(out_); };
  const Counts alone = count(counter, launch);
  EXPECT_EQ(alone.global_store_requests, 1u);
  same_kernel();
  EXPECT_EQ(count(counter, launch), alone);
  other_kernel();
  EXPECT_EQ(count(counter, launch), alone);
}

TEST_F(CuptiGpu, NothingLaunchedIsNotZero) {
  SassCounter counter;
  EXPECT_THROW(count(counter, [] {}), Unmeasured);
  EXPECT_EQ(count(counter, [&] { uniform<<<1, 32>>>(out_); }).global_store_requests, 1u);
}

TEST_F(CuptiGpu, ExceptionsLeaveTheCounterUsable) {
  SassCounter counter;
  const auto throws = [&] {
    uniform<<<1, 32>>>(out_);
    throw std::runtime_error("from the launch");
  };
  EXPECT_THROW(count(counter, throws), std::runtime_error);
  EXPECT_THROW(count(counter, [&] { uniform<<<1, 4096>>>(out_); }), CudaError);
  EXPECT_EQ(count(counter, [&] { uniform<<<1, 32>>>(out_); }).global_store_requests, 1u);
}

std::map<std::string_view, double> as_map(
    const std::vector<std::pair<std::string_view, double>>& values) {
  return {values.begin(), values.end()};
}

TEST_F(CuptiGpu, RangesOfSeveralKernelsInOneSession) {
  RangeProfiler profiler;
  const auto prepare = [this] { clear(); };
  const std::vector<RangeItem> items = {
      {"unpadded", prepare, [&] { transpose<32><<<kGrid, kBlock>>>(in_, out_); }},
      {"padded", prepare, [&] { transpose<33><<<kGrid, kBlock>>>(in_, out_); }},
      {"naive", prepare, [&] { transpose_naive<<<kGrid, kBlock>>>(in_, out_); }},
      {"padded", prepare, [&] { transpose<33><<<kGrid, kBlock>>>(in_, out_); }},
      {"tiny", prepare, [&] { uniform<<<1, 32>>>(out_); }},
  };
  for (const int rounds : {1, 3}) {
    const auto results = profiler.measure(items, rounds);
    ASSERT_EQ(results.size(), items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto values = as_map(results[i]);
      std::cout << items[i].name << ":";
      for (const auto& [id, value] : values) std::cout << " " << id << "=" << value;
      std::cout << "\n";
      ASSERT_TRUE(values.contains("time.profiled_us")) << items[i].name;
      EXPECT_GT(values.at("time.profiled_us"), 0.5) << items[i].name;
      EXPECT_LT(values.at("time.profiled_us"), 1000) << items[i].name;
      EXPECT_GT(values.at("occupancy.achieved"), 0) << items[i].name;
      EXPECT_LE(values.at("occupancy.achieved"), 1) << items[i].name;
    }
    // The counter is not exact; about 31 conflicts per warp drown its noise.
    EXPECT_GT(as_map(results[0]).at("shared.raw_bank_conflicts"), 30 * kWarps);
    EXPECT_LT(as_map(results[1]).at("shared.raw_bank_conflicts"), kWarps);
    EXPECT_EQ(as_map(results[4]).at("shared.raw_bank_conflicts"), 0);
  }
}

TEST_F(CuptiGpu, ExceptionsLeaveTheProfilerUsable) {
  RangeProfiler profiler;
  const auto prepare = [this] { clear(); };
  const std::vector<RangeItem> throws = {
      {"throws", prepare, [] { throw std::runtime_error("from the launch"); }}};
  const std::vector<RangeItem> works = {{"works", prepare, [&] { uniform<<<1, 32>>>(out_); }}};
  EXPECT_THROW(profiler.measure(throws, 1), std::runtime_error);
  EXPECT_GT(as_map(profiler.measure(works, 1)[0]).at("time.profiled_us"), 0);
  EXPECT_TRUE(profiler.measure({}, 1).empty());
  EXPECT_THROW(profiler.measure(works, 0), std::invalid_argument);
}

TEST_F(CuptiGpu, CounterAndProfilerTakeTurns) {
  for (int turn = 0; turn < 2; ++turn) {
    {
      SassCounter counter;
      EXPECT_EQ(count(counter, [&] { uniform<<<1, 32>>>(out_); }).global_store_requests, 1u);
    }
    RangeProfiler profiler;
    const std::vector<RangeItem> items = {
        {"item", [this] { clear(); }, [&] { uniform<<<1, 32>>>(out_); }}};
    EXPECT_GT(as_map(profiler.measure(items, 1)[0]).at("time.profiled_us"), 0);
  }
}

}  // namespace
}  // namespace warpgauge::metrics
