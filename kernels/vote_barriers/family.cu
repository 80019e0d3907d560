// Votes of a block: how many of its 256 elements are positive; are all; is any?
//
// A barrier can vote. __syncthreads_count, _and and _or take a predicate of each
// thread and give all of them the block's answer, without shared memory. `tree` counts in shared
// memory as one would without them, with 45 shared.wavefronts and 9 barriers; `vote` has 3
// barriers and no wavefront; `single_vote` sees that the count answers all three questions.
#include "warpgauge/warpgauge.h"

namespace vote_barriers {

constexpr int kThreads = 256;

// Blocks that distinguish the votes, in turn: all positive, none, a single one, all but one.
// Elements are 1 or -1.
std::vector<int> contents(int n) {
  constexpr int kSingle = 77;
  std::vector<int> a(n);
  for (int i = 0; i < n; ++i) {
    const bool is_single = i % kThreads == kSingle;
    const bool positive[] = {true, false, is_single, !is_single};
    a[i] = positive[i / kThreads % 4] ? 1 : -1;
  }
  return a;
}

// For each block: the number of positive elements, whether all are, whether any is.
struct Votes : warpgauge::Problem {
  const int n, blocks;
  warpgauge::Input<int> a;
  warpgauge::Output<int> count, all, any;

  explicit Votes(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        blocks((n + kThreads - 1) / kThreads),
        a(*this, contents(n)),
        count(*this, blocks),
        all(*this, blocks),
        any(*this, blocks) {}
  // CPU reference: element by element.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<int> counts(blocks, 0), alls(blocks, 1), anys(blocks, 0);
    for (int i = 0; i < n; ++i) {
      const int block = i / kThreads, positive = a.host()[i] > 0;
      counts[block] += positive;
      alls[block] &= positive;
      anys[block] |= positive;
    }
    comparison.equal(count, counts);
    comparison.equal(all, alls);
    comparison.equal(any, anys);
  }
};

// Elements of this block; the last may have fewer than threads.
__device__ int elements_of_block(int n) {
  const int left = n - static_cast<int>(blockIdx.x) * kThreads;
  return left < kThreads ? left : kThreads;
}

// Adds up the predicates in a tree of 8 steps. The three answers follow from the sum.
__global__ void tree(int* count, int* all, int* any, const int* a, int n) {
  __shared__ int s[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  s[t] = i < n && a[i] > 0;
  for (int step = kThreads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (t < step) s[t] += s[t + step];
  }
  if (t != 0) return;
  const int positives = s[0];
  count[blockIdx.x] = positives;
  all[blockIdx.x] = positives == elements_of_block(n);
  any[blockIdx.x] = positives > 0;
}

// One barrier a question. Threads without an element come as well, for a barrier waits for the
// whole block, and give the vote that changes nothing: "true" to _and, "false" to the others. The
// answers of _and and _or are only promised to be zero or not zero.
__global__ void vote(int* count, int* all, int* any, const int* a, int n) {
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  const bool positive = i < n && a[i] > 0;
  const int positives = __syncthreads_count(positive);
  const int are_all = __syncthreads_and(positive || i >= n);
  const int is_any = __syncthreads_or(positive);
  if (t != 0) return;
  count[blockIdx.x] = positives;
  all[blockIdx.x] = are_all != 0;
  any[blockIdx.x] = is_any != 0;
}

// The count implies the other answers: one barrier instead of three.
__global__ void single_vote(int* count, int* all, int* any, const int* a, int n) {
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  const int positives = __syncthreads_count(i < n && a[i] > 0);
  if (t != 0) return;
  count[blockIdx.x] = positives;
  all[blockIdx.x] = positives == elements_of_block(n);
  any[blockIdx.x] = positives > 0;
}

// Each kernel takes (count, all, any, a, n): one launch for all.
void launch(Votes& p, void (*kernel)(int*, int*, int*, const int*, int)) {
  kernel<<<p.blocks, kThreads>>>(p.count, p.all, p.any, p.a, p.n);
}

WARPGAUGE_FAMILY(vote_barriers) {
  // Whole blocks; a last block of 232 elements, all but one positive; less than one block, all
  // positive.
  const auto i32 =
      family.problem<Votes>("i32", {{262144}, {1000}, {100}}).sizes_between({1}, {262144});
  i32.variant("tree", [](Votes& p) { launch(p, tree); });
  i32.variant("vote", [](Votes& p) { launch(p, vote); });
  i32.variant("single_vote", [](Votes& p) { launch(p, single_vote); });
}

}  // namespace vote_barriers
