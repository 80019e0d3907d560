// Sums of words that eight warps of a block read each, by loads with every cache operator.
//
// The lesson: a cache operator decides where a sector is looked for and how long it stays, not
// how many sectors a request touches (global.load.sectors_per_request is 4 for all of them).
//   cached           L1, then L2: what a plain load does. Of the 8 reads of a word 7 find it in L1
//   l2_only          L2 alone, as for data that other blocks change; -Xptxas -dlcm=cg makes all
//                    plain loads of a file such loads. Every read goes to L2 (time.relative_to)
//   streaming        both, but first to be evicted: for words that are read once, here the wrong
//                    one, and harmless while L1 has room
//   fetched_again    each load asks memory anew, as a volatile one does
//   read_only        the path of textures, for data that the kernel does not change
//   streaming_store  plain loads; what is stored leaves the caches first
// Up to compute capability 3.x the operator did change the count: with L1 a miss moved a line of
// 128 bytes, without it segments of 32 (docs/catalogue.md). Since then a line has four sectors, and
// only those that are asked for move.
#include "warpgauge/warpgauge.h"

namespace cache_operators {

constexpr int kWarp = 32, kWarps = 8;
constexpr int kThreads = kWarp * kWarps;

// CPU reference: word i is the sum of the words of its block whose place is its own, modulo 32.
void add_into(std::vector<int>& sums, const std::vector<int>& a) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t first = i / kThreads * kThreads;
    sums[i] = 0;
    for (std::size_t j = first + i % kWarp; j < first + kThreads && j < a.size(); j += kWarp) {
      sums[i] += a[j];
    }
  }
}

struct Sums : warpgauge::Problem {
  const int n;
  warpgauge::Input<int> a;
  warpgauge::Output<int> sums;

  explicit Sums(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), a(*this, n), sums(*this, n) {}
  int blocks() const { return (n + kThreads - 1) / kThreads; }
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<int> expected(n);
    add_into(expected, a.host());
    comparison.equal(sums, expected);
  }
};

struct Cached {
  static __device__ int load(const int* word) { return __ldca(word); }
};
struct L2Only {
  static __device__ int load(const int* word) { return __ldcg(word); }
};
struct Streaming {
  static __device__ int load(const int* word) { return __ldcs(word); }
};
struct FetchedAgain {
  static __device__ int load(const int* word) { return __ldcv(word); }
};
struct ReadOnly {
  static __device__ int load(const int* word) { return __ldg(word); }
};

// Each warp begins with its own 32 words and goes round: all 8 of the block read all of its words.
template <typename Operator>
__device__ int sum_of_rows(const int* a, int n) {
  const int first = blockIdx.x * kThreads;
  int sum = 0;
  for (int row = 0; row < kWarps; ++row) {
    const int i = first + (threadIdx.x + row * kWarp) % kThreads;
    if (i < n) sum += Operator::load(a + i);
  }
  return sum;
}

template <typename Operator>
__global__ void add_rows(int* sums, const int* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) sums[i] = sum_of_rows<Operator>(a, n);
}

__global__ void add_rows_and_forget(int* sums, const int* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) __stcs(sums + i, sum_of_rows<Cached>(a, n));
}

template <typename Operator>
void launch(Sums& p) {
  add_rows<Operator><<<p.blocks(), kThreads>>>(p.sums, p.a, p.n);
}

WARPGAUGE_FAMILY(cache_operators) {
  const std::vector<warpgauge::Size> sizes = {{65536}, {1000}, warpgauge::large({67108864})};
  const auto i32 =
      family.problem<Sums>("i32", sizes).sizes_between({1}, {67108864}).relative_to("cached");
  i32.variant("cached", launch<Cached>);
  i32.variant("l2_only", launch<L2Only>);
  i32.variant("streaming", launch<Streaming>);
  i32.variant("fetched_again", launch<FetchedAgain>);
  i32.variant("read_only", launch<ReadOnly>);
  i32.variant("streaming_store",
              [](Sums& p) { add_rows_and_forget<<<p.blocks(), kThreads>>>(p.sums, p.a, p.n); });
}

}  // namespace cache_operators
