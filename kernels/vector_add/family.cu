// Sum of two vectors, c[i] = a[i] + b[i].
//
// Threads find their elements in three ways. `one_block` lets 128 threads walk over the vectors:
// right for any length and perfectly coalesced, and still slow, because one block occupies one
// multiprocessor. Only time shows that, no count. `grid` gives each element a thread; the last
// block reaches beyond the end, so each thread checks its index. `vectorised` moves four elements a
// thread by 16-byte words: the same sectors in a quarter of the requests (global.load.requests).
#include "warpgauge/warpgauge.h"

namespace vector_add {

constexpr int kSmallBlock = 128, kThreads = 256;
constexpr int kLanes = 4;  // elements of a float4

// CPU reference. One addition is rounded in one way only, so results are equal, not just close.
void add_into(std::vector<float>& c, const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) c[i] = a[i] + b[i];
}

struct Add : warpgauge::Problem {
  const int n;
  warpgauge::Input<float> a, b;
  warpgauge::Output<float> c;

  explicit Add(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), a(*this, n, 1), b(*this, n, 2), c(*this, n) {}

  /// Blocks that give each of `items` a thread.
  static int blocks(int items) { return (items + kThreads - 1) / kThreads; }
  double flops() const override { return n; }
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<float> expected(n);
    add_into(expected, a.host(), b.host());
    comparison.equal(c, expected);
  }
  bool solve_sequentially() override {
    solution_.resize(n);
    add_into(solution_, a.host(), b.host());
    return true;
  }

 private:
  std::vector<float> solution_;  // of the CPU
};

// The lanes of a warp add neighbouring elements; the block goes on by its own width. Not unrolled:
// the compiler would do the rounds that do not fill its group of four first. Where the last round
// is for a part of a warp only, these lanes would do one round more there and stay ahead of the
// others to the end, at the price of a sector in every request.
__global__ void one_block(float* c, const float* a, const float* b, int n) {
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += kSmallBlock) c[i] = a[i] + b[i];
}

// One element a thread, as many blocks as it takes.
__global__ void grid(float* c, const float* a, const float* b, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// One float4 a thread. The up to three elements behind the last float4 go to the threads that
// follow, one each.
__global__ void vectorised(float* c, const float* a, const float* b, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int whole = n / kLanes;
  if (i < whole) {
    const float4 x = reinterpret_cast<const float4*>(a)[i];
    const float4 y = reinterpret_cast<const float4*>(b)[i];
    reinterpret_cast<float4*>(c)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    return;
  }
  const int rest = kLanes * whole + i - whole;
  if (rest < n) c[rest] = a[rest] + b[rest];
}

void launch_one_block(Add& p) { one_block<<<1, kSmallBlock>>>(p.c, p.a, p.b, p.n); }

void launch_grid(Add& p) { grid<<<Add::blocks(p.n), kThreads>>>(p.c, p.a, p.b, p.n); }

void launch_vectorised(Add& p) {
  const int threads = p.n / kLanes + p.n % kLanes;
  vectorised<<<Add::blocks(threads), kThreads>>>(p.c, p.a, p.b, p.n);
}

WARPGAUGE_FAMILY(vector_add) {
  // One small block exactly; whole blocks; a last block of 67 elements.
  const std::vector<warpgauge::Size> sizes = {{128}, {1048576}, {1000003}};
  family.problem<Add>("f32", sizes)
      .sizes_between({1}, {67108864})
      .variant("one_block", launch_one_block);
  std::vector<warpgauge::Size> more_sizes = sizes;
  more_sizes.push_back(warpgauge::large({67108864}));
  const auto f32 = family.problem<Add>("f32", more_sizes).sizes_between({1}, {67108864});
  f32.variant("grid", launch_grid);
  f32.variant("vectorised", launch_vectorised);
}

}  // namespace vector_add
