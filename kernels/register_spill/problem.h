// The problem of register_spill, its check, and the arithmetic whose registers are capped.
#pragma once

#include "warpgauge/warpgauge.h"

namespace register_spill {

constexpr int kRows = 128;                   // elements of a column
constexpr int kThreads = 128;                // columns of a matrix, which is what a block works on
constexpr int kElements = kRows * kThreads;  // of a matrix

// CPU reference. A matrix is 128 rows of 128 elements.
inline std::vector<int> sums_of_others(const std::vector<int>& a) {
  std::vector<int> b(a.size());
  for (std::size_t matrix = 0; matrix < a.size(); matrix += kElements) {
    for (int column = 0; column < kThreads; ++column) {
      int sum = 0;
      for (int i = column; i < kElements; i += kThreads) sum += a[matrix + i];
      for (int i = column; i < kElements; i += kThreads) b[matrix + i] = sum - a[matrix + i];
    }
  }
  return b;
}

// The size is the number of matrices. Elements are at most 32767: the sums fit into an int.
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

// One thread a column. Between the last addition and the first store all elements are alive, and
// none may be read again in between: as far as the compiler knows, b could overlap a.
inline __device__ void keep_and_subtract(int* b, const int* a) {
  // Once the pointers are at the column, rows are constants in the code and cost no registers.
  a += blockIdx.x * kElements + threadIdx.x;
  b += blockIdx.x * kElements + threadIdx.x;
  int kept[kRows];
  int sum = 0;
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    kept[row] = a[row * kThreads];
    sum += kept[row];
  }
#pragma unroll
  for (int row = 0; row < kRows; ++row) b[row * kThreads] = sum - kept[row];
}

// Each kernel takes (b, a): one launch for all.
inline void launch(SumsOfOthers& p, void (*kernel)(int*, const int*)) {
  kernel<<<p.matrices, kThreads>>>(p.b, p.a);
}

inline const std::vector<warpgauge::Size> kSizes = {{1}, {32}};

}  // namespace register_spill
