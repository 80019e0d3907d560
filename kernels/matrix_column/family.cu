// 32x32 matrices in shared memory, one row a lane: a warp accesses column after column. It reads
// them for row sums (`plain`), or writes them where each row counts up from a start
// (`column_store`).
//
// The shortest way to a 32-way bank conflict: a row of 32 words spans all 32 banks, so a column
// lies in one bank and its 32 words come or go one at a time (shared.bank_ways). One unused word at
// the end of each row cures it, for reads and for stores.
#include "warpgauge/warpgauge.h"

namespace matrix_column {

constexpr int kEdge = 32;  // rows, columns, and lanes of a warp

// CPU reference: the sum of each 32 consecutive elements.
std::vector<int> row_sums(const std::vector<int>& a) {
  std::vector<int> sums(a.size() / kEdge);
  for (std::size_t i = 0; i < a.size(); ++i) sums[i / kEdge] += a[i];
  return sums;
}

// The size is the number of matrices.
struct RowSums : warpgauge::Problem {
  const int matrices;
  warpgauge::Input<int> a;
  warpgauge::Output<int> sums;

  explicit RowSums(const warpgauge::Size& size)
      : matrices(static_cast<int>(size[0])),
        a(*this, matrices * kEdge * kEdge),
        sums(*this, matrices * kEdge) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(sums, row_sums(a.host()));
  }
};

// CPU reference: row i is starts[i], starts[i] + 1, ...
std::vector<int> counting_rows(const std::vector<int>& starts) {
  std::vector<int> rows(starts.size() * kEdge);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = starts[i / kEdge] + static_cast<int>(i % kEdge);
  }
  return rows;
}

struct CountingRows : warpgauge::Problem {
  const int matrices;
  warpgauge::Input<int> starts;
  warpgauge::Output<int> rows;

  explicit CountingRows(const warpgauge::Size& size)
      : matrices(static_cast<int>(size[0])),
        starts(*this, matrices * kEdge),
        rows(*this, matrices * kEdge * kEdge) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(rows, counting_rows(starts.host()));
  }
};

// One warp a matrix. It copies row by row, where lanes differ in the column: no conflict. Then
// lanes differ in the row: they reach kPitch words apart.
template <int kPitch>
__global__ void sum_rows(int* sums, const int* a) {
  __shared__ int matrix[kEdge][kPitch];
  const int lane = threadIdx.x;
  for (int row = 0; row < kEdge; ++row) {
    matrix[row][lane] = a[(blockIdx.x * kEdge + row) * kEdge + lane];
  }
  __syncthreads();
  int sum = 0;
  // Not unrolled: the compiler would join four reads of a row into one of 16 bytes, which has
  // conflicts too, but not 32 ways.
#pragma unroll 1
  for (int column = 0; column < kEdge; ++column) {
    sum += matrix[lane][column];
  }
  sums[blockIdx.x * kEdge + lane] = sum;
}

// The reverse: each lane fills its own row, so that every store of the warp is a column. The rows
// then go out one by one, and these reads have no conflict.
template <int kPitch>
__global__ void fill_rows(int* rows, const int* starts) {
  __shared__ int matrix[kEdge][kPitch];
  const int lane = threadIdx.x;
  const int start = starts[blockIdx.x * kEdge + lane];
  // Not unrolled, for the same reason: four stores to a row would become one.
#pragma unroll 1
  for (int column = 0; column < kEdge; ++column) {
    matrix[lane][column] = start + column;
  }
  __syncthreads();
  for (int row = 0; row < kEdge; ++row) {
    rows[(blockIdx.x * kEdge + row) * kEdge + lane] = matrix[row][lane];
  }
}

template <int kPitch>
void launch_sum(RowSums& p) {
  sum_rows<kPitch><<<p.matrices, kEdge>>>(p.sums, p.a);
}

template <int kPitch>
void launch_fill(CountingRows& p) {
  fill_rows<kPitch><<<p.matrices, kEdge>>>(p.rows, p.starts);
}

WARPGAUGE_FAMILY(matrix_column) {
  const std::vector<warpgauge::Size> sizes = {{1}, {1000}};
  const auto sums = family.problem<RowSums>("i32", sizes).sizes_between({1}, {1000});
  sums.variant("plain", launch_sum<kEdge>);
  sums.variant("padded", launch_sum<kEdge + 1>);
  const auto rows = family.problem<CountingRows>("i32", sizes).sizes_between({1}, {1000});
  rows.variant("column_store", launch_fill<kEdge>);
  rows.variant("column_store_padded", launch_fill<kEdge + 1>);
}

}  // namespace matrix_column
