// A stencil over a matrix: four times each node less its four neighbours, where a node at the edge
// has only those neighbours that there are.
//
// The few nodes at the edge cost more than their share. `tested` treats them in a branch of their
// own; in every warp with a node at the left or right edge its one lane goes another way, and 31
// lanes wait for it (branches.divergent). Two cures:
//   clamped  a neighbour that is not there is the node itself, and their difference is 0: the same
//            code for all nodes
//   rimmed   the matrix is stored with a rim, a copy of its edge, so that every node is inner. The
//            rim moves the rows: more requests begin inside a sector (global.excess_sectors)
#include "warpgauge/warpgauge.h"

namespace stencil_boundary {

constexpr int kWide = 32, kHigh = 8;  // a block: each warp makes 32 nodes of a row
constexpr int kSides = 4;

/// A matrix of h rows and w columns.
struct Shape {
  int h, w;
  explicit Shape(const warpgauge::Size& size)
      : h(static_cast<int>(size[0])), w(static_cast<int>(size[1])) {}
  int count() const { return h * w; }
  dim3 blocks() const { return dim3((w + kWide - 1) / kWide, (h + kHigh - 1) / kHigh); }
};

// CPU reference.
std::vector<int> differences(const std::vector<int>& a, const Shape& shape) {
  const auto [h, w] = shape;
  std::vector<int> b(a.size());
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      int& sum = b[y * w + x];
      const int here = a[y * w + x];
      if (x > 0) sum += here - a[y * w + x - 1];
      if (x < w - 1) sum += here - a[y * w + x + 1];
      if (y > 0) sum += here - a[(y - 1) * w + x];
      if (y < h - 1) sum += here - a[(y + 1) * w + x];
    }
  }
  return b;
}

struct Stencil : warpgauge::Problem {
  const Shape shape;
  warpgauge::Input<int> a;
  warpgauge::Output<int> b;

  explicit Stencil(const warpgauge::Size& size)
      : shape(size), a(*this, shape.count()), b(*this, shape.count()) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(b, differences(a.host(), shape));
  }
};

// The matrix with a copy of its edge around it.
std::vector<int> with_rim(const std::vector<int>& a, const Shape& shape) {
  const auto [h, w] = shape;
  std::vector<int> rimmed;
  for (int y = -1; y <= h; ++y) {
    const int row = y < 0 ? 0 : y < h ? y : h - 1;
    rimmed.push_back(a[row * w]);
    rimmed.insert(rimmed.end(), a.begin() + row * w, a.begin() + (row + 1) * w);
    rimmed.push_back(a[row * w + w - 1]);
  }
  return rimmed;
}

struct RimmedStencil : warpgauge::Problem {
  const Shape shape;
  const std::vector<int> inner;
  warpgauge::Input<int> rimmed;
  warpgauge::Output<int> b;

  explicit RimmedStencil(const warpgauge::Size& size)
      : shape(size),
        inner(warpgauge::random_values<int>(shape.count(), 1)),
        rimmed(*this, with_rim(inner, shape)),
        b(*this, shape.count()) {}
  /// The rim is the solution's own affair.
  double bytes() const override { return 2.0 * sizeof(int) * shape.count(); }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(b, differences(inner, shape));
  }
};

__device__ int clamp(int value, int last) { return min(max(value, 0), last); }

// A loop that is not unrolled cannot become predicated instructions: the branch stays a branch, as
// it would around a treatment of the edge worth the name.
__device__ int at_edge(const int* a, int here, int y, int x, int h, int w) {
  int sum = 0;
#pragma unroll 1
  for (int side = 0; side < kSides; ++side) {
    const int dx = (side == 1) - (side == 0), dy = (side == 3) - (side == 2);
    sum += here - a[clamp(y + dy, h - 1) * w + clamp(x + dx, w - 1)];
  }
  return sum;
}

__global__ void tested(int* b, const int* a, int h, int w) {
  const int x = blockIdx.x * kWide + threadIdx.x, y = blockIdx.y * kHigh + threadIdx.y;
  if (x >= w || y >= h) return;
  const int i = y * w + x, here = a[i];
  int sum;
  if ((x > 0) & (x < w - 1) & (y > 0) & (y < h - 1)) {  // one branch, not four
    sum = kSides * here - a[i - 1] - a[i + 1] - a[i - w] - a[i + w];
  } else {
    sum = at_edge(a, here, y, x, h, w);
  }
  b[i] = sum;
}

__global__ void clamped(int* b, const int* a, int h, int w) {
  const int x = blockIdx.x * kWide + threadIdx.x, y = blockIdx.y * kHigh + threadIdx.y;
  if (x >= w || y >= h) return;
  const int left = clamp(x - 1, w - 1), right = clamp(x + 1, w - 1);
  const int above = clamp(y - 1, h - 1), below = clamp(y + 1, h - 1);
  b[y * w + x] = kSides * a[y * w + x] - a[y * w + left] - a[y * w + right] - a[above * w + x] -
                 a[below * w + x];
}

// The node (y, x) lies a row further down and a word further right than without a rim.
__global__ void rimmed(int* b, const int* a, int h, int w) {
  const int x = blockIdx.x * kWide + threadIdx.x, y = blockIdx.y * kHigh + threadIdx.y;
  if (x >= w || y >= h) return;
  const int pitch = w + 2, i = (y + 1) * pitch + x + 1;
  b[y * w + x] = kSides * a[i] - a[i - 1] - a[i + 1] - a[i - pitch] - a[i + pitch];
}

void launch(Stencil& p, void (*kernel)(int*, const int*, int, int)) {
  kernel<<<p.shape.blocks(), dim3(kWide, kHigh)>>>(p.b, p.a, p.shape.h, p.shape.w);
}

void launch_rimmed(RimmedStencil& p) {
  rimmed<<<p.shape.blocks(), dim3(kWide, kHigh)>>>(p.b, p.rimmed, p.shape.h, p.shape.w);
}

WARPGAUGE_FAMILY(stencil_boundary) {
  // Rows of whole warps; neither rows nor columns a multiple of the block.
  const std::vector<warpgauge::Size> sizes = {
      {1000, 1024}, {700, 500}, warpgauge::large({8192, 8192})};
  const auto i32 = family.problem<Stencil>("i32", sizes).sizes_between({1, 1}, {8192, 8192});
  i32.variant("tested", [](Stencil& p) { launch(p, tested); });
  i32.variant("clamped", [](Stencil& p) { launch(p, clamped); });
  family.problem<RimmedStencil>("i32", sizes)
      .sizes_between({1, 1}, {8192, 8192})
      .variant("rimmed", launch_rimmed);
}

}  // namespace stencil_boundary
