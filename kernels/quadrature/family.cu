// Quadrature: pi as an integral from 0 to 1, of the quarter circle 4 sqrt(1 - x^2) and of the
// smooth 6 / sqrt(4 - x^2). The size is the number n of intervals, each h = 1/n wide.
// The error of a rule falls with a power of h (result.max_error of f64). With a
// smooth integrand that is h^2 for the midpoint and trapezoid rules and h^4 for Simpson's. The
// slope of the circle is infinite at 1, which leaves h^1.5 to all three: a better rule does not
// help. In f32 the rounding of the sum takes over early. The tabulated variants read the circle
// from memory: by loads (`table_global_...`), or by a texture (`table_texture_...`), whose fetches
// are no global loads.
#include <cmath>
#include <string>

#include "kernels/texture_1d/texture.h"
#include "warpgauge/warpgauge.h"

namespace quadrature {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr int kBlocks = kThreads;  // for every n: one block adds up their sums
constexpr double kPi = 3.14159265358979323846;

struct Circle {
  template <typename T>
  static __host__ __device__ T at(T x) {
    return 4 * std::sqrt(1 - x * x);
  }
};
struct Arcsine {
  template <typename T>
  static __host__ __device__ T at(T x) {
    return 6 / std::sqrt(4 - x * x);
  }
};

// CPU reference: pi, and by how much a rule misses it: coefficient * h^power, where h is small.
// Smooth: h^2/24 and h^2/12 times the growth of the first derivative, from 0 to 2/sqrt(3); h^4/180
// times that of the third, from 0 to 28 sqrt(3)/9 (Euler and Maclaurin). Circle: near 1 it is like
// 4 sqrt(2) (1-x)^(1/2), and the coefficient 4 sqrt(2) zeta(-1/2) for the trapezoid rule,
// 4 sqrt(2) zeta(-1/2, 1/2) for midpoints (Navot). Simpson's rule is (4 trapezoid(h) -
// trapezoid(2h)) / 3.
struct Miss {
  double coefficient, power;
  double at(double h) const { return coefficient * std::pow(h, power); }
};

// Rules: h times the sum of weight(i) f((i + kShift) h) over the nodes i.
struct Midpoint {
  static constexpr double kShift = 0.5;
  static __host__ __device__ int nodes(int n) { return n; }
  template <typename T>
  static __device__ T weight(int, int) {
    return 1;
  }
  static Miss miss(Circle) { return {0.3444372, 1.5}; }
  static Miss miss(Arcsine) { return {-0.0481125, 2}; }
};
struct Trapezoid {
  static constexpr double kShift = 0;
  static __host__ __device__ int nodes(int n) { return n + 1; }
  template <typename T>
  static __device__ T weight(int i, int n) {
    return i == 0 || i == n ? T(0.5) : T(1);
  }
  static Miss miss(Circle) { return {-1.1759821, 1.5}; }
  static Miss miss(Arcsine) { return {0.0962250, 2}; }
};
struct Simpson {  // n is even
  static constexpr double kShift = 0;
  static __host__ __device__ int nodes(int n) { return n + 1; }
  template <typename T>
  static __device__ T weight(int i, int n) {
    return (i == 0 || i == n ? T(1) : i % 2 == 0 ? T(2) : T(4)) / 3;
  }
  static Miss miss(Circle) { return {-0.4592496, 1.5}; }
  static Miss miss(Arcsine) { return {0.0299367, 4}; }
};

template <typename T, typename Rule, typename Integrand>
struct Quadrature : warpgauge::Problem {
  const int n;
  warpgauge::Output<T> partial;  // one a block
  warpgauge::Output<T> integral;

  explicit Quadrature(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), partial(*this, kBlocks), integral(*this, 1) {}
  double bytes() const override { return sizeof(T); }

