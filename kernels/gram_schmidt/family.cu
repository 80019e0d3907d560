// Gram-Schmidt: the vectors a_i = (0, ..., 0, 1, ..., 1), with i zeros, are made orthonormal in
// their order. The size of a case is the number of vectors and their length.
//
// Three orders of the same subtractions differ in accuracy and traffic. `classical` takes a
// vector's products with all earlier results from the vector as it was: two launches a vector, and
// only that vector is written. But the rounding error of one direction enters the sum, and results
// are orthogonal only up to the square of the matrix's condition (result.max_error). `modified`
// subtracts each result from all later vectors at once, up to the condition itself, but writes
// them all again and again (global.store.requests). `classical_twice` repeats the subtraction:
// as orthogonal as the type allows, for twice the reads.
#include <cmath>
#include <limits>

#include "warpgauge/warpgauge.h"

namespace gram_schmidt {

constexpr int kThreads = 128;
constexpr int kWarp = 32;

template <typename T>
std::vector<T> ones_after_zeros(int vectors, int length) {
  std::vector<T> a(static_cast<std::size_t>(vectors) * length);
  for (int i = 0; i < vectors; ++i) {
    for (int x = i; x < length; ++x) a[static_cast<std::size_t>(i) * length + x] = 1;
  }
  return a;
}

// CPU reference, in closed form (Helmert's matrix): with r = length - i, vector i > 0 is
// (0, ..., 0, -r, 1, ..., 1) / sqrt(r (r + 1)) with i - 1 zeros, and vector 0 is all 1 / sqrt(r).
inline std::vector<double> helmert(int vectors, int length) {
  std::vector<double> q(static_cast<std::size_t>(vectors) * length);
  for (int i = 0; i < vectors; ++i) {
    const double rest = length - i;
    const double scale = 1 / std::sqrt(i == 0 ? rest : rest * (rest + 1));
    for (int x = i; x < length; ++x) q[static_cast<std::size_t>(i) * length + x] = scale;
    if (i > 0) q[static_cast<std::size_t>(i) * length + i - 1] = -rest * scale;
  }
  return q;
}

// All products of two vectors i <= j. What an addition loses is added later (Kahan): results in
// double are no less exact than this.
template <typename T>
std::vector<double> products(const std::vector<T>& q, int vectors, int length) {
  std::vector<double> all;
  for (int i = 0; i < vectors; ++i) {
    for (int j = i; j < vectors; ++j) {
      const T* a = &q[static_cast<std::size_t>(i) * length];
      const T* b = &q[static_cast<std::size_t>(j) * length];
      double sum = 0, lost = 0;
      for (int x = 0; x < length; ++x) {
        const double term = static_cast<double>(a[x]) * static_cast<double>(b[x]) + lost;
        const double next = sum + term;
        lost = term - (next - sum);
        sum = next;
      }
      all.push_back(sum);
    }
  }
  return all;
}

// The products of orthonormal vectors: 1 of each with itself, 0 of the others.
inline std::vector<double> unit_products(int vectors) {
  std::vector<double> all;
  for (int i = 0; i < vectors; ++i) {
    for (int j = i; j < vectors; ++j) all.push_back(i == j ? 1 : 0);
  }
  return all;
}

// The vectors are rows, and are replaced by the results. kLoss says how exact these must be.
template <typename T, int kLoss>
struct Orthonormal : warpgauge::Problem {
  const int vectors, length;
  warpgauge::InOut<T> q;
  warpgauge::Output<T> factors;  // products of one vector with those before it

  explicit Orthonormal(const warpgauge::Size& size)
      : vectors(static_cast<int>(size[0])),
        length(static_cast<int>(size[1])),
        q(*this, ones_after_zeros<T>(vectors, length)),
        factors(*this, vectors) {}

  // The condition: the inverse of the square matrix has only 1 and -1 beside each other, so its
  // norm is below 2, and the norm of the matrix itself is about 2 / pi times the length. What
  // rounding (half an epsilon) does to the results grows with the condition once, for each
  // order; how orthogonal they are, kLoss times, with the length for sums where kLoss is 0.
  void check(warpgauge::Comparison& comparison) const override {
    const double rounding = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    const double condition = 4 / 3.14159 * length;
    const std::vector<T> got = q.host();
    comparison.close(products(got, vectors, length), unit_products(vectors),
                     rounding * (kLoss == 0 ? length : std::pow(condition, kLoss)));
    const std::vector<double> expected = helmert(vectors, length);
    int far = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double error = std::fabs(static_cast<double>(got[i]) - expected[i]);
      if (!(error <= rounding * std::pow(condition, kLoss == 2 ? 2 : 1))) ++far;
    }
    comparison.equal(std::vector<int>{far}, std::vector<int>{0});
  }
  double bytes() const override { return 2.0 * vectors * length * sizeof(T); }
  double flops() const override { return 2.0 * vectors * vectors * length; }
};

