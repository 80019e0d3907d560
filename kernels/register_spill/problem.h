// The problem of register_spill, and the device code that needs many registers.
#pragma once

#include "warpgauge/warpgauge.h"

namespace register_spill {

// A block works on a matrix, each thread on a column.
constexpr int kRows = 128, kColumns = 128;
constexpr int kElements = kRows * kColumns;

// CPU reference.
inline std::vector<int> sums_of_others(const std::vector<int>& a) {
  std::vector<int> b(a.size());
  for (std::size_t matrix = 0; matrix < a.size(); matrix += kElements) {
    for (int column = 0; column < kColumns; ++column) {
      int sum = 0;
      for (int i = column; i < kElements; i += kColumns) sum += a[matrix + i];
      for (int i = column; i < kElements; i += kColumns) b[matrix + i] = sum - a[matrix + i];
    }
  }
  return b;
}

// The size is the number of matrices. Elements are at most 32767, so that sums fit into an int.
struct SumsOfOthers : warpgauge::Problem {
  const int matrices;
  warpgauge::Input<int> a;
  warpgauge::Output<int> b;

  explicit SumsOfOthers(const warpgauge::Size& size)
      : matrices(static_cast<int>(size[0])),
        a(*this, matrices * kElements),
        b(*this, matrices * kElements) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(b, sums_of_others(a.host()));
  }
};

// After the last addition all elements of the column are in registers. The compiler cannot load
// them again later, because it must assume that b overlaps a.
inline __device__ void keep_and_subtract(int* b, const int* a) {
  // From here on the offsets of rows are constants of the code, which cost no registers.
  a += blockIdx.x * kElements + threadIdx.x;
  b += blockIdx.x * kElements + threadIdx.x;
  int kept[kRows];
  int sum = 0;
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    kept[row] = a[row * kColumns];
    sum += kept[row];
  }
#pragma unroll
  for (int row = 0; row < kRows; ++row) b[row * kColumns] = sum - kept[row];
}

// The launch of every kernel of the family.
inline void launch(SumsOfOthers& p, void (*kernel)(int*, const int*)) {
  kernel<<<p.matrices, kColumns>>>(p.b, p.a);
}

inline const std::vector<warpgauge::Size> kSizes = {{1}, {32}};

}  // namespace register_spill
