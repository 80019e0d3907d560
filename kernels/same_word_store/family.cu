// Flags in shared memory: does a group of neighbouring elements hold a negative one? All lanes that
// find one store to the flag of their group. The size of a case is the lanes of a group, 1 to 32,
// or 64: two warps.
//
// Lanes that store to one word are no bank conflict. The stores of a request that go to
// the same word become one; one lane wins, and CUDA does not say which. So all must store
// the same value, as `plain` does, with one wavefront however large the groups are.
// `elected` lets one lane of each warp store, and wins nothing by it. `atomic` looks safer
// and makes the lanes of a group queue (shared.bank_conflicts, shared.bank_ways): an
// atomic is done for each lane. Two warps make two requests, and nothing orders them: a
// race, harmless only as long as the values are equal. `different_values` shows which lane
// wins where they are not, and `warp_after_warp` has a barrier between two warps: the
// later one wins.
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

// The word that stays, for each lane of a group whose lanes all store their own: words of one
// number, or of four floats. An H100 keeps that of the lowest lane. It serves 128 bytes at a time,
// so words of 8 bytes go half a warp at a time, those of 16 a quarter, and what comes later
// overwrites. CUDA does not promise this: on another GPU the check may fail.
template <typename Word, typename Element>
struct Winners : warpgauge::Problem {
  static constexpr int kElements = sizeof(Word) / sizeof(Element);
  const int lanes;  // of a group
  warpgauge::Input<Element> a;
  warpgauge::Output<Element> b;

  explicit Winners(const warpgauge::Size& size)
      : lanes(static_cast<int>(size[0])),
        a(*this, different_values()),
        b(*this, kThreads * kElements) {}
  static std::vector<Element> different_values() {
    std::vector<Element> values(kThreads * kElements);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Element>(1000 + i);
    return values;
  }
  const Word* from() const { return reinterpret_cast<const Word*>(static_cast<const Element*>(a)); }
  Word* to() { return reinterpret_cast<Word*>(static_cast<Element*>(b)); }
  // CPU reference: the first of the lanes that are served last.
  void check(warpgauge::Comparison& comparison) const override {
    constexpr int kServed = sizeof(Word) > 4 ? 128 / sizeof(Word) : kWarp;
    std::vector<Element> expected(b.count());
    for (int i = 0; i < static_cast<int>(expected.size()); ++i) {
      const int thread = i / kElements, first = thread - thread % lanes;
      const int winner = lanes > kServed ? first + lanes - kServed : first;
      expected[i] = a.host()[winner * kElements + i % kElements];
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
// bank: all conflicts come from lanes of one group.
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
template <typename Word>
__global__ void different_values(Word* b, const Word* a, int lanes) {
  __shared__ Word s[kThreads];
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

template <typename Word, typename Element>
void add_different_values(const warpgauge::Family& family, const char* type,
                          const std::vector<warpgauge::Size>& sizes) {
  using Problem = Winners<Word, Element>;
  family.problem<Problem>(type, sizes).variant("different_values", [](Problem& p) {
    different_values<<<1, kThreads>>>(p.to(), p.from(), p.lanes);
  });
}

WARPGAUGE_FAMILY(same_word_store) {
  const std::vector<warpgauge::Size> in_a_warp = {{1}, {2}, {4}, {8}, {16}, {32}};
  std::vector<warpgauge::Size> lanes = in_a_warp;
  lanes.push_back({2 * kWarp});
  const auto flags = family.problem<Flags>("i32", lanes);
  flags.variant("plain", launch<Plain>);
  flags.variant("elected", launch<Elected>);
  flags.variant("atomic", launch<Atomic>);
  add_different_values<int, int>(family, "i32", in_a_warp);
  add_different_values<double, double>(family, "f64", in_a_warp);
  add_different_values<float4, float>(family, "f32x4", in_a_warp);
  family.problem<Winners<int, int>>("i32", {{2 * kWarp}}).variant("warp_after_warp", [](auto& p) {
    warp_after_warp<<<1, kThreads>>>(p.to(), p.from(), p.lanes);
  });
}

}  // namespace same_word_store
