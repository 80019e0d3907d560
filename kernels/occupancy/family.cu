// An array turned round, by blocks of different shapes and needs.
//
// A multiprocessor takes in blocks until it runs out of a resource. That resource
// (occupancy.limiter) decides how many of its warps are filled (occupancy.theoretical): threads
// (`large_block`: 1024 are two thirds of 1536), blocks (`small_block`), registers
// (`many_registers`: 384 threads of 64) or shared memory (`much_shared`: 32 KiB for 128 threads).
// The cures: `medium_block`, whose 256 threads divide every limit; fewer registers; more threads
// that share the same 32 KiB (`shared_by_more`).
// Occupancy is no end in itself: it hides waiting, as more work in flight in each thread does.
#include "warpgauge/warpgauge.h"

namespace occupancy {

constexpr int kSharedWords = 8192;  // 32 KiB
constexpr int kManyWords = 48;      // that a thread keeps in registers

// CPU reference.
std::vector<int> reversed(const std::vector<int>& a) {
  return std::vector<int>(a.rbegin(), a.rend());
}

struct Reversal : warpgauge::Problem {
  const int n;
  warpgauge::Input<int> a;
  warpgauge::Output<int> b;

  explicit Reversal(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), a(*this, n), b(*this, n) {}
  /// Blocks that cover the array, if each moves so many words.
  int blocks(int words) const { return (n + words - 1) / words; }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(b, reversed(a.host()));
  }
};

// A thread moves kWords words, and loads all of them before it stores the first: they need as many
// registers. (The compiler keeps that order, for b could overlap a.)
template <int kThreads, int kWords>
__global__ void through_registers(int* b, const int* a, int n) {
  const int i = blockIdx.x * kThreads * kWords + threadIdx.x;
  const int left = n - i;  // words from this one to the end
  if (left <= 0) return;
  const int* const from = a + i;
  int* const to = b + left - 1;
  int kept[kWords];
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    if (k * kThreads < left) kept[k] = from[k * kThreads];
  }
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    if (k * kThreads < left) to[-k * kThreads] = kept[k];
  }
}

// A block moves kSharedWords words. It turns them round in shared memory, so that a thread stores
// what another has loaded. Loops are not unrolled, which keeps registers out of the account.
template <int kThreads>
__global__ void through_shared(int* b, const int* a, int n) {
  __shared__ int kept[kSharedWords];
  const int first = blockIdx.x * kSharedWords;
  const int words = min(kSharedWords, n - first);
#pragma unroll 1
  for (int k = threadIdx.x; k < words; k += kThreads) kept[k] = a[first + k];
  __syncthreads();
#pragma unroll 1
  for (int k = threadIdx.x; k < words; k += kThreads) {
    b[n - first - words + k] = kept[words - 1 - k];
  }
}

template <int kThreads, int kWords>
void launch_through_registers(Reversal& p) {
  through_registers<kThreads, kWords><<<p.blocks(kThreads * kWords), kThreads>>>(p.b, p.a, p.n);
}

template <int kThreads>
void launch_through_shared(Reversal& p) {
  through_shared<kThreads><<<p.blocks(kSharedWords), kThreads>>>(p.b, p.a, p.n);
}

WARPGAUGE_FAMILY(occupancy) {
  // Whole blocks of all shapes (18 x 8192 = 8 x 384 x 48); none of them whole.
  const auto i32 =
      family.problem<Reversal>("i32", {{147456}, {100008}}).sizes_between({1}, {147456});
  i32.variant("small_block", launch_through_registers<32, 1>);
  i32.variant("medium_block", launch_through_registers<256, 1>);
  i32.variant("large_block", launch_through_registers<1024, 1>);
  i32.variant("many_registers", launch_through_registers<384, kManyWords>);
  i32.variant("much_shared", launch_through_shared<128>);
  i32.variant("shared_by_more", launch_through_shared<512>);
}

}  // namespace occupancy
