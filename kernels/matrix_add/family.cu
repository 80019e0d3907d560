// Matrices made from the place of their elements, A[y][x] = 10 y + x, and the sum of two matrices.
// In a matrix of 10 x 10 the element is the index itself: 10 y + x.
//
// The assignment of two indices to threads matters. Matrices are stored row by row, so lanes must
// differ in x: `by_columns` lets them differ in y, and each lane wants a sector of its own
// (global.load.sectors_per_request: 32). `by_rows` is the cure. It has one flaw: a row whose length
// is no multiple of 8 floats starts inside a sector, and its requests touch one more each
// (global.excess_sectors). Where only the elements matter, not their place, `flat` takes the matrix
// as one long vector, which has no row ends.
#include "warpgauge/warpgauge.h"

namespace matrix_add {

constexpr int kWarp = 32;
constexpr int kWarps = 8;  // of a block
constexpr int kThreads = kWarps * kWarp;
constexpr int kRowFactor = 10;

/// A matrix of h rows and w columns, and the blocks that cover it.
struct Shape {
  int h, w;

  explicit Shape(const warpgauge::Size& size)
      : h(static_cast<int>(size[0])), w(static_cast<int>(size[1])) {}
  int count() const { return h * w; }
  /// Blocks `width` wide and `height` high.
  dim3 blocks(int width, int height) const {
    return dim3((w + width - 1) / width, (h + height - 1) / height);
  }
  unsigned flat_blocks() const { return (count() + kThreads - 1) / kThreads; }
};

// CPU reference. Small integers: exact in float, too.
template <typename T>
std::vector<T> from_index(const Shape& shape) {
  std::vector<T> c(shape.count());
  for (int y = 0; y < shape.h; ++y) {
    for (int x = 0; x < shape.w; ++x) c[y * shape.w + x] = static_cast<T>(kRowFactor * y + x);
  }
  return c;
}

// CPU reference. One addition is rounded in one way only, so results are equal, not just close.
template <typename T>
std::vector<T> sum(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) c[i] = a[i] + b[i];
  return c;
}

template <typename T>
struct Create : warpgauge::Problem {
  const Shape shape;
  warpgauge::Output<T> c;

  explicit Create(const warpgauge::Size& size) : shape(size), c(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(c, from_index<T>(shape));
  }
};

template <typename T>
struct Add : warpgauge::Problem {
  const Shape shape;
  warpgauge::Input<T> a, b;
  warpgauge::Output<T> c;

  explicit Add(const warpgauge::Size& size)
      : shape(size), a(*this, size.count(), 1), b(*this, size.count(), 2), c(*this, size.count()) {}
  double flops() const override { return shape.count(); }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(c, sum(a.host(), b.host()));
  }
};

// Nothing to read: the element is worth what its place says.
template <typename T>
__global__ void create(T* c, int h, int w) {
  const int x = blockIdx.x * kWarp + threadIdx.x;
  const int y = blockIdx.y * kWarps + threadIdx.y;
  if (x < w && y < h) c[y * w + x] = static_cast<T>(kRowFactor * y + x);
}

// A warp adds 32 elements of a column: w elements apart, a sector each, of which it uses one.
template <typename T>
__global__ void by_columns(T* c, const T* a, const T* b, int h, int w) {
  const int x = blockIdx.x * kWarps + threadIdx.y;
  const int y = blockIdx.y * kWarp + threadIdx.x;
  if (x < w && y < h) c[y * w + x] = a[y * w + x] + b[y * w + x];
}

// A warp adds 32 elements of a row: neighbours.
template <typename T>
__global__ void by_rows(T* c, const T* a, const T* b, int h, int w) {
  const int x = blockIdx.x * kWarp + threadIdx.x;
  const int y = blockIdx.y * kWarps + threadIdx.y;
  if (x < w && y < h) c[y * w + x] = a[y * w + x] + b[y * w + x];
}

// A warp adds 32 elements wherever they lie: each request starts at a multiple of 32 elements.
template <typename T>
__global__ void flat(T* c, const T* a, const T* b, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) c[i] = a[i] + b[i];
}

template <typename T>
void launch_create(Create<T>& p) {
  create<T><<<p.shape.blocks(kWarp, kWarps), dim3(kWarp, kWarps)>>>(p.c, p.shape.h, p.shape.w);
}

template <typename T>
void launch_by_columns(Add<T>& p) {
  by_columns<T>
      <<<p.shape.blocks(kWarps, kWarp), dim3(kWarp, kWarps)>>>(p.c, p.a, p.b, p.shape.h, p.shape.w);
}

template <typename T>
void launch_by_rows(Add<T>& p) {
  by_rows<T>
      <<<p.shape.blocks(kWarp, kWarps), dim3(kWarp, kWarps)>>>(p.c, p.a, p.b, p.shape.h, p.shape.w);
}

template <typename T>
void launch_flat(Add<T>& p) {
  flat<T><<<p.shape.flat_blocks(), kThreads>>>(p.c, p.a, p.b, p.shape.count());
}

template <typename T>
void add_variants(const warpgauge::Family& family, const char* type) {
  const std::vector<warpgauge::Size> sizes = {
      {10, 10}, {512, 2048}, {1000, 700}, warpgauge::large({8192, 8192})};
  family.problem<Create<T>>(type, sizes)
      .sizes_between({1, 1}, {8192, 8192})
      .variant("create", launch_create<T>);
  const auto sums = family.problem<Add<T>>(type, sizes).sizes_between({1, 1}, {8192, 8192});
  sums.variant("by_columns", launch_by_columns<T>);
  sums.variant("by_rows", launch_by_rows<T>);
  sums.variant("flat", launch_flat<T>);
}

WARPGAUGE_FAMILY(matrix_add) {
  add_variants<int>(family, "i32");
  add_variants<float>(family, "f32");
  add_variants<double>(family, "f64");
}

}  // namespace matrix_add
