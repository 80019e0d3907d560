// For each element of a column of 128 elements, the sum of the others: b = sum - a.
//
// What it teaches: a thread that keeps its column until the sum is known needs 128 registers for
// it (`uncapped`). A cap on registers makes the compiler put the rest into local memory
// (spill.store_bytes, spill.load_bytes, local.sectors). The cap comes in two ways: the promise of
// large blocks, for 65536 registers are 64 for each of 1024 threads (`capped_by_launch_bounds`),
// or a plain number (`capped_by_maxnreg`), which buys full occupancy (occupancy.theoretical) with
// still more spills. The cure is to need less: `reloaded` reads the column again and keeps nothing.
#include "warpgauge/warpgauge.h"

namespace register_spill {

constexpr int kRows = 128;                   // elements of a column
constexpr int kThreads = 128;                // columns of a matrix, which is what a block works on
constexpr int kElements = kRows * kThreads;  // of a matrix

// CPU reference. A matrix is 128 rows of 128 elements.
std::vector<int> sums_of_others(const std::vector<int>& a) {
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
__device__ void keep_and_subtract(int* b, const int* a) {
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

__global__ void uncapped(int* b, const int* a) { keep_and_subtract(b, a); }

// The launch has 128 threads a block; the promise alone makes the cap.
__global__ void __launch_bounds__(1024) capped_by_launch_bounds(int* b, const int* a) {
  keep_and_subtract(b, a);
}

__global__ void __maxnreg__(32) capped_by_maxnreg(int* b, const int* a) { keep_and_subtract(b, a); }

// Twice the loads, though the second ones may find their sectors in a cache.
__global__ void __maxnreg__(32) reloaded(int* b, const int* a) {
  a += blockIdx.x * kElements + threadIdx.x;
  b += blockIdx.x * kElements + threadIdx.x;
  int sum = 0;
  for (int row = 0; row < kRows; ++row) sum += a[row * kThreads];
  for (int row = 0; row < kRows; ++row) b[row * kThreads] = sum - a[row * kThreads];
}

// Each kernel takes (b, a): one launch for all.
void launch(SumsOfOthers& p, void (*kernel)(int*, const int*)) {
  kernel<<<p.matrices, kThreads>>>(p.b, p.a);
}

WARPGAUGE_FAMILY(register_spill) {
  const auto i32 = family.problem<SumsOfOthers>("i32", {{1}, {32}});
  i32.variant("uncapped", [](SumsOfOthers& p) { launch(p, uncapped); });
  i32.variant("capped_by_launch_bounds",
              [](SumsOfOthers& p) { launch(p, capped_by_launch_bounds); });
  i32.variant("capped_by_maxnreg", [](SumsOfOthers& p) { launch(p, capped_by_maxnreg); });
  i32.variant("reloaded", [](SumsOfOthers& p) { launch(p, reloaded); });
}

}  // namespace register_spill