// Sum over the block of what `of(x)` says of the elements of a vector, in all threads. Rounds are
// the same for all threads, so that lanes stay together.
template <typename T, typename Of>
__device__ T sum_over(int length, Of of) {
  __shared__ T s[kThreads / kWarp];
  const int t = threadIdx.x;
  T sum = 0;
  for (int first = 0; first < length; first += kThreads) {
    if (first + t < length) sum += of(first + t);
  }
  for (int half = kWarp / 2; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
  if (t % kWarp == 0) s[t / kWarp] = sum;
  __syncthreads();
  T of_block = 0;
  for (const T of_warp : s) of_block += of_warp;
  return of_block;
}

// One block: vector k gets length 1.
template <typename T>
__global__ void normalise(T* q, int k, int length) {
  T* mine = q + k * length;
  const T norm = sqrt(sum_over<T>(length, [=](int x) { return mine[x] * mine[x]; }));
  for (int x = threadIdx.x; x < length; x += kThreads) mine[x] /= norm;
}

// A block for each earlier vector: its product with vector k.
template <typename T>
__global__ void project(T* factors, const T* q, int k, int length) {
  const T *earlier = q + blockIdx.x * length, *mine = q + k * length;
  const T product = sum_over<T>(length, [=](int x) { return earlier[x] * mine[x]; });
  if (threadIdx.x == 0) factors[blockIdx.x] = product;
}

// A thread for each element of vector k: all earlier vectors are subtracted before it is written.
template <typename T>
__global__ void subtract(T* q, const T* factors, int k, int length) {
  const int x = blockIdx.x * kThreads + threadIdx.x;
  if (x >= length) return;
  T value = q[k * length + x];
  for (int j = 0; j < k; ++j) value -= factors[j] * q[j * length + x];
  q[k * length + x] = value;
}

// A block for each later vector: it loses what it has of vector k.
template <typename T>
__global__ void remove(T* q, int k, int length) {
  const T* done = q + k * length;
  T* later = q + (k + 1 + blockIdx.x) * length;
  const T factor = sum_over<T>(length, [=](int x) { return done[x] * later[x]; });
  for (int x = threadIdx.x; x < length; x += kThreads) later[x] -= factor * done[x];
}

template <typename T, int kLoss>
void launch_classical(Orthonormal<T, kLoss>& p, int times) {
  const int blocks = (p.length + kThreads - 1) / kThreads;
  for (int k = 0; k < p.vectors; ++k) {
    for (int time = 0; k > 0 && time < times; ++time) {
      project<T><<<k, kThreads>>>(p.factors, p.q, k, p.length);
      subtract<T><<<blocks, kThreads>>>(p.q, p.factors, k, p.length);
    }
    normalise<T><<<1, kThreads>>>(p.q, k, p.length);
  }
}

template <typename T, int kLoss>
void launch_modified(Orthonormal<T, kLoss>& p) {
  for (int k = 0; k < p.vectors; ++k) {
    normalise<T><<<1, kThreads>>>(p.q, k, p.length);
    const int later = p.vectors - k - 1;
    if (later > 0) remove<T><<<later, kThreads>>>(p.q, k, p.length);
  }
}

template <typename T>
void add_variants(const warpgauge::Family& family, const char* type) {
  const std::vector<warpgauge::Size> sizes = {
      {128, 128}, {96, 200}, {37, 104}, warpgauge::large({1024, 1024})};
  family.problem<Orthonormal<T, 2>>(type, sizes).variant("classical", [](auto& p) {
    launch_classical(p, 1);
  });
  family.problem<Orthonormal<T, 1>>(type, sizes).variant("modified", [](auto& p) {
    launch_modified(p);
  });
  family.problem<Orthonormal<T, 0>>(type, sizes).variant("classical_twice", [](auto& p) {
    launch_classical(p, 2);
  });
}

WARPGAUGE_FAMILY(gram_schmidt) {
  add_variants<float>(family, "f32");
  add_variants<double>(family, "f64");
}

}  // namespace gram_schmidt
