// Exchange between neighbours: each thread computes a value and hands it to the thread before it;
// the first one's value goes to the last.
//
// Threads of a block exchange values through shared memory, with a barrier
// between the writes and the reads. Neighbour t + 1 may be in another warp, which may not have
// written yet: without the barrier the last lane of each warp would read an old value. A
// rotation by one keeps the lanes in 32 different banks, so write and read take one wavefront
// each (shared.wavefronts).
#include "warpgauge/warpgauge.h"

namespace neighbour_exchange {

constexpr int kThreads = 256;

// CPU reference: the sine of the next thread's number in its block, for n threads in blocks of
// kThreads; the last block may be smaller.
std::vector<double> sines_of_next(int n) {
  std::vector<double> b(n);
  for (int i = 0; i < n; ++i) {
    const int first = i - i % kThreads;
    const bool is_last = i % kThreads == kThreads - 1 || i == n - 1;
    b[i] = std::sin(static_cast<double>(is_last ? 0 : i + 1 - first));
  }
  return b;
}

// sin.approx, which __sinf becomes, promises an absolute error of 2^-14.7 for arguments up to 100
// pi (PTX ISA); thread numbers go up to 255.
constexpr double kTolerance = 4e-5;

struct Exchange : warpgauge::Problem {
  const int n, blocks;
  warpgauge::Output<float> b;

  explicit Exchange(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), blocks((n + kThreads - 1) / kThreads), b(*this, n) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.close(b, sines_of_next(n), kTolerance);
  }
};

// In the last block only the first threads have an element. They alone form the ring, but all of
// the block's threads come to the barrier.
__global__ void with_barrier(float* b, int n) {
  __shared__ float s[kThreads];
  const int first = blockIdx.x * kThreads, t = threadIdx.x;
  const int in_block = n - first < kThreads ? n - first : kThreads;
  if (t < in_block) s[t] = __sinf(static_cast<float>(t));
  __syncthreads();
  if (t < in_block) b[first + t] = s[(t + 1) % in_block];
}

WARPGAUGE_FAMILY(neighbour_exchange) {
  // Whole blocks; a last block of 232 elements; less than one block.
  const auto f32 =
      family.problem<Exchange>("f32", {{262144}, {1000}, {100}}).sizes_between({1}, {262144});
  f32.variant("with_barrier", [](Exchange& p) { with_barrier<<<p.blocks, kThreads>>>(p.b, p.n); });
}

}  // namespace neighbour_exchange
