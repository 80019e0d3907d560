// The sum of a billion sines: sin(i degrees) for i from 0 to n - 1, the size being n. Whole periods
// of 360 cancel, so that the sum is never above 115, however many terms it has.
//
// Order and precision decide the error of a sum (result.max_error). An addition rounds by up to
// half a unit of the sum so far, which climbs to 115 over neighbouring degrees (`serial`,
// `contiguous`) and stays below 7.2 over degrees 16 apart (`strided`). But the same roundings come
// back with each period, and add up where others would cancel: in float, no order of plain
// additions is safe. `compensated` carries along what each addition has lost, and `double_sums`
// adds floats in double. What they leave is the error of the terms, for each of 360 sines is
// rounded, and comes back 3 million times. Only sines in double (f64) cure that. The check holds
// each order to its bound.
#include <cmath>
#include <type_traits>

#include "warpgauge/warpgauge.h"

namespace sine_sum {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr int kBlocks = kThreads;          // for every n: one block adds up their sums
constexpr int kGrid = kBlocks * kThreads;  // threads
constexpr int kLevels = 16;                // of a tree over them
constexpr int kPeriod = 360;
constexpr double kPi = 3.14159265358979323846;

template <typename T>
__device__ T term(int i) {
  return std::sin(T(i % kPeriod) * T(kPi / 180));
}

// Two rules of adding up: plainly, or with what each addition loses (Neumaier).
template <typename A>
struct Plain {
  using Value = A;
  A sum = 0;
  __device__ void add(A x) { sum += x; }
  __device__ A value() const { return sum; }
};
template <typename A>
struct Compensated {
  using Value = A;
  A sum = 0, lost = 0;
  __device__ void add(A x) {
    const A next = sum + x;
    lost += std::fabs(sum) >= std::fabs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  __device__ A value() const { return sum + lost; }
};

// Bounds of the error of n additions, if each rounds by at most `unit` of its sum. The sum of some
// sines of neighbouring degrees is below 1 / sin(0.5 degrees), that of sines 16 degrees apart below
// 1 / sin(8 degrees). The tree adds the sums of all threads, none of which is larger, at each
// level.
struct Order {
  static double per_thread(double n) { return std::ceil(n / kGrid); }
  static double of_tree(double largest, double unit) { return kLevels * kGrid * largest * unit; }
};
struct Serial : Order {
  static double error(double n, double unit) { return n * unit * 115; }
};
struct Contiguous : Order {
  static double error(double n, double unit) {
    const double largest = std::fmin(115, per_thread(n));
    return n * unit * largest + of_tree(largest, unit);
  }
};
struct Strided : Order {
  static double error(double n, double unit) { return n * unit * 7.2 + of_tree(7.2, unit); }
};
// The losses of a thread add up to at most its terms times 7.2 units, and each addition of them
// rounds by a unit of that; their sum with the sum is rounded once.
struct StridedCompensated : Order {
  static double error(double n, double unit) {
    const double of_losses = n * unit * per_thread(n) * unit * 7.2;
    return of_losses + kGrid * unit * 7.2 + of_tree(7.2, unit);
  }
};

// T is the type of the sines, A that of the sums.
template <typename T, typename A, typename Bound>
struct Sum : warpgauge::Problem {
  const int n;
  warpgauge::Output<T> terms;    // of one period, as this device makes them
  warpgauge::Output<A> partial;  // one a block
  warpgauge::Output<A> sum;

  explicit Sum(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        terms(*this, kPeriod),
        partial(*this, kBlocks),
        sum(*this, 1) {}
  double bytes() const override { return sizeof(A); }

  // CPU reference: the terms after the last whole period, in double. An argument is off by two
  // roundings, of pi/180 and of the product, up to 2 x 2 pi units; a sine by 2.5 more.
  void check(warpgauge::Comparison& comparison) const override {
    double expected = 0;
    for (int i = n / kPeriod * kPeriod; i < n; ++i) expected += std::sin(i % kPeriod * kPi / 180);
    const double of_term = unit<T>() * (4 * kPi + 2.5), of_sums = Bound::error(n, unit<A>());
    const double tolerance = (n * of_term + of_sums) / std::fmax(1, std::fabs(expected));
    if (tolerance < 1) comparison.close(sum, std::vector<double>{expected}, tolerance);
    // The order of the sum is to blame for the distance from the exact sum of these terms, sines.
    const std::vector<T> made = terms.host();
    long double exact = 0, wrong = 0;
    for (int d = 0; d < kPeriod; ++d) {
      exact += static_cast<long double>(made[d]) * ((n - 1 - d + kPeriod) / kPeriod);
      wrong = std::fmax(wrong, std::fabs(made[d] - sinl(d * 1.0L * kPi / 180)) - of_term);
    }
    const double lost = std::fabs(static_cast<double>(sum.host()[0] - exact)) - of_sums;
    comparison.equal(std::vector<double>(1, std::fmax(lost, wrong)), std::vector<double>{0});
  }
  template <typename Type>
  static double unit() {
    return sizeof(Type) == 4 ? 0x1p-24 : 0x1p-53;
  }
};

template <typename T>
__global__ void one_period(T* terms) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kPeriod) terms[i] = term<T>(i);
}

template <typename T>
__global__ void serial(T* sum, int n) {
  T total = 0;
  for (int i = 0; i < n; ++i) total += term<T>(i);
  *sum = total;
}

// Sum over the threads of a block, valid in thread 0: over each warp in registers, then over the
// sums of the warps.
template <typename A>
__device__ A warp_sum(A value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value += __shfl_down_sync(0xffffffff, value, step);
  }
  return value;
}

