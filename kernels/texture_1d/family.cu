// Textures in one dimension: copies of a vector that read it through texture objects, and values
// between its elements.
//
// A texture object reads through the texture unit, and its fetches are no global
// loads (global.load.requests). Over linear memory (`linear_memory`) it is addressed by an integer
// index; over a CUDA array (`array_point`) by a coordinate, where element i reaches from i to i
// + 1. What is stored comes back unchanged. For plain reads loads serve as well (`global`). What
// only a texture does: it interpolates (`array_filtered`), if only with weights of 8 bits
// (result.max_error).
#include "kernels/texture_1d/texture.h"
#include "warpgauge/warpgauge.h"

namespace texture_1d {

using textures::Array;
using textures::Texel;
using textures::Texture;
using textures::value_of;

constexpr int kThreads = 256;
constexpr int kSteps = 7;  // values from one element to the next; 1/7 is no multiple of 2^-8

template <typename T>
struct Copy : warpgauge::Problem {
  const int n;
  warpgauge::Input<T> a;
  warpgauge::Output<T> b;
  Array elements;
  Texture memory, array;

  explicit Copy(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), a(*this, n), b(*this, n) {}
  void prepare() override {
    if (memory.exists()) return;
    const T* const data = a;
    elements.make_from(data, make_cudaExtent(n, 0, 0));
    memory.over(textures::resource_of(data, n));
    array.over(textures::resource_of(elements));
  }
  void check(warpgauge::Comparison& comparison) const override { comparison.equal(b, a.host()); }
};

// Values at kSteps places from each element of a to the next, beginning with the element.
struct Interpolation : warpgauge::Problem {
  const int n;
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;
  Array elements;
  Texture array;

  explicit Interpolation(const warpgauge::Size& size)
      : n(static_cast<int>(size[0]) * kSteps), a(*this, size[0]), b(*this, n) {}
  void prepare() override {
    if (array.exists()) return;
    const float* const data = a;
    elements.make_from(data, make_cudaExtent(a.count(), 0, 0));
    array.over(textures::resource_of(elements), {.filter = cudaFilterModeLinear});
  }
  // CPU reference: the next element counts as much as the place is far from this one. The weights
  // of the texture unit have 8 bits (CUDA C++ Programming Guide, "Linear Filtering"), and may be
  // off by 2^-8; the coordinate, below 4096, is rounded to 2^-12. Elements differ by less than 2.
  void check(warpgauge::Comparison& comparison) const override {
    const std::vector<float>& of = a.host();
    std::vector<double> expected(n);
    for (int i = 0; i < n; ++i) {
      const int left = i / kSteps, right = left + 1 < n / kSteps ? left + 1 : left;
      const double weight = double(i % kSteps) / kSteps;
      expected[i] = (1 - weight) * of[left] + weight * of[right];
    }
    comparison.close(b, expected, 2 * (0x1p-8 + 0x1p-12));
  }
};

// Loads, for comparison.
template <typename T>
__global__ void global(T* b, const T* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i];
}

// Linear memory is fetched by index: no filter, no coordinates.
template <typename T>
__global__ void linear_memory(T* b, cudaTextureObject_t a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = value_of(tex1Dfetch<Texel<T>>(a, i));
}

// Without a filter every coordinate from i to i + 1 is element i; its middle is the safe choice.
template <typename T>
__global__ void array_point(T* b, cudaTextureObject_t a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = value_of(tex1D<Texel<T>>(a, i + 0.5f));
}

// With a filter the middle of an element is where it counts alone.
__global__ void array_filtered(float* b, cudaTextureObject_t a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = tex1D<float>(a, i / kSteps + 0.5f + static_cast<float>(i % kSteps) / kSteps);
}

int blocks(int n) { return (n + kThreads - 1) / kThreads; }

template <typename T>
void add_copies(const warpgauge::Variants<Copy<T>>& to) {
  to.variant("global", [](auto& p) { global<T><<<blocks(p.n), kThreads>>>(p.b, p.a, p.n); });
  to.variant("linear_memory",
             [](auto& p) { linear_memory<T><<<blocks(p.n), kThreads>>>(p.b, p.memory, p.n); });
  to.variant("array_point",
             [](auto& p) { array_point<T><<<blocks(p.n), kThreads>>>(p.b, p.array, p.n); });
}

WARPGAUGE_FAMILY(texture_1d) {
  // 131072 elements are the most that a CUDA array of one dimension holds.
  const std::vector<warpgauge::Size> sizes = {{131072}, {1000}};
  add_copies(family.problem<Copy<int>>("i32", sizes).sizes_between({1}, {131072}));
  add_copies(family.problem<Copy<float>>("f32", sizes).sizes_between({1}, {131072}));
  add_copies(family.problem<Copy<double>>("f64", sizes).sizes_between({1}, {131072}));
  // Coordinates need bits after the point as well.
  family.problem<Interpolation>("f32", {{4096}, {1000}})
      .sizes_between({1}, {4096})
      .variant("array_filtered",
               [](auto& p) { array_filtered<<<blocks(p.n), kThreads>>>(p.b, p.array, p.n); });
}

}  // namespace texture_1d
