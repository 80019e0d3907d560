// Euclidean norm of a vector: the root of the sum of squares.
//
// A square overflows long before the norm does. `plain` is right for ordinary
// values; of large ones it makes infinity, of tiny ones 0, and the cases f32_huge, f64_tiny, ...
// expect just that of it. Cures: `by_maximum` divides by the largest element, which takes a second
// pass over memory (global.load.requests doubles). `by_ranges` scales large, ordinary and tiny
// elements by fixed powers of two and sums them up apart: one pass, three sums to carry
// (shared.wavefronts). `wide` has the squares of floats in double, whose range they cannot leave.
#include "kernels/norm/problem.h"

namespace norms {  // CUDA has a function norm()

constexpr int kWarp = 32;

// A norm of the same elements that expects the result of their overflow or underflow.
template <typename T, int kExponent>
struct Lost : Norm<T, kExponent> {
  using Norm<T, kExponent>::Norm;
  void check(warpgauge::Comparison& comparison) const override {
    const double left = kExponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
    comparison.close(this->result, std::vector<double>{left}, 0);
  }
};

struct Plus {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

struct Larger {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

template <typename T, typename Operation>
__device__ T over_warp(T value, Operation operation) {
  for (int half = kWarp / 2; half > 0; half /= 2) {
    value = operation(value, __shfl_down_sync(~0u, value, half));
  }
  return value;
}

// Sum or maximum over the block of values that are not negative, valid in thread 0. `s` has a word
// for each warp.
template <typename T, typename Operation>
__device__ T over_block(T value, T* s, Operation operation) {
  constexpr int kWarps = kThreads / kWarp;
  const int t = threadIdx.x;
  const T of_warp = over_warp(value, operation);
  if (t % kWarp == 0) s[t / kWarp] = of_warp;
  __syncthreads();
  return t < kWarp ? over_warp(t < kWarps ? s[t] : T{0}, operation) : T{0};
}

// Puts together what `of(i)` says of the elements from this block's first one on, going round with
// the whole grid. Rounds are the same for all threads of a block, so lanes stay together.
template <typename Sum, typename Operation, typename Of>
__device__ Sum over_elements(int n, Operation operation, Of of) {
  Sum sum = 0;
  for (int first = blockIdx.x * kThreads; first < n; first += gridDim.x * kThreads) {
    const int i = first + threadIdx.x;
    if (i < n) sum = operation(sum, of(i));
  }
  return sum;
}

// With Sum = T the squares leave the range of T for |x| above 2^64 (float) or 2^512 (double).
template <typename Sum, typename T>
__global__ void squares(Sum* of_blocks, const T* x, int n) {
  __shared__ Sum s[kThreads / kWarp];
  const Sum own = over_elements<Sum>(n, Plus{}, [=](int i) { return Sum{x[i]} * Sum{x[i]}; });
  const Sum sum = over_block(own, s, Plus{});
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = sum;
}

template <typename Sum, typename T>
__global__ void root(T* result, const Sum* of_blocks, int blocks) {
  __shared__ Sum s[kThreads / kWarp];
  const Sum own = over_elements<Sum>(blocks, Plus{}, [=](int i) { return of_blocks[i]; });
  const Sum sum = over_block(own, s, Plus{});
  if (threadIdx.x == 0) *result = static_cast<T>(sqrt(sum));
}

template <typename T>
__global__ void largest(T* of_blocks, const T* x, int n) {
  __shared__ T s[kThreads / kWarp];
  const T own = over_elements<T>(n, Larger{}, [=](int i) { return fabs(x[i]); });
  const T maximum = over_block(own, s, Larger{});
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = maximum;
}

// Quotients are at most 1, and one of them is: neither the sum nor what counts in it is lost.
template <typename T>
__global__ void squares_of_quotients(T* of_blocks, const T* x, const T* maximum, int n) {
  __shared__ T s[kThreads / kWarp];
  const T divisor = *maximum > 0 ? *maximum : T{1};
  const T own = over_elements<T>(n, Plus{}, [=](int i) {
    const T quotient = x[i] / divisor;
    return quotient * quotient;
  });
  const T sum = over_block(own, s, Plus{});
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = sum;
}

template <typename T>
__global__ void root_times_maximum(T* result, const T* of_blocks, const T* maximum, int blocks) {
  __shared__ T s[kThreads / kWarp];
  const T own = over_elements<T>(blocks, Plus{}, [=](int i) { return of_blocks[i]; });
  const T sum = over_block(own, s, Plus{});
  if (threadIdx.x == 0) *result = *maximum * sqrt(sum);
}

// Blue's ranges: up to kLarge and down to kTiny, 2^29 squares neither overflow nor lose digits.
// Elements beyond are first multiplied by a power of two that brings their squares back.
template <typename T>
struct Ranges {
  static constexpr bool kFloat = sizeof(T) == 4;
  static constexpr T kLarge = kFloat ? 0x1p52 : 0x1p486, kDown = kFloat ? 0x1p-76 : 0x1p-538;
  static constexpr T kTiny = kFloat ? 0x1p-63 : 0x1p-511, kUp = kFloat ? 0x1p75 : 0x1p537;
};

// Writes a block's sum of each range. An element adds to one of them; selected by arithmetic, not
// by a branch, or the lanes of a warp would part.
template <typename T>
__global__ void squares_by_range(T* of_blocks, const T* x, int n) {
  using R = Ranges<T>;
  __shared__ T s[kRanges][kThreads / kWarp];
  T own[kRanges] = {};
  for (int first = blockIdx.x * kThreads; first < n; first += gridDim.x * kThreads) {
    const int i = first + threadIdx.x;
    const T value = i < n ? fabs(x[i]) : T{0};
    const bool large = value > R::kLarge, tiny = value < R::kTiny;
    const T factor = large ? R::kDown : tiny ? R::kUp : T{1};
    const T square = value * factor * (value * factor);
    own[0] += large || tiny ? T{0} : square;
    own[1] += large ? square : T{0};
    own[2] += tiny ? square : T{0};
  }
  for (int range = 0; range < kRanges; ++range) {
    const T sum = over_block(own[range], s[range], Plus{});
    if (threadIdx.x == 0) of_blocks[range * kMaxBlocks + blockIdx.x] = sum;
  }
}

// Large elements make all but ordinary ones vanish; where there are none, tiny ones may count.
template <typename T>
__global__ void root_of_ranges(T* result, const T* of_blocks, int blocks) {
  using R = Ranges<T>;
  __shared__ T s[kRanges][kThreads / kWarp];
  T sum[kRanges];
  for (int range = 0; range < kRanges; ++range) {
    const T* sums = of_blocks + range * kMaxBlocks;
    const T own = over_elements<T>(blocks, Plus{}, [=](int i) { return sums[i]; });
    sum[range] = over_block(own, s[range], Plus{});
  }
  if (threadIdx.x != 0) return;
  if (sum[1] > 0) {
    *result = sqrt(sum[1] + sum[0] * R::kDown * R::kDown) / R::kDown;
  } else {
    *result = hypot(sqrt(sum[0]), sqrt(sum[2]) / R::kUp);
  }
}

template <typename T, int kExponent>
void launch_plain(Norm<T, kExponent>& p) {
  squares<T, T><<<p.blocks, kThreads>>>(p.of_blocks, p.x, p.n);
  root<T, T><<<1, kThreads>>>(p.result, p.of_blocks, p.blocks);
}

template <int kExponent>
void launch_wide(Norm<float, kExponent>& p) {
  squares<double, float><<<p.blocks, kThreads>>>(p.wide_of_blocks, p.x, p.n);
  root<double, float><<<1, kThreads>>>(p.result, p.wide_of_blocks, p.blocks);
}

// The second step of a maximum is the first one over, for the maxima of the blocks.
template <typename T, int kExponent>
void launch_by_maximum(Norm<T, kExponent>& p) {
  largest<T><<<p.blocks, kThreads>>>(p.of_blocks, p.x, p.n);
  largest<T><<<1, kThreads>>>(p.maximum, p.of_blocks, p.blocks);
  squares_of_quotients<T><<<p.blocks, kThreads>>>(p.of_blocks, p.x, p.maximum, p.n);
  root_times_maximum<T><<<1, kThreads>>>(p.result, p.of_blocks, p.maximum, p.blocks);
}

template <typename T, int kExponent>
void launch_by_ranges(Norm<T, kExponent>& p) {
  squares_by_range<T><<<p.blocks, kThreads>>>(p.of_blocks, p.x, p.n);
  root_of_ranges<T><<<1, kThreads>>>(p.result, p.of_blocks, p.blocks);
}

// Computes the norm for every range of values.
template <typename T, int kExponent>
void add_scaled(const warpgauge::Variants<Norm<T, kExponent>>& to) {
  to.variant("by_maximum", launch_by_maximum<T, kExponent>);
  to.variant("by_ranges", launch_by_ranges<T, kExponent>);
  if constexpr (sizeof(T) == 4) to.variant("wide", launch_wide<kExponent>);
}

template <typename T, int kExponent>
void add_extreme(const warpgauge::Family& family, const char* type) {
  const std::vector<warpgauge::Size> sizes = {{100003}, {100}};
  family.problem<Lost<T, kExponent>>(type, sizes)
      .sizes_between({1}, {100003})
      .variant("plain", launch_plain<T, kExponent>);
  add_scaled(family.problem<Norm<T, kExponent>>(type, sizes).sizes_between({1}, {100003}));
}

template <typename T>
void add_ordinary(const warpgauge::Family& family, const char* type) {
  const auto norm = family.problem<Norm<T, 0>>(type, sizes<T>()).sizes_between({1}, {1 << 28});
  norm.variant("plain", launch_plain<T, 0>);
  add_scaled(norm);
}

WARPGAUGE_FAMILY(norm) {
  add_ordinary<float>(family, "f32");
  add_ordinary<double>(family, "f64");
  add_extreme<float, 100>(family, "f32_huge");
  add_extreme<float, -100>(family, "f32_tiny");
  add_extreme<double, 900>(family, "f64_huge");
  add_extreme<double, -900>(family, "f64_tiny");
}

}  // namespace norms
