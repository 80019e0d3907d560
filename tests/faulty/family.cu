// Cases that go wrong in every way that the gate must survive, and some that do not. (Defects that
// it must find: tests/canaries.)
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "warpgauge/warpgauge.h"

namespace faulty {

struct Copy : warpgauge::Problem {
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;
  explicit Copy(const warpgauge::Size& size) : a(*this, size.count()), b(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override { comparison.equal(b, a.host()); }
};

// Its check has forgotten what to compare.
struct Unchecked : Copy {
  using Copy::Copy;
  void check(warpgauge::Comparison&) const override {}
};

__global__ void copy(float* b, const float* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i];
}

__global__ void off_by_one(float* b, const float* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i] + 1;
}

// Far outside of any allocation.
__global__ void illegal_address(float* b) { b[(1LL << 44) + threadIdx.x] = 0; }

__global__ void endless(volatile float* b) {
  while (b[0] != 1) b[1] = b[1] + 1;  // b[0] is poisoned with NaN
}

__global__ void trap() { __trap(); }

// More registers than the cap allows: the compiler spills.
__global__ void __launch_bounds__(1024) spilling(float* b, const float* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float values[64];
#pragma unroll
  for (int k = 0; k < 64; ++k) values[k] = a[(i + k) % 1024] * (k + 1);
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 64; ++k) sum += values[k] * values[63 - k] * values[(k * 7) % 64];
  b[i] = sum == 12345.678f ? sum : a[i];
}

[[noreturn]] void wait_forever() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

WARPGAUGE_FAMILY(faulty) {
  const auto f32 = family.problem<Copy>("f32", {{1024}});
  f32.variant("good", [](Copy& p) { copy<<<4, 256>>>(p.b, p.a); });
  f32.variant("wrong_result", [](Copy& p) { off_by_one<<<4, 256>>>(p.b, p.a); });
  f32.variant("half_written", [](Copy& p) { copy<<<2, 256>>>(p.b, p.a); });
  f32.variant("illegal_address", [](Copy& p) { illegal_address<<<1, 32>>>(p.b); });
  f32.variant("endless", [](Copy& p) { endless<<<1, 1>>>(p.b); });
  f32.variant("trap", [](Copy&) { trap<<<1, 32>>>(); });
  f32.variant("too_many_threads", [](Copy& p) { copy<<<1, 2048>>>(p.b, p.a); });
  f32.variant("spilling", [](Copy& p) { spilling<<<1, 1024>>>(p.b, p.a); });
  f32.variant("no_launch", [](Copy&) {});
  family.problem<Unchecked>("f32", {{1024}}).variant("unchecked", [](Unchecked& p) {
    copy<<<4, 256>>>(p.b, p.a);
  });
  f32.variant("host_abort", [](Copy&) { std::abort(); });
  f32.variant("host_segfault", [](Copy&) { std::raise(SIGSEGV); });
  f32.variant("host_hang", [](Copy&) { wait_forever(); });
  f32.variant("host_exception", [](Copy&) { throw std::runtime_error("no such table"); });
  f32.variant("good_after_all", [](Copy& p) { copy<<<4, 256>>>(p.b, p.a); });
}

}  // namespace faulty
