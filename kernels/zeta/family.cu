// Riemann's zeta function by its series: zeta(s) = 1 + 1/2^s + 1/3^s + ... up to 1/n^s. The size of
// a case is s and n.
//
// In floating point the order of a sum decides its error
// (result.max_error). `serial_forwards` adds ever smaller terms to a sum above 1: in f32 it stands
// still from 1/4096^2 on, because these terms are below half a unit in its last place.
// `serial_backwards` lets the small terms grow together first. `parallel` gives each thread a few
// terms, and adds the sums pairwise: that is accurate in any order, and the order that is fast.
#include <cmath>

#include "warpgauge/warpgauge.h"

namespace zeta {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr int kBlocks = kThreads;  // for every n: one block adds up their sums
constexpr double kPi = 3.14159265358979323846;

// CPU reference: zeta(2) = pi^2/6, zeta(4) = pi^4/90, less the terms after n (Euler and Maclaurin;
// the next term of the expansion is below 1e-16 from n = 1000 on).
double zeta_of(int s) { return s == 2 ? kPi * kPi / 6 : kPi * kPi * kPi * kPi / 90; }
double partial_zeta(int s, double n) {
  const double after =
      std::pow(n, 1 - s) / (s - 1) - std::pow(n, -s) / 2 + s * std::pow(n, -s - 1) / 12;
  return zeta_of(s) - after;
}

// Bounds of the error of each order, beyond that of the terms. `unit` is the most by which
// rounding changes a sum between 1 and 2. A tree has 16 levels: 65536 threads.
struct Forwards {
  static double error(int s, double n, double unit) {
    const double still_from = std::pow(unit, -1.0 / s);  // terms below `unit` are lost
    if (still_from > n) return n * unit;
    return still_from * unit + std::pow(still_from, 1 - s) / (s - 1);
  }
};
struct Backwards {  // the sum of all partial sums, that of k / k^s, times unit
  static double error(int, double n, double unit) { return (1 + std::log(n)) * unit; }
};
struct Tree {
  static double error(int s, double n, double unit) {
    return (1 + n / (kBlocks * kThreads) + 16) * unit * zeta_of(s);
  }
};

template <typename T, typename Order>
struct Zeta : warpgauge::Problem {
  const int s, n;
  warpgauge::Output<T> partial;  // one a block, for those that need it
  warpgauge::Output<T> sum;

  explicit Zeta(const warpgauge::Size& size)
      : s(static_cast<int>(size[0])),
        n(static_cast<int>(size[1])),
        partial(*this, kBlocks),
        sum(*this, 1) {}
  double bytes() const override { return sizeof(T); }
  // A term takes s multiplications or divisions, and its addition.
  double flops() const override { return (s + 1.0) * n; }
  void check(warpgauge::Comparison& comparison) const override {
    const double unit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
    const double of_terms = 2 * s * unit * zeta_of(s);  // from k to T, s - 1 products, a division
    const double expected = partial_zeta(s, n);
    comparison.close(sum, std::vector<double>{expected},
                     (Order::error(s, n, unit) + of_terms) / expected);
  }
};

template <typename T>
__device__ T term(int k, int s) {
  T power = k;
  for (int factor = 1; factor < s; ++factor) power *= k;
  return 1 / power;
}

// One thread, large terms first.
template <typename T>
__global__ void serial_forwards(T* sum, int s, int n) {
  T total = 0;
  for (int k = 1; k <= n; ++k) total += term<T>(k, s);
  *sum = total;
}

// One thread, small terms first.
template <typename T>
__global__ void serial_backwards(T* sum, int s, int n) {
  T total = 0;
  for (int k = n; k >= 1; --k) total += term<T>(k, s);
  *sum = total;
}

// Sum over the threads of a block, valid in thread 0: over each warp in registers, then over the
// sums of the warps.
template <typename T>
__device__ T warp_sum(T value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value += __shfl_down_sync(0xffffffff, value, step);
  }
  return value;
}

template <typename T>
__device__ T block_sum(T value) {
  constexpr int kWarps = kThreads / kWarp;
  __shared__ T s[kWarps];
  const int t = threadIdx.x;
  const T of_warp = warp_sum(value);
  if (t % kWarp == 0) s[t / kWarp] = of_warp;
  __syncthreads();
  return t < kWarp ? warp_sum(t < kWarps ? s[t] : T(0)) : T(0);
}

// Each block leaves a sum. Terms of a thread lie all threads apart, so that every thread has both
// large and small ones, and all have the same number of them.
template <typename T>
__global__ void partial_sums(T* partial, int s, int n) {
  T sum = 0;
  for (int k = 1 + blockIdx.x * kThreads + threadIdx.x; k <= n; k += kBlocks * kThreads) {
    sum += term<T>(k, s);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <typename T>
__global__ void add_up(T* sum, const T* partial) {
  const T of_block = block_sum(partial[threadIdx.x]);
  if (threadIdx.x == 0) *sum = of_block;
}

template <typename T>
void add_variants(const warpgauge::Family& family, const char* type) {
  const std::vector<warpgauge::Size> serial_sizes = {{2, 10000}, {4, 10000}, {2, 1000}};
  const std::vector<warpgauge::Size> parallel_sizes = {
      {2, 100000}, {4, 100000}, {2, 1000}, warpgauge::large({2, 1 << 28})};

  family.problem<Zeta<T, Forwards>>(type, serial_sizes)
      .sizes_between({2, 1000}, {4, 10000}, {2, 1})
      .variant("serial_forwards", [](auto& p) { serial_forwards<T><<<1, 1>>>(p.sum, p.s, p.n); });
  family.problem<Zeta<T, Backwards>>(type, serial_sizes)
      .sizes_between({2, 1000}, {4, 10000}, {2, 1})
      .variant("serial_backwards", [](auto& p) { serial_backwards<T><<<1, 1>>>(p.sum, p.s, p.n); });
  family.problem<Zeta<T, Tree>>(type, parallel_sizes)
      .sizes_between({2, 1000}, {4, 1 << 28}, {2, 1})
      .variant("parallel", [](auto& p) {
        partial_sums<T><<<kBlocks, kThreads>>>(p.partial, p.s, p.n);
        add_up<T><<<1, kThreads>>>(p.sum, p.partial);
      });
}

WARPGAUGE_FAMILY(zeta) {
  add_variants<float>(family, "f32");
  add_variants<double>(family, "f64");
}

}  // namespace zeta
