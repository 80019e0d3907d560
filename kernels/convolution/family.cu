// Convolution of a matrix with a square filter: each element becomes the sum of its neighbours
// up to `radius` rows and columns away, weighted by the filter. Beyond the edges lie zeros.
//
// Neighbours are shared. Each element is needed for (2 * radius + 1)^2 results,
// and so are the weights.
//   global           loads both from global memory for every product (global.load.requests), and as
//                    the window moves, most loads begin inside a sector (global.excess_sectors)
//   constant_filter  has the weights in constant memory, which gives a warp one word at a time:
//                    here all lanes want the same
//   halo_tile        loads what a block needs, its tile and a rim `radius` wide, into shared memory
//                    once. Only loads of the rim still begin inside a sector, in short rows
#include "warpgauge/warpgauge.h"

namespace convolution {

constexpr int kWide = 32, kHigh = 8;  // a block: each warp makes 32 elements of a row
constexpr int kMaxRadius = 8;
constexpr int kMaxTaps = (2 * kMaxRadius + 1) * (2 * kMaxRadius + 1);

__constant__ float constant_weights[kMaxTaps];

// CPU reference, in double: `a` has h rows of w elements, the filter 2 * radius + 1 of as many.
std::vector<double> convolved(const std::vector<float>& a, const std::vector<float>& filter, int h,
                              int w, int radius) {
  const int edge = 2 * radius + 1;
  std::vector<double> b(a.size());
  for (int y = 0; y < h; ++y) {
    for (int dy = -radius; dy <= radius; ++dy) {
      if (y + dy < 0 || y + dy >= h) continue;
      for (int dx = -radius; dx <= radius; ++dx) {
        const double weight = filter[(dy + radius) * edge + dx + radius];
        const int begin = dx < 0 ? -dx : 0, end = dx > 0 ? w - dx : w;
        for (int x = begin; x < end; ++x) b[y * w + x] += weight * a[(y + dy) * w + x + dx];
      }
    }
  }
  return b;
}

// The size is rows, columns, radius.
struct Convolution : warpgauge::Problem {
  const int h, w, radius, taps;
  warpgauge::Input<float> a, filter;
  warpgauge::Output<float> b;

  explicit Convolution(const warpgauge::Size& size)
      : h(static_cast<int>(size[0])),
        w(static_cast<int>(size[1])),
        radius(static_cast<int>(size[2])),
        taps((2 * radius + 1) * (2 * radius + 1)),
        a(*this, size[0] * size[1], 1),
        filter(*this, taps, 2),
        b(*this, size[0] * size[1]) {}

  dim3 blocks() const { return dim3((w + kWide - 1) / kWide, (h + kHigh - 1) / kHigh); }
  double flops() const override { return 2.0 * h * w * taps; }
  void prepare() override {
    WARPGAUGE_CUDA(
        cudaMemcpyToSymbol(constant_weights, filter.host().data(), taps * sizeof(float)));
  }
  void check(warpgauge::Comparison& comparison) const override {
    // Each of `taps` additions rounds a sum below `taps`, by at most 2^-24 of it.
    comparison.close(b, convolved(a.host(), filter.host(), h, w, radius), 0x1p-24 * taps * taps);
  }
};

// One element of b a thread: it walks through its window row by row. Lanes of a warp read
// neighbours, shifted by dx: for most dx they begin inside a sector.
__global__ void global(float* b, const float* a, const float* filter, int h, int w, int radius) {
  const int x = blockIdx.x * kWide + threadIdx.x, y = blockIdx.y * kHigh + threadIdx.y;
  if (x >= w || y >= h) return;
  const int edge = 2 * radius + 1;
  float sum = 0;
  for (int i = 0; i < edge; ++i) {
    const int row = y + i - radius;
    if (row < 0 || row >= h) continue;
    for (int j = 0; j < edge; ++j) {
      const int column = x + j - radius;
      if (column >= 0 && column < w) sum += filter[i * edge + j] * a[row * w + column];
    }
  }
  b[y * w + x] = sum;
}

// Reads the weights from constant memory: half the loads are gone.
__global__ void constant_filter(float* b, const float* a, int h, int w, int radius) {
  const int x = blockIdx.x * kWide + threadIdx.x, y = blockIdx.y * kHigh + threadIdx.y;
  if (x >= w || y >= h) return;
  const int edge = 2 * radius + 1;
  float sum = 0;
  for (int i = 0; i < edge; ++i) {
    const int row = y + i - radius;
    if (row < 0 || row >= h) continue;
    for (int j = 0; j < edge; ++j) {
      const int column = x + j - radius;
      if (column >= 0 && column < w) sum += constant_weights[i * edge + j] * a[row * w + column];
    }
  }
  b[y * w + x] = sum;
}

// The tile of the block with its rim, zero where the matrix has ended: then no thread has to ask
// where its window ends. Windows overlap, so lanes read neighbouring words: no bank conflicts.
__global__ void halo_tile(float* b, const float* a, int h, int w, int radius) {
  extern __shared__ float tile[];
  const int edge = 2 * radius + 1, pitch = kWide + 2 * radius, rows = kHigh + 2 * radius;
  const int left = blockIdx.x * kWide - radius, top = blockIdx.y * kHigh - radius;
  for (int i = threadIdx.y; i < rows; i += kHigh) {
    for (int j = threadIdx.x; j < pitch; j += kWide) {
      const bool inside = top + i >= 0 && top + i < h && left + j >= 0 && left + j < w;
      tile[i * pitch + j] = inside ? a[(top + i) * w + left + j] : 0.0f;
    }
  }
  __syncthreads();
  const int x = blockIdx.x * kWide + threadIdx.x, y = blockIdx.y * kHigh + threadIdx.y;
  if (x >= w || y >= h) return;
  float sum = 0;
  for (int i = 0; i < edge; ++i) {
    for (int j = 0; j < edge; ++j) {
      sum += constant_weights[i * edge + j] * tile[(threadIdx.y + i) * pitch + threadIdx.x + j];
    }
  }
  b[y * w + x] = sum;
}

void launch_global(Convolution& p) {
  global<<<p.blocks(), dim3(kWide, kHigh)>>>(p.b, p.a, p.filter, p.h, p.w, p.radius);
}

void launch_constant_filter(Convolution& p) {
  constant_filter<<<p.blocks(), dim3(kWide, kHigh)>>>(p.b, p.a, p.h, p.w, p.radius);
}

void launch_halo_tile(Convolution& p) {
  const std::size_t words = (kWide + 2 * p.radius) * (kHigh + 2 * p.radius);
  halo_tile<<<p.blocks(), dim3(kWide, kHigh), words * sizeof(float)>>>(p.b, p.a, p.h, p.w,
                                                                       p.radius);
}

WARPGAUGE_FAMILY(convolution) {
  // Whole blocks; neither rows nor columns a multiple of the block.
  const auto f32 =
      family
          .problem<Convolution>(
              "f32",
              {{128, 256, 1}, {128, 256, 4}, {100, 168, 2}, warpgauge::large({4096, 4096, 4})})
          .sizes_between({1, 1, 0}, {4096, 4096, kMaxRadius});
  f32.variant("global", launch_global);
  f32.variant("constant_filter", launch_constant_filter);
  f32.variant("halo_tile", launch_halo_tile);
}

}  // namespace convolution
