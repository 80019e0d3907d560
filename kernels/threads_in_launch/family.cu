// The sum of two vectors by 10^2 to 10^7 threads, and in grids of more than 65,535 blocks.
//
// Threads need not be as many as elements. A size is elements x threads.
//   grid_stride  thread t takes the elements t, t + threads, t + 2 threads, ...: neighbouring lanes
//                always have neighbouring elements, and the requests are the same however many
//                threads there are (global.load.requests). Only time shows how many it takes to
//                keep a GPU busy, about 10^5: fewer leave multiprocessors idle or waiting, more
//                cost the start of more blocks
//   runs         thread t takes a run of neighbouring elements, as a thread of a CPU would: the
//                lanes are a run apart, and each wants a sector of its own (global.excess_sectors).
//                With one element a thread both are the same
// A grid has up to 2^31 - 1 blocks in x (`along_x`), and 65,535 in y and z, which was the limit in
// x, too, before compute capability 3.0. There, and where x is taken, blocks are numbered over two
// dimensions: `folded`.
#include "warpgauge/warpgauge.h"

namespace threads_in_launch {

constexpr int kThreads = 128;      // of a block; all numbers of threads are multiples of it
constexpr int kWarp = 32;          // of a block of along_x and folded: more blocks, fewer threads
constexpr unsigned kHigh = 65535;  // blocks in y at most

// The size is elements, and threads where a second extent says how many.
struct Sum : warpgauge::Problem {
  const int n;
  warpgauge::Input<float> a, b;
  warpgauge::Output<float> c;

  explicit Sum(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), a(*this, n, 1), b(*this, n, 2), c(*this, n) {}
  double flops() const override { return n; }
  // CPU reference. One addition is rounded in one way only.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<float> expected(n);
    for (int i = 0; i < n; ++i) expected[i] = a.host()[i] + b.host()[i];
    comparison.equal(c, expected);
  }
};

struct SumByThreads : Sum {
  const int threads;
  explicit SumByThreads(const warpgauge::Size& size)
      : Sum(size), threads(static_cast<int>(size[1])) {}
};

__global__ void grid_stride(float* c, const float* a, const float* b, int n) {
  const int threads = gridDim.x * kThreads;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += threads) c[i] = a[i] + b[i];
}

__global__ void runs(float* c, const float* a, const float* b, int n, int each) {
  const long long first = (static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x) * each;
  for (long long i = first; i < first + each && i < n; ++i) c[i] = a[i] + b[i];
}

// A block a warp, an element a thread. `block` counts over the whole grid.
__device__ void add_one(float* c, const float* a, const float* b, int n, unsigned block) {
  const unsigned i = block * kWarp + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void along_x(float* c, const float* a, const float* b, int n) {
  add_one(c, a, b, n, blockIdx.x);
}

// Columns of blocks, each as high as may be; in the last one blocks are left without elements.
__global__ void folded(float* c, const float* a, const float* b, int n) {
  add_one(c, a, b, n, blockIdx.x * gridDim.y + blockIdx.y);
}

unsigned divided_up(unsigned n, unsigned by) { return (n + by - 1) / by; }

void launch_runs(SumByThreads& p) {
  runs<<<p.threads / kThreads, kThreads>>>(p.c, p.a, p.b, p.n, divided_up(p.n, p.threads));
}

void launch_folded(Sum& p) {
  const dim3 blocks(divided_up(divided_up(p.n, kWarp), kHigh), kHigh);
  folded<<<blocks, kWarp>>>(p.c, p.a, p.b, p.n);
}

WARPGAUGE_FAMILY(threads_in_launch) {
  // About 10^2, 10^3 ... threads, in whole blocks. The most have a few blocks without an element.
  std::vector<warpgauge::Size> sizes;
  for (const int threads : {128, 1024, 10240, 102400}) sizes.push_back({100000, threads});
  for (const int threads : {128, 1024, 10240, 102400, 1024000, 10240000}) {
    sizes.push_back(warpgauge::large({10000000, threads}));
  }
  const auto by_threads = family.problem<SumByThreads>("f32", sizes)
                              .sizes_between({1, kThreads}, {10000000, 10240000}, {1, kThreads});
  by_threads.variant("grid_stride", [](SumByThreads& p) {
    grid_stride<<<p.threads / kThreads, kThreads>>>(p.c, p.a, p.b, p.n);
  });
  by_threads.variant("runs", launch_runs);

  // 65,625 blocks of 32: more than a grid is high.
  const auto by_elements = family.problem<Sum>("f32", {{2100000}}).sizes_between({1}, {2100000});
  by_elements.variant(
      "along_x", [](Sum& p) { along_x<<<divided_up(p.n, kWarp), kWarp>>>(p.c, p.a, p.b, p.n); });
  by_elements.variant("folded", launch_folded);
}

}  // namespace threads_in_launch
