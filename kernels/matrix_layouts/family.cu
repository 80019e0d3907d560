// Three ways to store a matrix, and three uses of it: C = A + B, sums of columns, sums of rows.
// a[y][x] is written alike for all three, and addressed differently.
//   array         T a[M][N]: the width is part of the type, so a place is arithmetic of constants
//   flat          a[y * w + x]: the same place, of a width that is known when the kernel runs
//   row_pointers  T** a: the row is looked up first. The lanes of a warp share a row, so the
//                 look-up is a request of one sector, but one that the load after it waits for
//                 (global.load.requests)
// Sums of columns by neighbouring lanes read neighbours. Sums of rows, a row a lane, read a column
// of the matrix at a time, 32 sectors a request (global.load.sectors_per_request): the layout does
// not help, another division of the work does, a row a warp.
#include <string>

#include "warpgauge/warpgauge.h"

namespace matrix_layouts {

constexpr int kWarp = 32;
constexpr int kWarps = 8;  // of a block
constexpr int kThreads = kWarps * kWarp;

// `flat` with the notation of the others.
template <typename T>
struct Flat {
  T* data;
  int w;
  __device__ T* operator[](int y) const { return data + y * w; }
};

// The addresses of the rows of a matrix. They lie one behind the other here, so that counts differ
// by the look-ups alone.
template <typename T>
class RowPointers : public warpgauge::TypedBuffer<T*> {
 public:
  RowPointers(warpgauge::Problem& problem, T* matrix, int h, int w)
      : warpgauge::TypedBuffer<T*>(problem, h), rows_(h) {
    for (int y = 0; y < h; ++y) rows_[y] = matrix + static_cast<std::size_t>(y) * w;
  }
  void reset() override { this->upload(rows_.data()); }
  /// No solution must move them: other layouts do without.
  double traffic() const override { return 0; }
  operator T* const*() const { return this->data(); }

 private:
  std::vector<T*> rows_;
};

/// A matrix of h rows and w columns, and the blocks that cover it.
struct Shape {
  int h, w;

  explicit Shape(const warpgauge::Size& size)
      : h(static_cast<int>(size[0])), w(static_cast<int>(size[1])) {}
  std::size_t count() const { return static_cast<std::size_t>(h) * w; }
  dim3 tiles() const { return dim3((w + kWarp - 1) / kWarp, (h + kWarps - 1) / kWarps); }
};

// Below 2^11: sums of up to 2^13 of them are exact in float, in any order.
template <typename T>
std::vector<T> small_integers(std::size_t count, std::uint32_t seed) {
  const std::vector<int> values = warpgauge::random_values<int>(count, seed);
  std::vector<T> small(count);
  for (std::size_t i = 0; i < count; ++i) small[i] = static_cast<T>(values[i] % 2048);
  return small;
}

template <typename T>
struct Sum : warpgauge::Problem {
  const Shape shape;
  warpgauge::Input<T> a, b;
  warpgauge::Output<T> c;
  RowPointers<const T> rows_of_a, rows_of_b;
  RowPointers<T> rows_of_c;

  explicit Sum(const warpgauge::Size& size)
      : shape(size),
        a(*this, shape.count(), 1),
        b(*this, shape.count(), 2),
        c(*this, shape.count()),
        rows_of_a(*this, a, shape.h, shape.w),
        rows_of_b(*this, b, shape.h, shape.w),
        rows_of_c(*this, c, shape.h, shape.w) {}
  // CPU reference.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<T> expected(shape.count());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = a.host()[i] + b.host()[i];
    comparison.equal(c, expected);
  }
};

// One sum for each row or each column.
template <typename T>
struct Sums : warpgauge::Problem {
  const Shape shape;
  warpgauge::Input<T> a;
  warpgauge::Output<T> sums;
  RowPointers<const T> rows_of_a;

  Sums(const Shape& shape, int sums)
      : shape(shape),
        a(*this, small_integers<T>(shape.count(), 1)),
        sums(*this, sums),
        rows_of_a(*this, a, shape.h, shape.w) {}
};

template <typename T>
struct RowSums : Sums<T> {
  explicit RowSums(const warpgauge::Size& size) : Sums<T>(Shape(size), Shape(size).h) {}
  // CPU reference.
  void check(warpgauge::Comparison& comparison) const override {
    const auto [h, w] = this->shape;
    std::vector<T> expected(h);
    for (std::size_t i = 0; i < this->a.count(); ++i) expected[i / w] += this->a.host()[i];
    comparison.equal(this->sums, expected);
  }
};

template <typename T>
struct ColumnSums : Sums<T> {
  explicit ColumnSums(const warpgauge::Size& size) : Sums<T>(Shape(size), Shape(size).w) {}
  // CPU reference.
  void check(warpgauge::Comparison& comparison) const override {
    const auto [h, w] = this->shape;
    std::vector<T> expected(w);
    for (std::size_t i = 0; i < this->a.count(); ++i) expected[i % w] += this->a.host()[i];
    comparison.equal(this->sums, expected);
  }
};

// A warp adds 32 elements of a row.
template <typename Result, typename Matrix>
__global__ void add(Result c, Matrix a, Matrix b, int h, int w) {
  const int x = blockIdx.x * kWarp + threadIdx.x;
  const int y = blockIdx.y * kWarps + threadIdx.y;
  if (x < w && y < h) c[y][x] = a[y][x] + b[y][x];
}

