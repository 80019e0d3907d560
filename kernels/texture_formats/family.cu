// Formats of textures: elements of one, two or four channels (x, y, z, w) of 8, 16 or 32 bits,
// signed, unsigned or floating point. There are no elements of three channels.
//
// A texture decodes the elements that it reads. `element_x`, `element_xy` and `element_xyzw` return
// the stored values. With cudaReadModeNormalizedFloat, integers of 8 and 16 bits come as floats
// from 0 to 1, or from -1 to 1 if they are signed (`normalised_x` and so on), without an
// instruction for it and with one fetch for all channels. Loads that take the channels one by one
// (`channel_loads`) ask for the same sectors four times over (global.excess_sectors); a load of the
// whole element (`element_loads`) cures that, and leaves the divisions to the kernel.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/texture_1d/texture.h"
#include "warpgauge/warpgauge.h"

namespace texture_formats {

using textures::Array;
using textures::Texture;

constexpr int kThreads = 256;

template <typename T>
constexpr int kMost = std::numeric_limits<T>::max();

// CPU reference: the most that a channel can hold is 1; the least one of a signed channel, which
// has no counterpart, is -1 like the one after it.
template <typename T>
std::vector<double> as_shares(const std::vector<T>& values) {
  std::vector<double> shares;
  for (const T value : values) {
    shares.push_back(std::max(-1.0, static_cast<double>(value) / kMost<T>));
  }
  return shares;
}

// All that a channel can hold, in an order without a pattern (7919 is prime).
template <typename T>
std::vector<T> any_values(std::size_t count) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<T>(i * 7919));
  return values;
}

// The size is the number of elements, each of some channels T. They come as they are stored, or as
// shares of the most.
template <typename T, typename Element, typename Result>
struct Decoding : warpgauge::Problem {
  static constexpr bool kShares = !std::is_same_v<Element, Result>;
  static constexpr int kChannels = sizeof(Element) / sizeof(T);
  using Channel = std::conditional_t<kShares, float, T>;
  const int n;
  warpgauge::Input<T> a;
  warpgauge::Output<Channel> b;
  Array elements;
  Texture texture;

  explicit Decoding(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        a(*this, any_values<T>(size.count() * kChannels)),
        b(*this, size.count() * kChannels) {}
  const Element* read() const { return reinterpret_cast<const Element*>(static_cast<const T*>(a)); }
  Result* written() { return reinterpret_cast<Result*>(static_cast<Channel*>(b)); }
  void prepare() override {
    if (texture.exists()) return;
    elements.make_from(read(), make_cudaExtent(n, 0, 0));
    texture.over(textures::resource_of(elements),
                 {.values = kShares ? cudaReadModeNormalizedFloat : cudaReadModeElementType});
  }
  // A quotient that is rounded once is off by 2^-24 of itself, a product with a rounded reciprocal
  // by at most 2^-23.
  void check(warpgauge::Comparison& comparison) const override {
    if constexpr (kShares) {
      comparison.close(b, as_shares(a.host()), 0x1p-23);
    } else {
      comparison.equal(b, a.host());
    }
  }
};

template <typename Result>
__global__ void fetches(Result* b, cudaTextureObject_t a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = tex1D<Result>(a, i + 0.5f);
}

template <typename T>
__device__ float share(T value) {
  const float quotient = static_cast<float>(value) / kMost<T>;
  return std::is_signed_v<T> ? fmaxf(quotient, -1) : quotient;
}

// Lanes read every fourth channel, four times.
template <typename T>
__global__ void channel_loads(float4* b, const T* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  b[i] =
      make_float4(share(a[4 * i]), share(a[4 * i + 1]), share(a[4 * i + 2]), share(a[4 * i + 3]));
}

template <typename T, typename Element>
__global__ void element_loads(float4* b, const Element* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Element element = a[i];
  b[i] = make_float4(share<T>(element.x), share<T>(element.y), share<T>(element.z),
                     share<T>(element.w));
}

int blocks(int n) { return (n + kThreads - 1) / kThreads; }

// The most elements that an array of one dimension holds; a last block of 232.
const std::vector<warpgauge::Size> kSizes = {{131072}, {1000}};

template <typename T, typename Element, typename Result = Element>
void add_fetches(const warpgauge::Family& family, const char* type, const char* name,
                 std::source_location where = std::source_location::current()) {
  family.problem<Decoding<T, Element, Result>>(type, kSizes)
      .sizes_between({1}, {131072})
      .variant(
          name, [](auto& p) { fetches<<<blocks(p.n), kThreads>>>(p.written(), p.texture, p.n); },
          where);
}

template <typename T, typename One, typename Two, typename Four>
void add_elements(const warpgauge::Family& family, const char* type) {
  add_fetches<T, One>(family, type, "element_x");
  add_fetches<T, Two>(family, type, "element_xy");
  add_fetches<T, Four>(family, type, "element_xyzw");
}

template <typename T, typename One, typename Two, typename Four>
void add_shares(const warpgauge::Family& family, const char* type) {
  add_fetches<T, One, float1>(family, type, "normalised_x");
  add_fetches<T, Two, float2>(family, type, "normalised_xy");
  add_fetches<T, Four, float4>(family, type, "normalised_xyzw");
  const auto loads =
      family.problem<Decoding<T, Four, float4>>(type, kSizes).sizes_between({1}, {131072});
  loads.variant("channel_loads", [](auto& p) {
    const T* const channels = p.a;
    channel_loads<T><<<blocks(p.n), kThreads>>>(p.written(), channels, p.n);
  });
  loads.variant("element_loads", [](auto& p) {
    element_loads<T><<<blocks(p.n), kThreads>>>(p.written(), p.read(), p.n);
  });
}

WARPGAUGE_FAMILY(texture_formats) {
  add_elements<signed char, char1, char2, char4>(family, "i8");
  add_elements<unsigned char, uchar1, uchar2, uchar4>(family, "u8");
  add_elements<short, short1, short2, short4>(family, "i16");
  add_elements<unsigned short, ushort1, ushort2, ushort4>(family, "u16");
  add_elements<int, int1, int2, int4>(family, "i32");
  add_elements<unsigned, uint1, uint2, uint4>(family, "u32");
  add_elements<float, float1, float2, float4>(family, "f32");
  add_shares<signed char, char1, char2, char4>(family, "i8");
  add_shares<unsigned char, uchar1, uchar2, uchar4>(family, "u8");
  add_shares<short, short1, short2, short4>(family, "i16");
  add_shares<unsigned short, ushort1, ushort2, ushort4>(family, "u16");
}

}  // namespace texture_formats
