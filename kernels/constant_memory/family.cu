// Sums over a table in constant memory, and a sum of vectors with a constant summand.
//
// Constant memory has a cache of its own, which gives a warp one word at a time.
// `uniform` reads one address per warp, the case it is made for, and costs no global request at
// all (global.load.requests). `divergent` runs the same instructions, but with 32 addresses each,
// which are served one after another. No counter shows it, only the time does, up to 32 times as
// long (time.relative_to). The cure is to keep what lanes index for themselves in global memory:
// `from_global` reads 4 or 5 sectors in one go (global.load.sectors_per_request). The constants of
// a module are at most 64 KiB; table and summand fill them to the last byte, and ptxas refuses one
// more (tests/kernels/constants_over_limit.cu).
#include "warpgauge/warpgauge.h"

namespace constant_memory {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kTerms = 32;                    // words of the table that a thread adds up
constexpr int kWords = 16384 - 1;             // of the table
constexpr int kStarts = kWords + 1 - kTerms;  // places to begin at, a multiple of a warp

__constant__ int table[kWords];
__constant__ int summand;
static_assert(sizeof(table) + sizeof(summand) == 64 * 1024);

int blocks_for(int threads) { return (threads + kThreads - 1) / kThreads; }

// CPU reference: thread i adds the kTerms words of `words` from place i % kStarts / per_start on.
std::vector<int> window_sums(const std::vector<int>& words, int n, int per_start) {
  std::vector<int> sums(n);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < kTerms; ++k) sums[i] += words[i % kStarts / per_start + k];
  }
  return sums;
}

// The size is the number of threads. kPerStart neighbours begin at the same place of the table, and
// those behind kStarts from its front again.
template <int kPerStart>
struct WindowSums : warpgauge::Problem {
  const int n;
  warpgauge::Input<int> words;  // the table; what is in global memory is read by `from_global`
  warpgauge::Output<int> sums;

  explicit WindowSums(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), words(*this, kWords), sums(*this, n) {}
  void prepare() override {
    WARPGAUGE_CUDA(cudaMemcpyToSymbol(table, words.host().data(), sizeof(table)));
  }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(sums, window_sums(words.host(), n, kPerStart));
    std::size_t bytes = 0;
    WARPGAUGE_CUDA(cudaGetSymbolSize(&bytes, table));
    comparison.equal(std::vector<std::size_t>{bytes}, std::vector<std::size_t>{sizeof(table)});
    std::vector<int> now(kWords);
    WARPGAUGE_CUDA(cudaMemcpyFromSymbol(now.data(), table, bytes));
    comparison.equal(now, words.host());
  }
};

using PerWarp = WindowSums<kWarp>;
using PerLane = WindowSums<1>;

// The compiler cannot prove that all lanes of a warp agree on i / kWarp. The cache sees it.
__global__ void uniform(int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int k = 0; k < kTerms; ++k) sum += table[i % kStarts / kWarp + k];
  sums[i] = sum;
}

// Neighbouring words for neighbouring lanes, the best in global memory, are the worst here.
__global__ void divergent(int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int k = 0; k < kTerms; ++k) sum += table[i % kStarts + k];
  sums[i] = sum;
}

__global__ void from_global(int* sums, const int* words, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int k = 0; k < kTerms; ++k) sum += words[i % kStarts + k];
  sums[i] = sum;
}

// CPU reference: c = a + b + added, element by element.
std::vector<int> sum_with(int added, const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> c(a.size());
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = a[i] + b[i] + added;
  return c;
}

struct SumWithConstant : warpgauge::Problem {
  static constexpr int kSummand = 12345;
  const int n;
  warpgauge::Input<int> a, b;
  warpgauge::Output<int> c;

  explicit SumWithConstant(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), a(*this, n, 1), b(*this, n, 2), c(*this, n) {}
  /// By its address on the device, as the host would write to any global memory.
  void prepare() override {
    void* address = nullptr;
    WARPGAUGE_CUDA(cudaGetSymbolAddress(&address, summand));
    WARPGAUGE_CUDA(cudaMemcpy(address, &kSummand, sizeof(kSummand), cudaMemcpyHostToDevice));
  }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(c, sum_with(kSummand, a.host(), b.host()));
  }
};

// One word for all threads is what constant memory is for: no request, no sector, no register each.
__global__ void constant_summand(int* c, const int* a, const int* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i] + summand;
}

WARPGAUGE_FAMILY(constant_memory) {
  // One thread for each start in the table; a last block of 232; enough to fill a GPU, so that the
  // kernel and not its launch decides the time.
  const std::vector<warpgauge::Size> sizes = {{kStarts}, {1000}, warpgauge::large({1 << 24})};
  family.problem<PerWarp>("i32", sizes)
      .sizes_between({1}, {1 << 24})
      .variant("uniform", [](PerWarp& p) { uniform<<<blocks_for(p.n), kThreads>>>(p.sums, p.n); });
  const auto per_lane =
      family.problem<PerLane>("i32", sizes).sizes_between({1}, {1 << 24}).relative_to("uniform");
  per_lane.variant("divergent",
                   [](PerLane& p) { divergent<<<blocks_for(p.n), kThreads>>>(p.sums, p.n); });
  per_lane.variant("from_global", [](PerLane& p) {
    from_global<<<blocks_for(p.n), kThreads>>>(p.sums, p.words, p.n);
  });

  const auto vectors =
      family.problem<SumWithConstant>("i32", {{65536}, {1000}}).sizes_between({1}, {65536});
  vectors.variant("constant_summand", [](SumWithConstant& p) {
    constant_summand<<<blocks_for(p.n), kThreads>>>(p.c, p.a, p.b, p.n);
  });
}

}  // namespace constant_memory