template <typename A>
__device__ A block_sum(A value) {
  constexpr int kWarps = kThreads / kWarp;
  __shared__ A s[kWarps];
  const int t = threadIdx.x;
  const A of_warp = warp_sum(value);
  if (t % kWarp == 0) s[t / kWarp] = of_warp;
  __syncthreads();
  return t < kWarp ? warp_sum(t < kWarps ? s[t] : A(0)) : A(0);
}

// A thread takes neighbouring terms, as many as the others, but for the last ones. These loops are
// not unrolled: lanes that have a term less than others would take another way through what is left
// of an unrolled one, and a request of a sine's coefficients would become two.
template <typename T>
__global__ void contiguous(T* partial, int n) {
  const int each = (n + kGrid - 1) / kGrid;
  const int first = (blockIdx.x * kThreads + threadIdx.x) * each;
  T sum = 0;
#pragma unroll 1
  for (int i = first; i < first + each && i < n; ++i) sum += term<T>(i);
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// Terms of a thread lie all threads apart: 65536 modulo 360 is 16.
template <typename T, typename Rule>
__global__ void strided(typename Rule::Value* partial, int n) {
  Rule rule;
#pragma unroll 1
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += kGrid) rule.add(term<T>(i));
  const auto sum = block_sum(rule.value());
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <typename A>
__global__ void add_up(A* sum, const A* partial) {
  const A of_block = block_sum(partial[threadIdx.x]);
  if (threadIdx.x == 0) *sum = of_block;
}

template <typename T, typename A, typename Bound>
void launch(Sum<T, A, Bound>& p, void (*partial_sums)(A*, int)) {
  one_period<T><<<2, kThreads>>>(p.terms);
  partial_sums<<<kBlocks, kThreads>>>(p.partial, p.n);
  add_up<A><<<1, kThreads>>>(p.sum, p.partial);
}

template <typename T>
void add_variants(const warpgauge::Family& family, const char* type) {
  family.problem<Sum<T, T, Serial>>(type, {{10000}, {1000}})
      .sizes_between({1}, {10000})
      .variant("serial", [](auto& p) {
        one_period<T><<<2, kThreads>>>(p.terms);
        serial<T><<<1, 1>>>(p.sum, p.n);
      });
  const std::vector<warpgauge::Size> sizes = {{1000003}, {1000}, warpgauge::large({1000000000})};
  family.problem<Sum<T, T, Contiguous>>(type, sizes)
      .sizes_between({1}, {1000000000})
      .variant("contiguous", [](auto& p) { launch(p, contiguous<T>); });
  family.problem<Sum<T, T, Strided>>(type, sizes)
      .sizes_between({1}, {1000000000})
      .variant("strided", [](auto& p) { launch(p, strided<T, Plain<T>>); });
  family.problem<Sum<T, T, StridedCompensated>>(type, sizes)
      .sizes_between({1}, {1000000000})
      .variant("compensated", [](auto& p) { launch(p, strided<T, Compensated<T>>); });
  if constexpr (std::is_same_v<T, float>) {
    family.problem<Sum<T, double, Strided>>(type, sizes)
        .sizes_between({1}, {1000000000})
        .variant("double_sums", [](auto& p) { launch(p, strided<T, Plain<double>>); });
  }
}

WARPGAUGE_FAMILY(sine_sum) {
  add_variants<float>(family, "f32");
  add_variants<double>(family, "f64");
}

}  // namespace sine_sum
