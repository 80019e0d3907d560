// Textures of two and three dimensions: each element becomes the mean of its neighbours in the four
// (six) directions, two steps away, and values between the elements of a grid.
//
// Beyond its edges, a texture follows its address mode. `clamp` repeats the last element, `border`
// gives 0, `wrap` begins again and `mirror` goes back; the last two only for coordinates from 0 to
// 1. With loads, the kernel has to do that itself, for each neighbour (`by_hand`), and where a row
// is read from two elements off, a request has a sector more (global.load.sectors_per_request).
// Texture fetches are no global loads. A texture lies over a CUDA array, whose order is the
// device's own, or over rows in linear memory, which other kernels can write (`pitched`). Filtering
// mixes four or eight elements (`filtered`, `volume_filtered`), with weights of 8 bits
// (result.max_error).
#include "kernels/texture_1d/texture.h"
#include "warpgauge/warpgauge.h"

namespace texture_grid {

using textures::Array;
using textures::Reading;
using textures::Texture;

constexpr int kReach = 2;  // one step beyond the edge, clamping and mirroring are the same
constexpr int kSteps = 3;  // places from an element to the next, where a picture is enlarged

// Where a place beyond the edge of n elements is read, by address mode; -1: nowhere.
int clamped(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }
int wrapped(int i, int n) { return (i + n) % n; }
int mirrored(int i, int n) { return i < 0 ? -1 - i : i < n ? i : 2 * n - 1 - i; }
int bordered(int i, int n) { return i < 0 || i >= n ? -1 : i; }
using Beyond = int (*)(int i, int n);

// CPU reference: a grid of any extents, slowest first, that can be read beyond its edges. The sums
// are the kernels', and rounded like theirs.
struct Grid {
  const std::vector<float>& values;
  const int depth, height, width;
  const Beyond beyond;

  float at(int z, int y, int x) const {
    const int k = beyond(z, depth), j = beyond(y, height), i = beyond(x, width);
    return k < 0 || j < 0 || i < 0 ? 0 : values[(k * height + j) * width + i];
  }
  float mean_in_plane(int z, int y, int x) const {
    return (at(z, y, x - kReach) + at(z, y, x + kReach) + at(z, y - kReach, x) +
            at(z, y + kReach, x)) /
           4;
  }
  float mean_in_space(int z, int y, int x) const {
    return (at(z, y, x - kReach) + at(z, y, x + kReach) + at(z, y - kReach, x) +
            at(z, y + kReach, x) + at(z - kReach, y, x) + at(z + kReach, y, x)) /
           6;
  }
};

// A grid of two dimensions.
struct Plane : warpgauge::Problem {
  const int height, width;
  warpgauge::Input<float> a;

  explicit Plane(const warpgauge::Size& size)
      : height(static_cast<int>(size[0])),
        width(static_cast<int>(size[1])),
        a(*this, size.count()) {}
};

template <Beyond kBeyond>
struct Neighbours : Plane {
  warpgauge::Output<float> b;

  explicit Neighbours(const warpgauge::Size& size) : Plane(size), b(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override {
    const Grid grid{a.host(), 1, height, width, kBeyond};
    std::vector<float> expected;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) expected.push_back(grid.mean_in_plane(0, y, x));
    }
    comparison.equal(b, expected);
  }
};

// A plane that is read through a texture over an array.
template <Beyond kBeyond, cudaTextureAddressMode kMode, bool kNormalised>
struct NeighboursInArray : Neighbours<kBeyond> {
  Array elements;
  Texture texture;

  using Neighbours<kBeyond>::Neighbours;
  void prepare() override {
    if (texture.exists()) return;
    const float* const data = this->a;
    elements.make_from(data, make_cudaExtent(this->width, this->height, 0));
    texture.over(textures::resource_of(elements),
                 {.beside = kMode, .normalised_coordinates = kNormalised});
  }
};

// Rows in linear memory begin at multiples of what the texture unit asks for.
struct NeighboursInPitched : Neighbours<clamped> {
  void* rows = nullptr;
  Texture texture;

  using Neighbours<clamped>::Neighbours;
  ~NeighboursInPitched() override { static_cast<void>(cudaFree(rows)); }
  void prepare() override {
    if (texture.exists()) return;
    const float* const data = a;
    const std::size_t bytes = width * sizeof(float);
    std::size_t pitch = 0;
    WARPGAUGE_CUDA(cudaMallocPitch(&rows, &pitch, bytes, height));
    WARPGAUGE_CUDA(cudaMemcpy2D(rows, pitch, data, bytes, bytes, height, cudaMemcpyDeviceToDevice));
    texture.over(textures::resource_of(static_cast<const float*>(rows), width, height, pitch));
  }
};

