// Atomic operations on shared memory: every operation by itself, and sums of a block in one word.
//
// Shared memory serves 32 lanes with a word each in one wavefront, atomically as well
// (shared.wavefronts). Lanes that want the same word take turns, so that the sum of all costs as
// many wavefronts as there are lanes:
//   one_word       each lane adds to the word that its input names, which is the same for all
//   one_word_seen  the compiler sees that it is one word, adds up in the warp and lets one lane add
//   warp_sum       the same by the code, as it must be where the compiler does not see it
//   own_words      a word for each lane, and one warp adds these up in the end
// In shared memory the hardware cannot add floating point, and with 64 bits it has only exchange
// and compare and swap. For the other operations the compiler makes a loop of compare and swap,
// which runs again for each lane that came in between. Such a sum is better made in registers.
#include <cstdint>

#include "kernels/atomics/operations.h"
#include "warpgauge/warpgauge.h"

namespace shared_atomics {

using atomics::kCells;
using atomics::kThreads;
using atomics::Updated;
using atomics::Word;

// The cells of a block are its own, so that it can hold them in shared memory meanwhile.
template <typename T, typename Op>
__global__ void update(T* cells, const T* a, int n) {
  __shared__ Word<T> held[kCells];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int lane = threadIdx.x % kCells, cell = blockIdx.x * kCells + lane;
  if (threadIdx.x < kCells) held[lane] = cells[cell];
  __syncthreads();
  if (i < n) Op::update(&held[lane], static_cast<Word<T>>(a[Op::kSameValue ? cell : i]));
  __syncthreads();
  if (threadIdx.x < kCells) cells[cell] = held[lane];
}

template <typename T, typename Op>
void add_operation(const warpgauge::Family& family, const char* type, const char* name) {
  atomics::updated<T, Op>(family, type).variant(name, [](Updated<T, Op>& p) {
    update<T, Op><<<p.blocks, kThreads>>>(p.cells, p.a, p.n);
  });
}

// The operations for both 32 and 64 bits.
template <typename T>
void add_operations(const warpgauge::Family& family, const char* type) {
  add_operation<T, atomics::Add>(family, type, "add");
  add_operation<T, atomics::Exchange>(family, type, "exchange");
  add_operation<T, atomics::CompareAndSwap>(family, type, "compare_and_swap");
  add_operation<T, atomics::Minimum>(family, type, "minimum");
  add_operation<T, atomics::Maximum>(family, type, "maximum");
  add_operation<T, atomics::And>(family, type, "and");
  add_operation<T, atomics::Or>(family, type, "or");
  add_operation<T, atomics::ExclusiveOr>(family, type, "exclusive_or");
}

// The sum of each block of `a`. All of `where` is 0, which the compiler cannot know.
struct Sum : warpgauge::Problem {
  const int n, blocks;
  warpgauge::Input<std::uint32_t> a, where;
  warpgauge::Output<std::uint32_t> sums;

  explicit Sum(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        blocks((n + kThreads - 1) / kThreads),
        a(*this, n),
        where(*this, std::vector<std::uint32_t>(n)),
        sums(*this, blocks) {}
  double bytes() const override { return a.traffic() + sums.traffic(); }  // `where` can be known
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<std::uint32_t> expected(blocks);
    for (int i = 0; i < n; ++i) expected[i / kThreads] += a.host()[i];
    comparison.equal(sums, expected);
  }
};

// The words of a block, cleared by its first warp.
__device__ void clear(std::uint32_t* words) {
  if (threadIdx.x < kCells) words[threadIdx.x] = 0;
  __syncthreads();
}

__global__ void one_word(std::uint32_t* sums, const std::uint32_t* a, const std::uint32_t* where,
                         int n) {
  __shared__ std::uint32_t words[kCells];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  clear(words);
  if (i < n) atomicAdd(&words[where[i]], a[i]);
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = words[0];
}

__global__ void one_word_seen(std::uint32_t* sums, const std::uint32_t* a, const std::uint32_t*,
                              int n) {
  __shared__ std::uint32_t words[kCells];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  clear(words);
  if (i < n) atomicAdd(&words[0], a[i]);
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = words[0];
}

__device__ std::uint32_t sum_of_warp(std::uint32_t value) {
  for (int distance = kCells / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(0xffffffff, value, distance);
  }
  return value;
}

__global__ void warp_sum(std::uint32_t* sums, const std::uint32_t* a, const std::uint32_t* where,
                         int n) {
  __shared__ std::uint32_t words[kCells];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  clear(words);
  const std::uint32_t sum = sum_of_warp(i < n ? a[i] : 0);
  if (i < n && threadIdx.x % kCells == 0) atomicAdd(&words[where[i]], sum);
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = words[0];
}

__global__ void own_words(std::uint32_t* sums, const std::uint32_t* a, const std::uint32_t* where,
                          int n) {
  __shared__ std::uint32_t words[kCells];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  clear(words);
  if (i < n) atomicAdd(&words[(where[i] + threadIdx.x) % kCells], a[i]);
  __syncthreads();
  if (threadIdx.x >= kCells) return;
  const std::uint32_t sum = sum_of_warp(words[threadIdx.x]);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// Each kernel takes (sums, a, where, n): one launch for all.
void launch_sum(Sum& p,
                void (*kernel)(std::uint32_t*, const std::uint32_t*, const std::uint32_t*, int)) {
  kernel<<<p.blocks, kThreads>>>(p.sums, p.a, p.where, p.n);
}

WARPGAUGE_FAMILY(shared_atomics) {
  const auto sum = family.problem<Sum>("u32", {{65536}, {1000}}).sizes_between({1}, {65536});
  sum.variant("one_word", [](Sum& p) { launch_sum(p, one_word); });
  sum.variant("one_word_seen", [](Sum& p) { launch_sum(p, one_word_seen); });
  sum.variant("warp_sum", [](Sum& p) { launch_sum(p, warp_sum); });
  sum.variant("own_words", [](Sum& p) { launch_sum(p, own_words); });

  add_operations<std::uint32_t>(family, "u32");
  add_operations<std::uint64_t>(family, "u64");
  add_operation<std::uint32_t, atomics::Subtract>(family, "u32", "subtract");
  add_operation<std::uint32_t, atomics::Increment>(family, "u32", "increment");
  add_operation<std::uint32_t, atomics::Decrement>(family, "u32", "decrement");
  add_operation<std::int32_t, atomics::Minimum>(family, "i32", "minimum");
  add_operation<std::int32_t, atomics::Maximum>(family, "i32", "maximum");
  add_operation<std::int64_t, atomics::Minimum>(family, "i64", "minimum");
  add_operation<std::int64_t, atomics::Maximum>(family, "i64", "maximum");
  add_operation<float, atomics::Add>(family, "f32", "add");
  add_operation<float, atomics::Exchange>(family, "f32", "exchange");
  add_operation<double, atomics::Add>(family, "f64", "add");
}

}  // namespace shared_atomics
