// Flags in shared memory: does a group of neighbouring elements hold a negative one? All lanes that
// know so store to the flag of their group. The size of a case is the lanes of a group, 1 to 32, or
// 64: two warps.
//
// What it teaches: lanes that store to one word are no bank conflict. The stores of a request that
// go to the same word become one; one lane wins, and CUDA does not say which. So all must store the
// same value, as `plain` does, with one wavefront however large the groups are. `elected` lets one
// lane of each warp store, and wins nothing by it. `atomic` looks safer and makes the lanes of a
// group queue (shared.bank_conflicts, shared.bank_ways): an atomic is done for each lane.
// Two warps make two requests, and nothing orders them: a race, harmless only as long as the values
// are equal.
// `different_values` shows which lane wins where they are not, and `warp_after_warp` has a barrier
// between two warps: the later one wins.
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

// The value that stays, for each element of a group whose lanes all store their own.
// An H100 keeps that of the lowest lane. Words of 8 bytes go half a warp at a time, and the second
// half overwrites the first. CUDA does not promise this: on another GPU the check may fail.
template <typename T>
struct Winners : warpgauge::Problem {
  const int lanes;  // of a group
  warpgauge::Input<T> a;
  warpgauge::Output<T> b;

  explicit Winners(const warpgauge::Size& size)
      : lanes(static_cast<int>(size[0])), a(*this, different_values()), b(*this, kThreads) {}
  static std::vector<T> different_values() {
    std::vector<T> values(kThreads);
    for (int i = 0; i < kThreads; ++i) values[i] = static_cast<T>(1000 + i);
    return values;
  }
  // CPU reference: what is stored last begins at the last multiple of the lanes served at once.
  void check(warpgauge::Comparison& comparison) const override {
    constexpr int kServed = sizeof(T) == 8 ? kWarp / 2 : kWarp;
    std::vector<T> expected(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      const int first = i - i % lanes;
      expected[i] = a.host()[lanes > kServed ? first + lanes - kServed : first];
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

// The lowest lane of those that have found something stores for its group, or its warp.
struct Elected {
  static __device__ void raise(int* flag, bool found, int lanes) {
    const unsigned finders = __ballot_sync(0xffffffff, found);
    const int lane = threadIdx.x % kWarp, first = lane - lane % min(lanes, kWarp);
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

// Every lane stores to the word of its group, and reads what has stayed.
template <typename T>
__global__ void different_values(T* b, const T* a, int lanes) {
  __shared__ T s[kThreads];
  const int t = threadIdx.x, group = t / lanes;
  s[group] = a[t];
  __syncthreads();
  b[t] = s[group];
}

// Groups of two warps. The barrier orders them, so that the result does not depend on luck.
__global__ void warp_after_warp(int* b, const int* a, int lanes) {
  __shared__ int s[kThreads];
  const int t = threadIdx.x, group = t / lanes;
  const bool is_first = t / kWarp % 2 == 0;
  if (is_first) s[group] = a[t];
  __syncthreads();
  if (!is_first) s[group] = a[t];
  __syncthreads();
  b[t] = s[group];
}

template <typename How>
void launch(Flags& p) {
  flag_groups<How><<<1, kThreads>>>(p.b, p.a, p.lanes);
}

template <typename T>
void launch_different_values(Winners<T>& p) {
  different_values<T><<<1, kThreads>>>(p.b, p.a, p.lanes);
}

WARPGAUGE_FAMILY(same_word_store) {
  const std::vector<warpgauge::Size> in_a_warp = {{1}, {2}, {4}, {8}, {16}, {32}};
  std::vector<warpgauge::Size> lanes = in_a_warp;
  lanes.push_back({2 * kWarp});
  const auto flags = family.problem<Flags>("i32", lanes);
  flags.variant("plain", launch<Plain>);
  flags.variant("elected", launch<Elected>);
  flags.variant("atomic", launch<Atomic>);
  family.problem<Winners<int>>("i32", in_a_warp)
      .variant("different_values", launch_different_values<int>);
  family.problem<Winners<double>>("f64", in_a_warp)
      .variant("different_values", launch_different_values<double>);
  family.problem<Winners<int>>("i32", {{2 * kWarp}}).variant("warp_after_warp", [](auto& p) {
    warp_after_warp<<<1, kThreads>>>(p.b, p.a, p.lanes);
  });
}

}  // namespace same_word_store