// Values at kSteps x kSteps places from each element to the next ones.
struct Enlarged : Plane {
  warpgauge::Output<float> b;
  Array elements;
  Texture texture;

  explicit Enlarged(const warpgauge::Size& size)
      : Plane(size), b(*this, size.count() * kSteps * kSteps) {}
  void prepare() override {
    if (texture.exists()) return;
    const float* const data = a;
    elements.make_from(data, make_cudaExtent(width, height, 0));
    texture.over(textures::resource_of(elements), {.filter = cudaFilterModeLinear});
  }
  // CPU reference: the four elements around a place, each the more the nearer. In each of two
  // directions the weights have 8 bits (CUDA C++ Programming Guide, "Linear Filtering"), and may be
  // off by 2^-8; a coordinate, below 1024, is rounded to 2^-14. Elements differ by less than 2.
  void check(warpgauge::Comparison& comparison) const override {
    const Grid grid{a.host(), 1, height, width, clamped};
    std::vector<double> expected;
    for (int y = 0; y < height * kSteps; ++y) {
      for (int x = 0; x < width * kSteps; ++x) {
        const int j = y / kSteps, i = x / kSteps;
        const double v = double(y % kSteps) / kSteps, u = double(x % kSteps) / kSteps;
        expected.push_back((1 - v) * ((1 - u) * grid.at(0, j, i) + u * grid.at(0, j, i + 1)) +
                           v * ((1 - u) * grid.at(0, j + 1, i) + u * grid.at(0, j + 1, i + 1)));
      }
    }
    comparison.close(b, expected, 2 * 2 * (0x1p-8 + 0x1p-14));
  }
};

// A grid of three dimensions.
template <cudaTextureFilterMode kFilter>
struct Volume : warpgauge::Problem {
  const int depth, height, width;
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;
  Array elements;
  Texture texture;

  explicit Volume(const warpgauge::Size& size)
      : depth(static_cast<int>(size[0])),
        height(static_cast<int>(size[1])),
        width(static_cast<int>(size[2])),
        a(*this, size.count()),
        b(*this, size.count()) {}
  void prepare() override {
    if (texture.exists()) return;
    const float* const data = a;
    elements.make_from(data, make_cudaExtent(width, height, depth));
    texture.over(textures::resource_of(elements),
                 {.beside = cudaAddressModeBorder, .filter = kFilter});
  }
  // Filtered: at the corner where eight elements meet, all weights are 1/8. Each of them may be off
  // by 2^-8 in each direction.
  void check(warpgauge::Comparison& comparison) const override {
    const bool filtered = kFilter == cudaFilterModeLinear;
    const Grid grid{a.host(), depth, height, width, bordered};
    std::vector<float> expected;
    for (int i = 0; i < depth * height * width; ++i) {
      const int z = i / width / height, y = i / width % height, x = i % width;
      float sum = 0;
      for (int corner = 0; filtered && corner < 8; ++corner) {
        sum += grid.at(z + corner / 4, y + corner / 2 % 2, x + corner % 2);
      }
      expected.push_back(filtered ? sum / 8 : grid.mean_in_space(z, y, x));
    }
    if (filtered) return comparison.close(b, expected, 3 * 2 * 0x1p-8);
    comparison.equal(b, expected);
  }
};

__device__ int within(int i, int n) { return min(max(i, 0), n - 1); }

// Loads: every neighbour's place is brought back into the grid by instructions.
__global__ void by_hand(float* b, const float* a, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float left = a[y * width + within(x - kReach, width)];
  const float right = a[y * width + within(x + kReach, width)];
  const float up = a[within(y - kReach, height) * width + x];
  const float down = a[within(y + kReach, height) * width + x];
  b[y * width + x] = (left + right + up + down) / 4;
}

// Element x reaches from x to x + 1; its middle is the safe choice.
__global__ void unnormalised(float* b, cudaTextureObject_t a, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float u = x + 0.5f, v = y + 0.5f;
  b[y * width + x] = (tex2D<float>(a, u - kReach, v) + tex2D<float>(a, u + kReach, v) +
                      tex2D<float>(a, u, v - kReach) + tex2D<float>(a, u, v + kReach)) /
                     4;
}

// Reads at coordinates that are shares of the width and height.
__global__ void normalised(float* b, cudaTextureObject_t a, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const auto at = [&](int i, int j) {
    return tex2D<float>(a, (i + 0.5f) / width, (j + 0.5f) / height);
  };
  b[y * width + x] =
      (at(x - kReach, y) + at(x + kReach, y) + at(x, y - kReach) + at(x, y + kReach)) / 4;
}

