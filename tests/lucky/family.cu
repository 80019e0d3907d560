// Cases that are right by luck: at their own size, with the usual values, or because their check
// does not look.
#include <cstdio>
#include <cstdlib>

#include "warpgauge/warpgauge.h"

namespace lucky {

constexpr int kThreads = 256;

struct Copy : warpgauge::Problem {
  const int n;
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;
  explicit Copy(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), a(*this, n), b(*this, n) {}
  int blocks() const { return (n + kThreads - 1) / kThreads; }
  void check(warpgauge::Comparison& comparison) const override { comparison.equal(b, a.host()); }
};

// Its check looks at the first element alone.
struct FirstChecked : Copy {
  using Copy::Copy;
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(std::vector<float>{b.host()[0]}, std::vector<float>{a.host()[0]});
  }
};

struct Transpose : warpgauge::Problem {
  const int h, w;
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;
  explicit Transpose(const warpgauge::Size& size)
      : h(static_cast<int>(size[0])),
        w(static_cast<int>(size[1])),
        a(*this, size.count()),
        b(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<float> expected(a.count());
    for (int i = 0; i < h * w; ++i) expected[i % w * h + i / w] = a.host()[i];
    comparison.equal(b, expected);
  }
};

__global__ void copy(float* b, const float* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) b[i] = a[i];
}

__global__ void unguarded(float* b, const float* a) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  b[i] = a[i];
}

// The first of the usual values is negative.
__global__ void negative_first(float* b, const float* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) b[i] = i == 0 ? -fabsf(a[i]) : a[i];
}

__global__ void first_alone(float* b, const float* a) { b[0] = a[0]; }

// Ends the process if a file is there, which is then gone: once.
void end_once() {
  const char* file = std::getenv("LUCKY_END_ONCE");
  if (file != nullptr && std::remove(file) == 0) std::abort();
}

// The columns of b are the rows of a, of which there are h.
__global__ void square_alone(float* b, const float* a, int h, int w) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < h * w) b[i % w * w + i / w] = a[i];
}

// Only whole blocks come to the barrier. The first warp is the first to run.
__global__ void half_synchronised(float* b, const float* a, int n) {
  __shared__ int count;
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (threadIdx.x == 0) count = n;  // written before the barrier
  if ((blockIdx.x + 1) * kThreads <= n) __syncthreads();
  if (i < count) b[i] = a[i];  // read behind the barrier
}

WARPGAUGE_FAMILY(lucky) {
  const auto f32 = family.problem<Copy>("f32", {{256}}).sizes_between({1}, {4096});
  f32.variant("right", [](Copy& p) { copy<<<p.blocks(), kThreads>>>(p.b, p.a, p.n); });
  f32.variant("one_block", [](Copy& p) { copy<<<1, kThreads>>>(p.b, p.a, p.n); });
  // 256 blocks are enough at its own size.
  family.problem<Copy>("f32", {{65'536}})
      .sizes_between({1}, {1 << 24})
      .variant("full_grid", [](Copy& p) { copy<<<256, kThreads>>>(p.b, p.a, p.n); });
  family.problem<Copy>("f32", {{256}}).sizes_between({0}, {256}).variant("from_none", [](Copy& p) {
    if (p.n > 0) copy<<<p.blocks(), kThreads>>>(p.b, p.a, p.n);
  });
  f32.variant("ends_once", [](Copy& p) {
    if (p.n != 256) end_once();
    copy<<<p.blocks(), kThreads>>>(p.b, p.a, p.n);
  });
  f32.variant("half_synchronised",
              [](Copy& p) { half_synchronised<<<p.blocks(), kThreads>>>(p.b, p.a, p.n); });
  f32.variant("unguarded", [](Copy& p) { unguarded<<<p.blocks(), kThreads>>>(p.b, p.a); });
  family.problem<Copy>("f32", {{256}}).variant("usual_values", [](Copy& p) {
    negative_first<<<p.blocks(), kThreads>>>(p.b, p.a, p.n);
  });
  family.problem<FirstChecked>("f32", {{256}}).variant("moves_too_little", [](Copy& p) {
    first_alone<<<1, 1>>>(p.b, p.a);
  });
  family.problem<Transpose>("f32", {{64, 64}})
      .sizes_between({1, 1}, {512, 512})
      .variant("square_alone", [](Transpose& p) {
        square_alone<<<(p.h * p.w + kThreads - 1) / kThreads, kThreads>>>(p.b, p.a, p.h, p.w);
      });
}

}  // namespace lucky
