// Flags in shared memory: does a group of neighbouring elements hold a negative one? All lanes that
// know so store to the flag of their group. The size of a case is the lanes of a group, 1 to 32.
//
// What it teaches: lanes that store to one word are no bank conflict. The stores of a request that
// go to the same word become one; one lane wins, which one is undefined. So all must store the same
// value, as `plain` does, with one wavefront however large the groups are. `elected` lets one lane
// of each group store, and wins nothing by it. `atomic` looks safer and makes the lanes of a group
// queue (shared.bank_conflicts, shared.bank_ways): an atomic is done for each lane.
// Across warps nothing orders such stores. There they are a race, harmless only as long as the
// values are equal; here a group never leaves its warp.
#include "warpgauge/warpgauge.h"

namespace same_word_store {

constexpr int kWarp = 32;
constexpr int kThreads = 1024;  // also the elements

// Groups alternate: in one all lanes are negative, in the next none. So it is known how many lanes
// store at once.
std::vector<int> contents(int lanes) {
  std::vector<int> a(kThreads);
  for (int i = 0; i < kThreads; ++i) a[i] = i / lanes % 2 == 0 ? -1 - i : 1 + i;
  return a;
}

// b[i] is 1 where the group of element i has a negative one, else 0.
struct Flags : warpgauge::Problem {
  const int lanes;  // of a group
  warpgauge::Input<int> a;
  warpgauge::Output<int> b;

  explicit Flags(const warpgauge::Size& size)
      : lanes(static_cast<int>(size[0])), a(*this, contents(lanes)), b(*this, kThreads) {}
  // CPU reference: searches each group.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<int> expected(kThreads, 0);
    for (int first = 0; first < kThreads; first += lanes) {
      bool found = false;
      for (int i = first; i < first + lanes; ++i) found = found || a.host()[i] < 0;
      for (int i = first; i < first + lanes; ++i) expected[i] = found;
    }
    comparison.equal(b, expected);
  }
};

// How the flag of a group is raised by the lanes that have found something.
struct Plain {
  static __device__ void raise(int* flag, bool found, int) {
    if (found) *flag = 1;
  }
};

// The lowest lane of those that have found something stores for its group.
struct Elected {
  static __device__ void raise(int* flag, bool found, int lanes) {
    const unsigned finders = __ballot_sync(0xffffffff, found);
    const int lane = threadIdx.x % kWarp, first = lane - lane % lanes;
    const unsigned before_me = finders >> first & ((1u << (lane - first)) - 1);
    if (found && before_me == 0) *flag = 1;
  }
};

struct Atomic {
  static __device__ void raise(int* flag, bool found, int) {
    if (found) atomicOr(flag, 1);
  }
};

// One block of 32 warps. Groups take neighbouring words, so that different flags never meet in a
// bank: whatever conflicts there are come from lanes of one group.
template <typename How>
__global__ void flag_groups(int* b, const int* a, int lanes) {
  __shared__ int flags[kThreads];
  const int t = threadIdx.x, group = t / lanes;
  if (t < kThreads / lanes) flags[t] = 0;
  __syncthreads();
  How::raise(&flags[group], a[t] < 0, lanes);
  __syncthreads();
  b[t] = flags[group];
}

template <typename How>
void launch(Flags& p) {
  flag_groups<How><<<1, kThreads>>>(p.b, p.a, p.lanes);
}

WARPGAUGE_FAMILY(same_word_store) {
  const auto i32 = family.problem<Flags>("i32", {{1}, {2}, {4}, {8}, {16}, {32}});
  i32.variant("plain", launch<Plain>);
  i32.variant("elected", launch<Elected>);
  i32.variant("atomic", launch<Atomic>);
}

}  // namespace same_word_store