__global__ void enlarge(float* b, cudaTextureObject_t a, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float u = x / kSteps + 0.5f + static_cast<float>(x % kSteps) / kSteps;
  const float v = y / kSteps + 0.5f + static_cast<float>(y % kSteps) / kSteps;
  b[y * width + x] = tex2D<float>(a, u, v);
}

__global__ void mean_in_space(float* b, cudaTextureObject_t a, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float u = x + 0.5f, v = y + 0.5f, w = blockIdx.z + 0.5f;
  b[(blockIdx.z * height + y) * width + x] =
      (tex3D<float>(a, u - kReach, v, w) + tex3D<float>(a, u + kReach, v, w) +
       tex3D<float>(a, u, v - kReach, w) + tex3D<float>(a, u, v + kReach, w) +
       tex3D<float>(a, u, v, w - kReach) + tex3D<float>(a, u, v, w + kReach)) /
      6;
}

// One fetch at the corner has the mean of eight.
__global__ void mean_at_corner(float* b, cudaTextureObject_t a, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  b[(blockIdx.z * height + y) * width + x] = tex3D<float>(a, x + 1.0f, y + 1.0f, blockIdx.z + 1.0f);
}

const dim3 kBlock(32, 8);
dim3 blocks(int height, int width, int depth = 1) {
  return dim3((width + kBlock.x - 1) / kBlock.x, (height + kBlock.y - 1) / kBlock.y, depth);
}

template <Beyond kBeyond, cudaTextureAddressMode kMode, bool kNormalised>
void add_mode(const warpgauge::Family& family, const char* name,
              const std::vector<warpgauge::Size>& sizes,
              std::source_location where = std::source_location::current()) {
  family.problem<NeighboursInArray<kBeyond, kMode, kNormalised>>("f32", sizes)
      .sizes_between({kReach, kReach}, {1024, 1024})
      .variant(
          name,
          [](auto& p) {
            const auto kernel = kNormalised ? normalised : unnormalised;
            kernel<<<blocks(p.height, p.width), kBlock>>>(p.b, p.texture, p.height, p.width);
          },
          where);
}

WARPGAUGE_FAMILY(texture_grid) {
  const std::vector<warpgauge::Size> sizes = {{360, 640}, {70, 100}};
  family.problem<Neighbours<clamped>>("f32", sizes)
      .sizes_between({kReach, kReach}, {1024, 1024})
      .variant("by_hand", [](auto& p) {
        by_hand<<<blocks(p.height, p.width), kBlock>>>(p.b, p.a, p.height, p.width);
      });
  add_mode<clamped, cudaAddressModeClamp, false>(family, "clamp", sizes);
  add_mode<bordered, cudaAddressModeBorder, false>(family, "border", sizes);
  add_mode<wrapped, cudaAddressModeWrap, true>(family, "wrap", sizes);
  add_mode<mirrored, cudaAddressModeMirror, true>(family, "mirror", sizes);
  family.problem<NeighboursInPitched>("f32", sizes)
      .sizes_between({kReach, kReach}, {1024, 1024})
      .variant("pitched", [](auto& p) {
        unnormalised<<<blocks(p.height, p.width), kBlock>>>(p.b, p.texture, p.height, p.width);
      });
  family.problem<Enlarged>("f32", {{120, 200}, {70, 33}})
      .sizes_between({1, 1}, {256, 256})
      .variant("filtered", [](auto& p) {
        const int height = p.height * kSteps, width = p.width * kSteps;
        enlarge<<<blocks(height, width), kBlock>>>(p.b, p.texture, height, width);
      });

  const std::vector<warpgauge::Size> volumes = {{32, 48, 64}, {5, 30, 70}};
  family.problem<Volume<cudaFilterModePoint>>("f32", volumes)
      .sizes_between({1, 1, 1}, {64, 256, 256})
      .variant("volume", [](auto& p) {
        mean_in_space<<<blocks(p.height, p.width, p.depth), kBlock>>>(p.b, p.texture, p.height,
                                                                      p.width);
      });
  family.problem<Volume<cudaFilterModeLinear>>("f32", volumes)
      .sizes_between({1, 1, 1}, {64, 256, 256})
      .variant("volume_filtered", [](auto& p) {
        mean_at_corner<<<blocks(p.height, p.width, p.depth), kBlock>>>(p.b, p.texture, p.height,
                                                                       p.width);
      });
}

}  // namespace texture_grid