  // The next term of the error is under 1 % of the leading one for n >= 64. Roundings: one for each
  // term that a thread adds up and 32 for the trees and for the terms themselves, also where the
  // circle ends: there 1 - x^2 has few right bits, but few terms are hit.
  void check(warpgauge::Comparison& comparison) const override {
    const double terms = 1 + n / (kBlocks * kThreads), unit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
    const double miss = Rule::miss(Integrand()).at(1.0 / n);
    const double allowed = 0.01 * std::fabs(miss) + (terms + 32) * unit * kPi;
    const std::vector<T> got = integral.host();
    comparison.close(got, std::vector<double>{kPi}, (std::fabs(miss) + allowed) / kPi);
    // Not only near enough to pi, but as far from it as theory says.
    const double surprise = std::fabs(double(got[0]) - (kPi + miss));
    comparison.equal(std::vector<double>{std::fmax(0, surprise - allowed)}, std::vector<double>{0});
  }
};

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

// Each block leaves a sum. Terms of a thread lie all threads apart: a table is read by neighbours
// side by side. Values gives the value at a node.
template <typename T, typename Rule, typename Values>
__global__ void partial_sums(T* partial, Values values, int n) {
  T sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < Rule::nodes(n); i += kBlocks * kThreads) {
    sum += Rule::template weight<T>(i, n) * values(i, n);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <typename T>
__global__ void add_up(T* integral, const T* partial, int n) {
  const T sum = block_sum(partial[threadIdx.x]);
  if (threadIdx.x == 0) *integral = sum / n;
}

// The integrand itself. (i + shift) / n and not times h: a product may exceed 1, where the circle
// has ended.
template <typename T, typename Rule, typename Integrand>
struct Computed {
  __device__ T operator()(int i, int n) const { return Integrand::at((i + T(Rule::kShift)) / n); }
};

template <typename T>
struct FromMemory {
  const T* table;
  __device__ T operator()(int i, int) const { return table[i]; }
};

template <typename T>
struct FromTexture {
  cudaTextureObject_t table;
  __device__ T operator()(int i, int) const {
    return textures::value_of(tex1Dfetch<textures::Texel<T>>(table, i));
  }
};

// A rule with the circle's values at its nodes.
template <typename T, typename Rule>
struct Tabulated : Quadrature<T, Rule, Circle> {
  warpgauge::Input<T> table;
  textures::Texture texture;

  explicit Tabulated(const warpgauge::Size& size)
      : Quadrature<T, Rule, Circle>(size), table(*this, values(this->n)) {}
  double bytes() const override { return static_cast<double>((table.count() + 1) * sizeof(T)); }

  static std::vector<T> values(int n) {
    std::vector<T> values;
    for (int i = 0; i < Rule::nodes(n); ++i) {
      values.push_back(static_cast<T>(Circle::at((i + Rule::kShift) / n)));
    }
    return values;
  }
  void prepare() override {
    const T* const data = table;
    if (!texture.exists()) texture.over(textures::resource_of(data, table.count()));
  }
};

template <typename T, typename Rule, typename P, typename Values>
void launch(P& p, Values values) {
  partial_sums<T, Rule><<<kBlocks, kThreads>>>(static_cast<T*>(p.partial), values, p.n);
  add_up<T><<<1, kThreads>>>(p.integral, p.partial, p.n);
}

template <typename T, typename Rule, typename Integrand>
void add(const warpgauge::Family& family, const char* type, const char* name,
         const std::vector<warpgauge::Size>& sizes,
         std::source_location where = std::source_location::current()) {
  family.problem<Quadrature<T, Rule, Integrand>>(type, sizes)
      .sizes_between({64}, {1 << 26}, {2})
      .variant(name, [](auto& p) { launch<T, Rule>(p, Computed<T, Rule, Integrand>()); }, where);
}

// One idea, from both memories.
template <typename T, typename Rule>
void add_tables(const warpgauge::Family& family, const char* type, const std::string& rule,
                const std::vector<warpgauge::Size>& sizes,
                std::source_location where = std::source_location::current()) {
  const auto tabulated =
      family.problem<Tabulated<T, Rule>>(type, sizes).sizes_between({64}, {1 << 26}, {2});
  tabulated.variant(
      "table_global_" + rule, [](auto& p) { launch<T, Rule>(p, FromMemory<T>{p.table}); }, where);
  tabulated.variant(
      "table_texture_" + rule, [](auto& p) { launch<T, Rule>(p, FromTexture<T>{p.texture}); },
      where);
}

template <typename T>
void add_variants(const warpgauge::Family& family, const char* type) {
  const std::vector<warpgauge::Size> sizes = {{64}, {1000}, {262144}, warpgauge::large({1 << 26})};
  add<T, Midpoint, Arcsine>(family, type, "smooth_midpoint", sizes);
  add<T, Trapezoid, Arcsine>(family, type, "smooth_trapezoid", sizes);
  add<T, Simpson, Arcsine>(family, type, "smooth_simpson", sizes);
  add<T, Midpoint, Circle>(family, type, "circle_midpoint", sizes);
  add<T, Trapezoid, Circle>(family, type, "circle_trapezoid", sizes);
  add<T, Simpson, Circle>(family, type, "circle_simpson", sizes);
  add_tables<T, Midpoint>(family, type, "midpoint", sizes);
  add_tables<T, Trapezoid>(family, type, "trapezoid", sizes);
  add_tables<T, Simpson>(family, type, "simpson", sizes);
}

WARPGAUGE_FAMILY(quadrature) {
  add_variants<float>(family, "f32");
  add_variants<double>(family, "f64");
}

}  // namespace quadrature
