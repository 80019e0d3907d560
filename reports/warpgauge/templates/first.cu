#include <warpgauge/warpgauge.h>

__global__ void transpose(float* out, const float* in, int n) {
  __shared__ float tile[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  const int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
  out[v * n + u] = tile[threadIdx.x][threadIdx.y];
}

struct Transpose : warpgauge::Problem {  // one problem at one size
  const int n;
  warpgauge::Input<float> in;    // random, the same at every run
  warpgauge::Output<float> out;  // poisoned before each run
  explicit Transpose(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), in(*this, n * n), out(*this, n * n) {}
  void check(warpgauge::Comparison& comparison) const override {  // the CPU reference
    std::vector<float> expected(n * n);
    for (int i = 0; i < n * n; ++i) expected[i % n * n + i / n] = in.host()[i];
    comparison.equal(out, expected);
  }
};

WARPGAUGE_FAMILY(transpose) {  // variants x sizes: each is a case with an id
  family.problem<Transpose>("f32", {{256}, {1024}}).variant("tiled", [](Transpose& p) {
    transpose<<<dim3(p.n / 32, p.n / 32), dim3(32, 32)>>>(p.out, p.in, p.n);
  });
}
