// Two kinds of work in one kernel, and a barrier for one of them. Of every 256 elements the first
// 128 are turned round among themselves, through shared memory; the others are negated.
//
// __syncthreads() is for all threads of a block. In a branch that only some of them take, those
// wait for the others, which never come: the kernel hangs (or ends, where the others have ended,
// and works by chance). Three ways are right:
//   outside        work in the branch, the barrier behind it: all threads come, with or without
//                  work
//   whole_blocks   a branch that a block takes as a whole, as its number decides: all or none come
//   own_barrier    the branch is taken by whole warps, which meet at a barrier for a given number
//                  of threads (bar.sync 1, 128); the other warps take no part in it
// They exchange the same words (shared.wavefronts). The first makes half of the warps wait for
// words that they do not need.
#include "warpgauge/warpgauge.h"

namespace barrier_in_branch {

constexpr int kHalf = 128;  // elements of each kind of work
constexpr int kGroup = 2 * kHalf;

// CPU reference. The last group may have fewer elements, and what is there is turned round.
std::vector<int> half_turned(const std::vector<int>& a) {
  const int n = static_cast<int>(a.size());
  std::vector<int> b(n);
  for (int i = 0; i < n; ++i) {
    const int first = i - i % kGroup, place = i % kGroup;
    const int turned = n - first < kHalf ? n - first : kHalf;
    b[i] = place < kHalf ? a[first + turned - 1 - place] : -a[i];
  }
  return b;
}

struct HalfTurn : warpgauge::Problem {
  const int n, groups;
  warpgauge::Input<int> a;
  warpgauge::Output<int> b;

  explicit HalfTurn(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), groups((n + kGroup - 1) / kGroup), a(*this, n), b(*this, n) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(b, half_turned(a.host()));
  }
};

// Elements from `first` on that are to be turned round.
__device__ int turned_from(int first, int n) { return n - first < kHalf ? n - first : kHalf; }

// A block a group. All of its 256 threads come to the barrier.
__global__ void outside(int* b, const int* a, int n) {
  __shared__ int s[kHalf];
  const int first = blockIdx.x * kGroup, t = threadIdx.x, turned = turned_from(first, n);
  if (t < turned) s[t] = a[first + t];
  __syncthreads();
  if (t < turned) b[first + t] = s[turned - 1 - t];
  if (t >= kHalf && first + t < n) b[first + t] = -a[first + t];
}

// Two blocks a group, of 128 threads each: the even one turns round, the odd one negates.
__global__ void whole_blocks(int* b, const int* a, int n) {
  __shared__ int s[kHalf];
  const int first = blockIdx.x * kHalf, t = threadIdx.x;
  if (blockIdx.x % 2 == 0) {
    const int turned = turned_from(first, n);
    if (t < turned) s[t] = a[first + t];
    __syncthreads();
    if (t < turned) b[first + t] = s[turned - 1 - t];
  } else if (first + t < n) {
    b[first + t] = -a[first + t];
  }
}

// A block a group. Its first four warps meet at barrier 1, whether their lanes have an element or
// not: the barrier counts 128 threads. (__syncthreads() is barrier 0.)
__global__ void own_barrier(int* b, const int* a, int n) {
  __shared__ int s[kHalf];
  const int first = blockIdx.x * kGroup, t = threadIdx.x;
  if (t < kHalf) {
    const int turned = turned_from(first, n);
    if (t < turned) s[t] = a[first + t];
    asm volatile("bar.sync 1, %0;" ::"n"(kHalf) : "memory");
    if (t < turned) b[first + t] = s[turned - 1 - t];
  } else if (first + t < n) {
    b[first + t] = -a[first + t];
  }
}

WARPGAUGE_FAMILY(barrier_in_branch) {
  // Whole groups; a last group of 232 elements; one of 44, all of them to be turned round.
  const auto i32 =
      family.problem<HalfTurn>("i32", {{262144}, {1000}, {300}}).sizes_between({1}, {262144});
  i32.variant("outside", [](HalfTurn& p) { outside<<<p.groups, kGroup>>>(p.b, p.a, p.n); });
  i32.variant("whole_blocks",
              [](HalfTurn& p) { whole_blocks<<<2 * p.groups, kHalf>>>(p.b, p.a, p.n); });
  i32.variant("own_barrier", [](HalfTurn& p) { own_barrier<<<p.groups, kGroup>>>(p.b, p.a, p.n); });
}

}  // namespace barrier_in_branch