// A column a lane: the warp walks down 32 columns side by side, and looks up each row again.
template <typename T, typename Matrix>
__global__ void column_sums(T* sums, Matrix a, int h, int w) {
  const int x = blockIdx.x * kThreads + threadIdx.x;
  if (x >= w) return;
  T sum = 0;
  for (int y = 0; y < h; ++y) sum += a[y][x];
  sums[x] = sum;
}

// A row a lane: the warp walks along 32 rows, whose elements are a row's length apart.
template <typename T, typename Matrix>
__global__ void row_sums(T* sums, Matrix a, int h, int w) {
  const int y = blockIdx.x * kThreads + threadIdx.x;
  if (y >= h) return;
  const auto row = a[y];
  T sum = 0;
  for (int x = 0; x < w; ++x) sum += row[x];
  sums[y] = sum;
}

// A row a warp: lanes read neighbours, and add up what they have crosswise.
template <typename T, typename Matrix>
__global__ void row_sums_by_warps(T* sums, Matrix a, int h, int w) {
  const int y = blockIdx.x * kWarps + threadIdx.y;
  if (y >= h) return;
  const auto row = a[y];
  T sum = 0;
  for (int x = threadIdx.x; x < w; x += kWarp) sum += row[x];
  for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (threadIdx.x == 0) sums[y] = sum;
}

// A layout makes the matrix at `data` into what a kernel writes [y][x] behind.
template <int kWidth>
struct Array {
  static constexpr const char* kName = "array";
  template <typename T>
  static auto of(T* data, T* const*, int) {
    return reinterpret_cast<T(*)[kWidth]>(data);
  }
};
struct ByRowPointers {
  static constexpr const char* kName = "row_pointers";
  template <typename T>
  static auto of(T*, T* const* rows, int) {
    return rows;
  }
};
struct ByFlatIndex {
  static constexpr const char* kName = "flat";
  template <typename T>
  static auto of(T* data, T* const*, int w) {
    return Flat<T>{data, w};
  }
};

template <typename Layout, typename T>
void launch_add(Sum<T>& p) {
  const auto a = Layout::template of<const T>(p.a, p.rows_of_a, p.shape.w);
  const auto b = Layout::template of<const T>(p.b, p.rows_of_b, p.shape.w);
  const auto c = Layout::template of<T>(p.c, p.rows_of_c, p.shape.w);
  add<<<p.shape.tiles(), dim3(kWarp, kWarps)>>>(c, a, b, p.shape.h, p.shape.w);
}

template <typename Layout, typename T>
auto matrix_of(Sums<T>& p) {
  return Layout::template of<const T>(p.a, p.rows_of_a, p.shape.w);
}

unsigned blocks_for(int threads) { return (threads + kThreads - 1) / kThreads; }

template <typename Layout, typename T>
void launch_column_sums(Sums<T>& p) {
  const auto a = matrix_of<Layout>(p);
  column_sums<T><<<blocks_for(p.shape.w), kThreads>>>(p.sums, a, p.shape.h, p.shape.w);
}

template <typename Layout, typename T>
void launch_row_sums(Sums<T>& p) {
  const auto a = matrix_of<Layout>(p);
  row_sums<T><<<blocks_for(p.shape.h), kThreads>>>(p.sums, a, p.shape.h, p.shape.w);
}

template <typename Layout, typename T>
void launch_row_sums_by_warps(Sums<T>& p) {
  const auto a = matrix_of<Layout>(p);
  const dim3 block(kWarp, kWarps);
  row_sums_by_warps<T><<<blocks_for(p.shape.h * kWarp), block>>>(p.sums, a, p.shape.h, p.shape.w);
}

template <typename Layout, typename T>
void add_layout(const warpgauge::Family& family, const char* type,
                const std::vector<warpgauge::Size>& sizes, int narrowest, int widest) {
  const std::string in = std::string("_") + Layout::kName;
  const warpgauge::Size lowest = {1, narrowest}, highest = {8192, widest};
  family.problem<Sum<T>>(type, sizes)
      .sizes_between(lowest, highest)
      .variant("add" + in, launch_add<Layout, T>);
  family.problem<ColumnSums<T>>(type, sizes)
      .sizes_between(lowest, highest)
      .variant("column_sums" + in, launch_column_sums<Layout, T>);
  const auto of_rows = family.problem<RowSums<T>>(type, sizes).sizes_between(lowest, highest);
  of_rows.variant("row_sums" + in, launch_row_sums<Layout, T>);
  of_rows.variant("row_sums_by_warps" + in, launch_row_sums_by_warps<Layout, T>);
}

template <typename T>
void add_variants(const warpgauge::Family& family, const char* type) {
  // Whole blocks; neither rows nor columns a multiple of the block. The width of an array is part
  // of its type: a layout for each.
  const warpgauge::Size whole = {512, 1024}, odd = {1000, 700};
  const warpgauge::Size huge = warpgauge::large({8192, 8192});
  add_layout<Array<1024>, T>(family, type, {whole}, 1024, 1024);
  add_layout<Array<700>, T>(family, type, {odd}, 700, 700);
  add_layout<Array<8192>, T>(family, type, {huge}, 8192, 8192);
  add_layout<ByRowPointers, T>(family, type, {whole, odd, huge}, 1, 8192);
  add_layout<ByFlatIndex, T>(family, type, {whole, odd, huge}, 1, 8192);
}

WARPGAUGE_FAMILY(matrix_layouts) {
  add_variants<float>(family, "f32");
  add_variants<int>(family, "i32");
}

}  // namespace matrix_layouts
