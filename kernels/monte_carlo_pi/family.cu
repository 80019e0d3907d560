// Pi by counting: of n points in the unit square, n * pi / 4 are expected inside the quarter
// circle. The points are those of a uniform grid, or random.
// A count that all threads add to is a single word, where atomic additions wait
// for each other. Counting first and adding then makes them rare (global.atomic.requests).
// - `atomic_per_hit`: one a warp, for the compiler joins those of its lanes. `atomic_per_warp` does
//   so by hand.
// - `shared_counter` and `atomic_per_block`: one a block, which counts by atomics on shared memory,
//   or by a barrier that counts and needs none.
// - `register_count`: one for all that the threads of a warp have counted in registers.
// The count is an integer, so it does not depend on the order of additions, and is equal to the
// CPU's. Random points come from a counter-based generator: point i is a function of i, so that no
// thread has to keep a state and the CPU makes the same points.
#include <cmath>
#include <cstdint>
#include <string>

#include "warpgauge/warpgauge.h"

namespace monte_carlo_pi {

using std::uint32_t;
using std::uint64_t;

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr int kPointsPerThread = 64;  // of register_count
constexpr double kPi = 3.14159265358979323846;

struct Words {
  uint32_t a, b;
};

// Two random words for each counter: Philox 2x32 with 10 rounds (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", 2011). Each round multiplies one word, and mixes the halves of the
// product with the other word and a key that moves on by the golden ratio.
__host__ __device__ constexpr Words philox(uint64_t counter, uint32_t key) {
  Words words = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t product = uint64_t{0xd256d193} * words.a;
    words = {static_cast<uint32_t>(product >> 32) ^ key ^ words.b, static_cast<uint32_t>(product)};
    key += 0x9e3779b9;
  }
  return words;
}
static_assert(philox(0, 0).a == 0xff1dae59 && philox(0, 0).b == 0x6cd10df2);  // as published

// The middles of w x h cells. In units of half a cell they are integers, and exactly inside or not.
struct Grid {
  uint64_t h, w;
  explicit Grid(const warpgauge::Size& size)
      : h(static_cast<uint64_t>(size[0])), w(static_cast<uint64_t>(size[1])) {}
  __host__ __device__ bool inside(uint32_t i) const {
    const uint64_t x = (2 * (i % static_cast<uint32_t>(w)) + 1) * h;
    const uint64_t y = (2 * (i / static_cast<uint32_t>(w)) + 1) * w;
    return x * x + y * y < 4 * w * w * h * h;
  }
  // Only cells that the circle cuts can err: it meets fewer than w + h of them.
  double tolerance() const { return 4.0 * static_cast<double>(w + h) / static_cast<double>(w * h); }
};

// Coordinates of 31 bits, so that the sum of squares fits into 64.
struct Random {
  uint64_t n;
  explicit Random(const warpgauge::Size& size) : n(static_cast<uint64_t>(size[0])) {}
  __host__ __device__ bool inside(uint32_t i) const {
    const Words point = philox(i, 2024);
    const uint64_t x = point.a >> 1, y = point.b >> 1;
    return x * x + y * y < uint64_t{1} << 62;
  }
  // Four standard deviations of 4 * hits / n.
  double tolerance() const { return 4 * std::sqrt(kPi * (4 - kPi) / static_cast<double>(n)); }
};

// CPU reference.
template <typename Points>
int count_hits(const Points& points, int n) {
  int hits = 0;
  for (int i = 0; i < n; ++i) hits += points.inside(i);
  return hits;
}

template <typename Points>
struct Hits : warpgauge::Problem {
  const int n;
  const Points points;
  warpgauge::InOut<int> hits;

  explicit Hits(const warpgauge::Size& size)
      : n(static_cast<int>(size.count())), points(size), hits(*this, std::vector<int>{0}) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(hits, std::vector<int>{count_hits(points, n)});
    comparison.close(std::vector<double>{4.0 * hits.host()[0] / n}, std::vector<double>{kPi},
                     points.tolerance() / kPi);
  }
};

// Every hit is added on its own. The address is the same for all lanes and the addend is 1, so the
// compiler lets one lane add the number of hits of its warp: a warp with a hit makes one request.
template <typename Points>
__global__ void atomic_per_hit(int* hits, Points points, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && points.inside(i)) atomicAdd(hits, 1);
}

// Adds up by hand: the lanes vote, and the first adds. This is needed where the compiler cannot see
// that all lanes add to one address; here it gains nothing.
template <typename Points>
__global__ void atomic_per_warp(int* hits, Points points, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int of_warp = __popc(__ballot_sync(0xffffffff, i < n && points.inside(i)));
  if (threadIdx.x % kWarp == 0 && of_warp > 0) atomicAdd(hits, of_warp);
}

// Atomics on shared memory are cheap, and stay inside the multiprocessor.
template <typename Points>
__global__ void shared_counter(int* hits, Points points, int n) {
  __shared__ int of_block;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  if (i < n && points.inside(i)) atomicAdd(&of_block, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(hits, of_block);
}

// The barrier itself counts, for the price of a barrier.
template <typename Points>
__global__ void atomic_per_block(int* hits, Points points, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int of_block = __syncthreads_count(i < n && points.inside(i));
  if (threadIdx.x == 0) atomicAdd(hits, of_block);
}

// A thread counts many points in a register, which costs nothing, before its warp adds. The points
// of a thread lie all threads apart, so that a warp has neighbours at each step.
template <typename Points>
__global__ void register_count(int* hits, Points points, int n) {
  const uint32_t threads = gridDim.x * blockDim.x, points_end = n;
  int of_warp = 0;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < points_end; i += threads) {
    of_warp += points.inside(i);
  }
  for (int step = kWarp / 2; step > 0; step /= 2) {
    of_warp += __shfl_down_sync(0xffffffff, of_warp, step);
  }
  if (threadIdx.x % kWarp == 0) atomicAdd(hits, of_warp);
}

template <typename Points>
using Kernel = void (*)(int*, Points, int);

template <typename Points, Kernel<Points> kKernel, int kPoints = 1>
void launch(Hits<Points>& p) {
  constexpr int kPerBlock = kThreads * kPoints;
  kKernel<<<(p.n + kPerBlock - 1) / kPerBlock, kThreads>>>(p.hits, p.points, p.n);
}

template <typename Points>
void add_variants(const warpgauge::Family& family, const std::string& points,
                  const std::vector<warpgauge::Size>& sizes, const warpgauge::Size& lowest) {
  const auto to = family.problem<Hits<Points>>("i32", sizes).sizes_between(lowest, sizes.back());
  to.variant(points + "_atomic_per_hit", launch<Points, atomic_per_hit<Points>>);
  to.variant(points + "_atomic_per_warp", launch<Points, atomic_per_warp<Points>>);
  to.variant(points + "_shared_counter", launch<Points, shared_counter<Points>>);
  to.variant(points + "_atomic_per_block", launch<Points, atomic_per_block<Points>>);
  to.variant(points + "_register_count", launch<Points, register_count<Points>, kPointsPerThread>);
}

WARPGAUGE_FAMILY(monte_carlo_pi) {
  // A grid is rows x columns.
  add_variants<Grid>(family, "grid", {{1024, 1024}, {700, 1000}, warpgauge::large({16384, 16384})},
                     {4, 4});
  add_variants<Random>(family, "random", {{1048576}, {1000003}, warpgauge::large({1 << 28})}, {64});
}

}  // namespace monte_carlo_pi
