// Surfaces: kernels that write into a CUDA array, which a texture or a surface reads afterwards.
//
// Arrays keep neighbours in two dimensions together, in an order of the device's own, and a kernel
// writes them only through a surface object. What one launch has written, the next one may read
// through a texture; within a launch the texture cache is not kept up to date, and such a read
// gives anything. `global` turns a matrix in linear memory, and each store of a warp goes to 32
// rows (global.store.sectors_per_request). `through_array` stores the columns into a surface, and
// the next launch fetches rows. Its x is in bytes, and its address is checked: outside, a write is
// dropped and a read gives 0 (`beyond_zero`), or the last element is taken (`beyond_clamp`); the
// default is a trap, which ends the kernel.
#include "kernels/texture_1d/texture.h"
#include "warpgauge/warpgauge.h"

namespace surface {

using textures::Array;
using textures::Surface;
using textures::Texel;
using textures::Texture;
using textures::value_of;

constexpr int kThreads = 256;
constexpr int kBytes = sizeof(float);
constexpr int kShift = 3;  // how far beyond the edge is read
const dim3 kBlock(32, 8);

// An array that is written through a surface, and read through it or a texture. Before each run it
// is filled with what the output of that size is poisoned with.
struct Written {
  Array elements;
  Surface surface;
  Texture texture;

  template <typename T>
  void prepare(const T* poison, cudaExtent extent, unsigned flags = 0) {
    if (!surface.exists()) {
      elements.allocate<T>(extent, cudaArraySurfaceLoadStore | flags);
      surface.over(elements);
      texture.over(textures::resource_of(elements));
    }
    elements.fill(poison, extent);
  }
};

// The size is height x width of a; b has its columns as rows.
struct Transpose : warpgauge::Problem {
  const int height, width;
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;

  explicit Transpose(const warpgauge::Size& size)
      : height(static_cast<int>(size[0])),
        width(static_cast<int>(size[1])),
        a(*this, size.count()),
        b(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<float> expected;
    for (int x = 0; x < width; ++x) {
      for (int y = 0; y < height; ++y) expected.push_back(a.host()[y * width + x]);
    }
    comparison.equal(b, expected);
  }
};

struct TransposeThroughArray : Transpose {
  Written turned;
  using Transpose::Transpose;
  void prepare() override { turned.prepare<float>(b, make_cudaExtent(height, width, 0)); }
};

__global__ void global(float* b, const float* a, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) b[x * height + y] = a[y * width + x];
}

__global__ void write_columns(cudaSurfaceObject_t b, const float* a, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) surf2Dwrite(a[y * width + x], b, y * kBytes, x);
}

__global__ void read_rows(float* b, cudaTextureObject_t a, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) b[y * width + x] = tex2D<float>(a, x + 0.5f, y + 0.5f);
}

// Elements kShift to the left and above, of an array that was filled without a bounds check.
template <cudaSurfaceBoundaryMode kMode>
struct Shift : warpgauge::Problem {
  const int height, width;
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;
  Written copy;

  explicit Shift(const warpgauge::Size& size)
      : height(static_cast<int>(size[0])),
        width(static_cast<int>(size[1])),
        a(*this, size.count()),
        b(*this, size.count()) {}
  void prepare() override { copy.prepare<float>(b, make_cudaExtent(width, height, 0)); }
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<float> expected;
    for (int y = -kShift; y < height - kShift; ++y) {
      for (int x = -kShift; x < width - kShift; ++x) {
        const bool outside = x < 0 || y < 0;
        const float nearest = a.host()[(y < 0 ? 0 : y) * width + (x < 0 ? 0 : x)];
        expected.push_back(outside && kMode == cudaBoundaryModeZero ? 0 : nearest);
      }
    }
    comparison.equal(b, expected);
  }
};

// Threads beyond the edges have values of their own, which must not arrive anywhere.
__global__ void write_unchecked(cudaSurfaceObject_t b, const float* a, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const bool inside = x < width && y < height;
  const float value = inside ? a[y * width + x] : -1;
  surf2Dwrite(value, b, x * kBytes, y, cudaBoundaryModeZero);
}

template <cudaSurfaceBoundaryMode kMode>
__global__ void read_shifted(float* b, cudaSurfaceObject_t a, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int bytes = (x - kShift) * kBytes;
  b[y * width + x] = surf2Dread<float>(a, bytes, y - kShift, kMode);
}

// A vector backwards: x is in bytes, for every type.
template <typename T>
struct Reversal : warpgauge::Problem {
  const int n;
  warpgauge::Input<T> a;
  warpgauge::Output<T> b;
  Written reversed;

  explicit Reversal(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), a(*this, n), b(*this, n) {}
  void prepare() override { reversed.prepare<T>(b, make_cudaExtent(n, 0, 0)); }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(b, std::vector<T>(a.host().rbegin(), a.host().rend()));
  }
};

__device__ int2 texel_of(double value) {
  return make_int2(__double2loint(value), __double2hiint(value));
}
template <typename T>
__device__ T texel_of(T value) {
  return value;
}

template <typename T>
__global__ void write_backwards(cudaSurfaceObject_t b, const T* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) surf1Dwrite(texel_of(a[i]), b, (n - 1 - i) * static_cast<int>(sizeof(T)));
}

