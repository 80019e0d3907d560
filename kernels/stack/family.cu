// Determinants of 4x4 matrices modulo 2^32, by expansion along the first row: the minors of a
// matrix are determinants themselves.
//
// What it teaches: a function that calls itself cannot keep its variables in registers, for there
// is one set of registers and a frame on the stack for each call. The stack of a thread is local
// memory (stack.bytes, local.sectors), which has to be reserved for all threads at once (1024 bytes
// each, unless cudaDeviceSetLimit says more). `recursive` passes a minor on in an array on its
// frame. `unrolled` has the depth in a template parameter: the compiler sees one function without
// calls, every index is a constant, and all minors are registers.
#include "warpgauge/warpgauge.h"

namespace stack {

using Word = unsigned;  // wraps around, so that any order of additions gives the same

constexpr int kEdge = 4;
constexpr int kElements = kEdge * kEdge;
constexpr int kThreads = 128;

// CPU reference: the sum over all permutations of the columns, product by product, with its sign.
Word sum_of_products(const std::vector<Word>& elements, int n, int i) {
  Word sum = 0;
  for (int code = 0; code < kElements * kElements; ++code) {  // a digit to base 4 for each row
    Word product = 1;
    bool used[kEdge] = {}, is_odd = false, is_permutation = true;
    for (int row = 0, digits = code; row < kEdge; ++row, digits /= kEdge) {
      const int column = digits % kEdge;
      is_permutation = is_permutation && !used[column];
      used[column] = true;
      for (int right = column + 1; right < kEdge; ++right) is_odd = is_odd != used[right];
      product *= elements[(row * kEdge + column) * n + i];
    }
    if (is_permutation) sum += is_odd ? -product : product;
  }
  return sum;
}

// The size is the number of matrices. Element k of matrix i is a[k * n + i]: lanes load neighbours.
struct Determinants : warpgauge::Problem {
  const int n;
  warpgauge::Input<Word> a;
  warpgauge::Output<Word> determinants;

  explicit Determinants(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), a(*this, kElements * n), determinants(*this, n) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<Word> expected(n);
    for (int i = 0; i < n; ++i) expected[i] = sum_of_products(a.host(), n, i);
    comparison.equal(determinants, expected);
  }
};

// Any edge up to kEdge. The minor lies in an array, for its place is passed on to the next call.
__device__ __noinline__ Word determinant(const Word* matrix, int edge) {
  if (edge == 1) return matrix[0];
  Word minor[(kEdge - 1) * (kEdge - 1)];
  Word sum = 0;
  for (int left_out = 0; left_out < edge; ++left_out) {
    int end = 0;
    for (int row = 1; row < edge; ++row) {
      for (int column = 0; column < edge; ++column) {
        if (column != left_out) minor[end++] = matrix[row * edge + column];
      }
    }
    const Word term = matrix[left_out] * determinant(minor, edge - 1);
    sum += left_out % 2 == 0 ? term : -term;
  }
  return sum;
}

__global__ void recursive(Word* determinants, const Word* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  Word matrix[kElements];
  for (int k = 0; k < kElements; ++k) matrix[k] = a[k * n + i];
  determinants[i] = determinant(matrix, kEdge);
}

// The same expansion. Each edge is a function of its own, and inlined.
template <int kSide>
__device__ Word unrolled_determinant(const Word (&matrix)[kSide * kSide]) {
  if constexpr (kSide == 1) {
    return matrix[0];
  } else {
    Word sum = 0;
#pragma unroll
    for (int left_out = 0; left_out < kSide; ++left_out) {
      Word minor[(kSide - 1) * (kSide - 1)];
#pragma unroll
      for (int k = 0; k < (kSide - 1) * (kSide - 1); ++k) {
        const int row = 1 + k / (kSide - 1), column = k % (kSide - 1);
        minor[k] = matrix[row * kSide + column + (column >= left_out)];
      }
      const Word term = matrix[left_out] * unrolled_determinant<kSide - 1>(minor);
      sum += left_out % 2 == 0 ? term : -term;
    }
    return sum;
  }
}

__global__ void unrolled(Word* determinants, const Word* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  Word matrix[kElements];
#pragma unroll
  for (int k = 0; k < kElements; ++k) matrix[k] = a[k * n + i];
  determinants[i] = unrolled_determinant<kEdge>(matrix);
}

// Each kernel takes (determinants, a, n): one launch for all.
void launch(Determinants& p, void (*kernel)(Word*, const Word*, int)) {
  kernel<<<(p.n + kThreads - 1) / kThreads, kThreads>>>(p.determinants, p.a, p.n);
}

WARPGAUGE_FAMILY(stack) {
  const auto u32 = family.problem<Determinants>("u32", {{1024}, {1000}});
  u32.variant("recursive", [](Determinants& p) { launch(p, recursive); });
  u32.variant("unrolled", [](Determinants& p) { launch(p, unrolled); });
}

}  // namespace stack
