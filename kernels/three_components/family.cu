// Vectors of three components, each turned about the diagonal: (x, y, z) becomes (z, x, y).
//
// Words side by side for a thread are not side by side for a warp. A vector of three words cannot
// be loaded at once: the compiler loads it as three words, 12 bytes apart from lane to lane, and
// each of these requests touches all 12 sectors of the warp's vectors
// (global.load.sectors_per_request) to use a third of them (`packed`). Three cures:
//   padded    a fourth component makes a word of 16 bytes and one request; a quarter of its bytes
//             is unused
//   separate  an array for each component: three requests of 4 sectors, and no unused bytes
//   staged    vectors as they are, moved word by word through shared memory; a stride of three
//             words meets no bank twice
#include <type_traits>

#include "warpgauge/warpgauge.h"

namespace three_components {

constexpr int kThreads = 256;
constexpr int kComponents = 3;

template <typename T>
using Three = std::conditional_t<std::is_same_v<T, float>, float3, int3>;
template <typename T>
using Four = std::conditional_t<std::is_same_v<T, float>, float4, int4>;

// The size is the number of vectors.
struct Turning : warpgauge::Problem {
  const int n, blocks;
  explicit Turning(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), blocks((n + kThreads - 1) / kThreads) {}
  /// Three words in, three words out: the fourth of a padded vector need not be moved.
  double bytes() const override { return 2.0 * kComponents * sizeof(int) * n; }
};

// CPU reference, for vectors that begin every `pitch` words. A fourth component stays.
template <typename T>
std::vector<T> turned(const std::vector<T>& a, int pitch) {
  std::vector<T> b = a;
  for (std::size_t i = 0; i < a.size(); i += pitch) {
    b[i] = a[i + 2];
    b[i + 1] = a[i];
    b[i + 2] = a[i + 1];
  }
  return b;
}

template <typename T, int kPitch>
struct Vectors : Turning {
  warpgauge::Input<T> a;
  warpgauge::Output<T> b;
  explicit Vectors(const warpgauge::Size& size)
      : Turning(size), a(*this, kPitch * n), b(*this, kPitch * n) {}
  template <typename Vector>
  const Vector* from() const {
    return reinterpret_cast<const Vector*>(static_cast<const T*>(a));
  }
  template <typename Vector>
  Vector* to() {
    return reinterpret_cast<Vector*>(static_cast<T*>(b));
  }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(b, turned(a.host(), kPitch));
  }
};

template <typename T>
struct Arrays : Turning {
  warpgauge::Input<T> x, y, z;
  warpgauge::Output<T> turned_x, turned_y, turned_z;
  explicit Arrays(const warpgauge::Size& size)
      : Turning(size),
        x(*this, n, 1),
        y(*this, n, 2),
        z(*this, n, 3),
        turned_x(*this, n),
        turned_y(*this, n),
        turned_z(*this, n) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(turned_x, z.host());
    comparison.equal(turned_y, x.host());
    comparison.equal(turned_z, y.host());
  }
};

// float3 and int3: 12 bytes, aligned to 4.
template <typename T>
__global__ void packed(Three<T>* b, const Three<T>* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  const Three<T> v = a[i];
  b[i] = {v.z, v.x, v.y};
}

// float4 and int4: 16 bytes, aligned to 16, so that one instruction moves them.
template <typename T>
__global__ void padded(Four<T>* b, const Four<T>* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  const Four<T> v = a[i];
  b[i] = {v.z, v.x, v.y, v.w};
}

template <typename T>
__global__ void separate(T* turned_x, T* turned_y, T* turned_z, const T* x, const T* y, const T* z,
                         int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  turned_x[i] = z[i];
  turned_y[i] = x[i];
  turned_z[i] = y[i];
}

// The words of the block come and go as neighbours; in between, each thread turns its own three.
template <typename T>
__global__ void staged(T* b, const T* a, int n) {
  constexpr int kWords = kComponents * kThreads;  // of a block
  __shared__ T s[kWords];
  const int first = blockIdx.x * kWords, left = kComponents * n - first;
  const int words = left < kWords ? left : kWords;
  for (int k = threadIdx.x; k < words; k += kThreads) s[k] = a[first + k];
  __syncthreads();
  T* const own = s + kComponents * threadIdx.x;
  if (kComponents * static_cast<int>(threadIdx.x) < words) {
    const T x = own[0], y = own[1], z = own[2];
    own[0] = z;
    own[1] = x;
    own[2] = y;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < words; k += kThreads) b[first + k] = s[k];
}

template <typename T>
void launch_packed(Vectors<T, kComponents>& p) {
  packed<T><<<p.blocks, kThreads>>>(p.template to<Three<T>>(), p.template from<Three<T>>(), p.n);
}

template <typename T>
void launch_padded(Vectors<T, kComponents + 1>& p) {
  padded<T><<<p.blocks, kThreads>>>(p.template to<Four<T>>(), p.template from<Four<T>>(), p.n);
}

template <typename T>
void launch_separate(Arrays<T>& p) {
  separate<T><<<p.blocks, kThreads>>>(p.turned_x, p.turned_y, p.turned_z, p.x, p.y, p.z, p.n);
}

template <typename T>
void launch_staged(Vectors<T, kComponents>& p) {
  staged<T><<<p.blocks, kThreads>>>(p.b, p.a, p.n);
}

template <typename T>
void add_variants(const warpgauge::Family& family, const char* type) {
  // Whole blocks; a last block of 232 vectors.
  const std::vector<warpgauge::Size> sizes = {{65536}, {1000}, warpgauge::large({16777216})};
  const auto vectors =
      family.problem<Vectors<T, kComponents>>(type, sizes).sizes_between({1}, {16777216});
  vectors.variant("packed", launch_packed<T>);
  vectors.relative_to("packed").variant("staged", launch_staged<T>);
  family.problem<Vectors<T, kComponents + 1>>(type, sizes)
      .sizes_between({1}, {16777216})
      .relative_to("packed")
      .variant("padded", launch_padded<T>);
  family.problem<Arrays<T>>(type, sizes)
      .sizes_between({1}, {16777216})
      .relative_to("packed")
      .variant("separate", launch_separate<T>);
}

WARPGAUGE_FAMILY(three_components) {
  add_variants<float>(family, "f32");
  add_variants<int>(family, "i32");
}

}  // namespace three_components
