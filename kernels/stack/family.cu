// Recursion: determinants of 4x4 matrices modulo 2^32, by expansion along the first row, where the
// minors of a matrix are determinants themselves; and arrays that are each made from the one above.
//
// A function that calls itself cannot keep its variables in registers, for there is one set of
// registers and a frame on the stack for each call. The stack of a thread is local memory
// (stack.bytes, local.sectors), which has to be reserved for all threads at once (1024 bytes each,
// unless cudaDeviceSetLimit says more). `recursive` passes a minor on in an array on its frame.
// `unrolled` has the depth in a template parameter: the compiler sees one function without calls,
// every index is a constant, and all minors are registers. `nested_arrays` is recursion at its
// simplest: one call a level, which makes an array from that of its caller. `inlined_arrays` is its
// cure, by the same means.
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

// The expansion with each edge as a function of its own, which is inlined.
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

constexpr int kWords = 8;   // of an array
constexpr int kLevels = 8;  // of calls

// Word k of an array at a level, and the word that is added when the level returns.
__host__ __device__ constexpr Word word_below(Word above, int k, int level) {
  return above * (2 * k + 3) + level;
}
__host__ __device__ constexpr int added_word(int level) { return 5 * level % kWords; }

// Word k of the first array of thread i is a[k * n + i]. The size is the number of threads.
struct NestedArrays : warpgauge::Problem {
  const int n;
  warpgauge::Input<Word> a;
  warpgauge::Output<Word> sums;

  explicit NestedArrays(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), a(*this, kWords * n), sums(*this, n) {}
  // CPU reference: level by level, without recursion.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<Word> expected(n);
    for (int i = 0; i < n; ++i) {
      Word words[kWords];
      for (int k = 0; k < kWords; ++k) words[k] = a.host()[k * n + i];
      for (int level = kLevels - 1; level >= 0; --level) {
        for (int k = 0; k < kWords; ++k) words[k] = word_below(words[k], k, level);
        expected[i] += words[added_word(level)];
      }
    }
    comparison.equal(sums, expected);
  }
};

// The array of a level is on its frame, as its place is passed on; and it is read again when the
// call has returned, so every level keeps its own.
__device__ __noinline__ Word sum_below(const Word* above, int level) {
  Word own[kWords];
  for (int k = 0; k < kWords; ++k) own[k] = word_below(above[k], k, level);
  const Word below = level == 0 ? 0 : sum_below(own, level - 1);
  return below + own[added_word(level)];
}

__global__ void nested_arrays(Word* sums, const Word* a, int n, int levels) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  Word first[kWords];
  for (int k = 0; k < kWords; ++k) first[k] = a[k * n + i];
  sums[i] = sum_below(first, levels - 1);
}

template <int kLevel>
__device__ Word inlined_sum_below(const Word (&above)[kWords]) {
  Word own[kWords];
#pragma unroll
  for (int k = 0; k < kWords; ++k) own[k] = word_below(above[k], k, kLevel);
  if constexpr (kLevel == 0) {
    return own[added_word(kLevel)];
  } else {
    return inlined_sum_below<kLevel - 1>(own) + own[added_word(kLevel)];
  }
}

__global__ void inlined_arrays(Word* sums, const Word* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  Word first[kWords];
#pragma unroll
  for (int k = 0; k < kWords; ++k) first[k] = a[k * n + i];
  sums[i] = inlined_sum_below<kLevels - 1>(first);
}

int blocks_for(int threads) { return (threads + kThreads - 1) / kThreads; }

// Both kernels take (determinants, a, n): one launch for them.
void launch(Determinants& p, void (*kernel)(Word*, const Word*, int)) {
  kernel<<<blocks_for(p.n), kThreads>>>(p.determinants, p.a, p.n);
}

WARPGAUGE_FAMILY(stack) {
  const std::vector<warpgauge::Size> sizes = {{1024}, {1000}};
  const auto u32 = family.problem<Determinants>("u32", sizes).sizes_between({1}, {1024});
  u32.variant("recursive", [](Determinants& p) { launch(p, recursive); });
  u32.variant("unrolled", [](Determinants& p) { launch(p, unrolled); });
  const auto arrays = family.problem<NestedArrays>("u32", sizes).sizes_between({1}, {1024});
  arrays.variant("nested_arrays", [](NestedArrays& p) {
    nested_arrays<<<blocks_for(p.n), kThreads>>>(p.sums, p.a, p.n, kLevels);
  });
  arrays.variant("inlined_arrays", [](NestedArrays& p) {
    inlined_arrays<<<blocks_for(p.n), kThreads>>>(p.sums, p.a, p.n);
  });
}

}  // namespace stack
