// Row sums of 32x32 matrices in shared memory, one row a lane: a warp reads column after column.
//
// What it teaches: the shortest way to a 32-way bank conflict. A row of 32 words spans all 32
// banks, so a column lies in one bank and its 32 words come one at a time (shared.bank_ways).
// One unused word at the end of each row cures it.
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

template <int kPitch>
void launch(RowSums& p) {
  sum_rows<kPitch><<<p.matrices, kEdge>>>(p.sums, p.a);
}

WARPGAUGE_FAMILY(matrix_column) {
  const auto i32 = family.problem<RowSums>("i32", {{1}, {1000}});
  i32.variant("plain", launch<kEdge>);
  i32.variant("padded", launch<kEdge + 1>);
}

}  // namespace matrix_column
