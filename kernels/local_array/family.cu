// Every thread keeps a few words of its own in an array and adds them up, each times its place,
// beginning at some place of the array and going round.
//
// Registers have no addresses. An array whose every index is known when the code
// is compiled becomes registers (`unrolled`); one index that is not, and the whole array goes to
// local memory (stack.bytes, local.sectors): `looped` is the same code with a loop that stays.
// Local memory is interleaved: word k of 8 neighbouring lanes is one sector. Lanes that agree on
// the index cost 4 sectors a request, the least for words of 4 bytes (`uniform_index`); lanes that
// do not cost up to 32 (`per_lane_index`). The cures: unroll; or keep the array in shared memory,
// a column for each thread, which is free of bank conflicts for all indices (`in_shared`).
#include "warpgauge/warpgauge.h"

namespace local_array {

constexpr int kThreads = 128;
constexpr int kWarp = 32;
constexpr int kFew = 32, kMany = 64;  // words of an array
constexpr int kFirstPlace = 3;        // where threads begin that agree

// The size is the number of threads. Word k of thread i is a[k * n + i], so that lanes load
// neighbours. Threads begin at the place kFirstPlace, or at the number of their lane.
template <int kWords, bool kPerLane>
struct WeightedSums : warpgauge::Problem {
  const int n;
  warpgauge::Input<int> a;
  warpgauge::Output<int> sums;

  explicit WeightedSums(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), a(*this, kWords * n), sums(*this, n) {}
  int blocks() const { return (n + kThreads - 1) / kThreads; }

  // CPU reference.
  std::vector<int> expected() const {
    std::vector<int> sums(n);
    for (int i = 0; i < n; ++i) {
      const int first = kPerLane ? i % kWarp : kFirstPlace;
      for (int k = 0; k < kWords; ++k) {
        sums[i] += (k + 1) * a.host()[(first + k) % kWords * n + i];
      }
    }
    return sums;
  }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(sums, expected());
  }
};

using Few = WeightedSums<kFew, false>;
using Agreed = WeightedSums<kMany, false>;
using PerLane = WeightedSums<kMany, true>;

// Both loops disappear, and with them every index.
__global__ void unrolled(int* sums, const int* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  int own[kFew];
#pragma unroll
  for (int k = 0; k < kFew; ++k) own[k] = a[k * n + i];
  int sum = 0;
#pragma unroll
  for (int k = 0; k < kFew; ++k) sum += (k + 1) * own[(kFirstPlace + k) % kFew];
  sums[i] = sum;
}

// The second loop stays, and k is a number in a register. (With 8 words instead of 32 the compiler
// would still find a way out: registers, and a comparison of the index with each place.)
__global__ void looped(int* sums, const int* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  int own[kFew];
#pragma unroll
  for (int k = 0; k < kFew; ++k) own[k] = a[k * n + i];
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < kFew; ++k) sum += (k + 1) * own[(kFirstPlace + k) % kFew];
  sums[i] = sum;
}

// To unroll does not help here: the first place is only known when the kernel runs.
template <bool kPerLane>
__global__ void in_local(int* sums, const int* a, int n, int first_place) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  const int first = kPerLane ? threadIdx.x % kWarp : first_place;
  int own[kMany];
  for (int k = 0; k < kMany; ++k) own[k] = a[k * n + i];
  int sum = 0;
  for (int k = 0; k < kMany; ++k) sum += (k + 1) * own[(first + k) % kMany];
  sums[i] = sum;
}

// Rows are as long as the block, a multiple of 32 words: column t lies in bank t % 32, so lanes
// never meet. Every thread reads what it wrote itself and needs no barrier.
__global__ void in_shared(int* sums, const int* a, int n) {
  __shared__ int own[kMany][kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  if (i >= n) return;
  for (int k = 0; k < kMany; ++k) own[k][t] = a[k * n + i];
  int sum = 0;
  for (int k = 0; k < kMany; ++k) sum += (k + 1) * own[(t % kWarp + k) % kMany][t];
  sums[i] = sum;
}

WARPGAUGE_FAMILY(local_array) {
  const std::vector<warpgauge::Size> sizes = {{1024}, {1000}};
  const auto few = family.problem<Few>("i32", sizes).sizes_between({1}, {1024});
  few.variant("unrolled", [](Few& p) { unrolled<<<p.blocks(), kThreads>>>(p.sums, p.a, p.n); });
  few.variant("looped", [](Few& p) { looped<<<p.blocks(), kThreads>>>(p.sums, p.a, p.n); });

  const auto agreed = family.problem<Agreed>("i32", sizes).sizes_between({1}, {1024});
  agreed.variant("uniform_index", [](Agreed& p) {
    in_local<false><<<p.blocks(), kThreads>>>(p.sums, p.a, p.n, kFirstPlace);
  });
  const auto per_lane = family.problem<PerLane>("i32", sizes).sizes_between({1}, {1024});
  per_lane.variant("per_lane_index", [](PerLane& p) {
    in_local<true><<<p.blocks(), kThreads>>>(p.sums, p.a, p.n, 0);
  });
  per_lane.variant("in_shared",
                   [](PerLane& p) { in_shared<<<p.blocks(), kThreads>>>(p.sums, p.a, p.n); });
}

}  // namespace local_array
