// Reverses an array, with blocks of different sizes and needs.
//
// A multiprocessor takes blocks until it runs out of a resource, the limiter (occupancy.limiter).
// The limiter decides how many of its warps are in use (occupancy.theoretical). It can be threads
// (`large_block`: 1024 are two thirds of 1536), blocks (`small_block`), registers
// (`many_registers`: 384 threads with 64 each) or shared memory (`much_shared`: 32 KiB for 128
// threads). `medium_block` has none of these problems: its 256 threads divide every limit. In
// `shared_by_more` more threads share the same 32 KiB.
// High occupancy is not a goal: it hides latency, as more work in flight in each thread also does.
#include "warpgauge/warpgauge.h"

namespace occupancy {

constexpr int kSharedWords = 8192;  // 32 KiB
constexpr int kRegisterWords = 48;  // words that a thread of many_registers keeps

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
  /// The number of blocks that cover the array if each moves `words` words.
  int blocks(int words) const { return (n + words - 1) / words; }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(b, reversed(a.host()));
  }
};

// A thread loads kWords words before it stores the first, so they need as many registers. The
// compiler keeps that order, because it must assume that b overlaps a.
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

// A block moves kSharedWords words through shared memory, where a thread reads what another has
// written. Loops are not unrolled, so that registers do not limit the occupancy.
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
  i32.variant("many_registers", launch_through_registers<384, kRegisterWords>);
  i32.variant("much_shared", launch_through_shared<128>);
  i32.variant("shared_by_more", launch_through_shared<512>);
}

}  // namespace occupancy