template <typename T>
__global__ void read_back(T* b, cudaSurfaceObject_t a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = value_of(surf1Dread<Texel<T>>(a, i * static_cast<int>(sizeof(T))));
}

// Slices in the opposite order, by a volume or by layers.
template <unsigned kFlags>
struct Slices : warpgauge::Problem {
  const int depth, height, width;
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;
  Written reversed;

  explicit Slices(const warpgauge::Size& size)
      : depth(static_cast<int>(size[0])),
        height(static_cast<int>(size[1])),
        width(static_cast<int>(size[2])),
        a(*this, size.count()),
        b(*this, size.count()) {}
  void prepare() override {
    reversed.prepare<float>(b, make_cudaExtent(width, height, depth), kFlags);
  }
  void check(warpgauge::Comparison& comparison) const override {
    const int slice = height * width;
    std::vector<float> expected;
    for (int i = 0; i < depth * slice; ++i) {
      expected.push_back(a.host()[(depth - 1 - i / slice) * slice + i % slice]);
    }
    comparison.equal(b, expected);
  }
};

template <bool kLayered>
__global__ void write_slices(cudaSurfaceObject_t b, const float* a, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int to = gridDim.z - 1 - blockIdx.z, bytes = x * kBytes;
  const float value = a[(blockIdx.z * height + y) * width + x];
  if (kLayered) {
    surf2DLayeredwrite(value, b, bytes, y, to);
  } else {
    surf3Dwrite(value, b, bytes, y, to);
  }
}

template <bool kLayered>
__global__ void read_slices(float* b, cudaTextureObject_t a, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z;
  if (x >= width || y >= height) return;
  b[(z * height + y) * width + x] = kLayered ? tex2DLayered<float>(a, x + 0.5f, y + 0.5f, z)
                                             : tex3D<float>(a, x + 0.5f, y + 0.5f, z + 0.5f);
}

int blocks(int n) { return (n + kThreads - 1) / kThreads; }
dim3 blocks(int height, int width, int depth = 1) {
  return dim3((width + kBlock.x - 1) / kBlock.x, (height + kBlock.y - 1) / kBlock.y, depth);
}

template <cudaSurfaceBoundaryMode kMode>
void launch(Shift<kMode>& p) {
  write_unchecked<<<blocks(p.height, p.width), kBlock>>>(p.copy.surface, p.a, p.height, p.width);
  read_shifted<kMode>
      <<<blocks(p.height, p.width), kBlock>>>(p.b, p.copy.surface, p.height, p.width);
}

template <bool kLayered>
void launch(Slices<kLayered ? cudaArrayLayered : 0>& p) {
  const dim3 grid = blocks(p.height, p.width, p.depth);
  write_slices<kLayered><<<grid, kBlock>>>(p.reversed.surface, p.a, p.height, p.width);
  read_slices<kLayered><<<grid, kBlock>>>(p.b, p.reversed.texture, p.height, p.width);
}

template <typename T>
void add_reversal(const warpgauge::Family& family, const char* type) {
  // The most elements that a surface of one dimension holds; a last block of 232.
  family.problem<Reversal<T>>(type, {{32768}, {1000}})
      .sizes_between({1}, {32768})
      .variant("backwards", [](auto& p) {
        write_backwards<T><<<blocks(p.n), kThreads>>>(p.reversed.surface, p.a, p.n);
        read_back<T><<<blocks(p.n), kThreads>>>(p.b, p.reversed.surface, p.n);
      });
}

WARPGAUGE_FAMILY(surface) {
  const std::vector<warpgauge::Size> sizes = {{384, 640}, {70, 100}};
  family.problem<Transpose>("f32", sizes)
      .sizes_between({1, 1}, {4096, 4096})
      .variant("global", [](auto& p) {
        global<<<blocks(p.height, p.width), kBlock>>>(p.b, p.a, p.height, p.width);
      });
  family.problem<TransposeThroughArray>("f32", sizes)
      .sizes_between({1, 1}, {4096, 4096})
      .variant("through_array", [](auto& p) {
        write_columns<<<blocks(p.height, p.width), kBlock>>>(p.turned.surface, p.a, p.height,
                                                             p.width);
        read_rows<<<blocks(p.width, p.height), kBlock>>>(p.b, p.turned.texture, p.width, p.height);
      });
  family.problem<Shift<cudaBoundaryModeZero>>("f32", sizes)
      .sizes_between({1, 1}, {4096, 4096})
      .variant("beyond_zero", [](auto& p) { launch(p); });
  family.problem<Shift<cudaBoundaryModeClamp>>("f32", sizes)
      .sizes_between({1, 1}, {4096, 4096})
      .variant("beyond_clamp", [](auto& p) { launch(p); });
  add_reversal<unsigned char>(family, "u8");
  add_reversal<short>(family, "i16");
  add_reversal<float>(family, "f32");
  add_reversal<double>(family, "f64");
  const std::vector<warpgauge::Size> volumes = {{16, 48, 64}, {5, 30, 70}};
  family.problem<Slices<0>>("f32", volumes)
      .sizes_between({1, 1, 1}, {64, 512, 512})
      .variant("volume", [](auto& p) { launch<false>(p); });
  family.problem<Slices<cudaArrayLayered>>("f32", volumes)
      .sizes_between({1, 1, 1}, {64, 512, 512})
      .variant("layers", [](auto& p) { launch<true>(p); });
}

}  // namespace surface
