// Dot product of two vectors: every block sums up the products of its threads, then one block
// sums up the blocks.
//
// The threads of a block combine their sums in several ways. `global` passes them through device
// memory to a thread that reads them one by one (global.load.requests); `serial` does so in
// shared memory, still with one lane at work (shared.wavefronts: 264 a block). A `tree` takes
// 32, `warp_shuffle` 9. For long vectors none of this matters, for a block combines only once;
// there the bytes on their way count, and `vectorised` has most of them. `texture` fetches both
// vectors through the texture unit, from linear memory, `texture_arrays` from arrays and
// `texture_mixed` one from each: right, but nothing is gained. `constant` keeps y in constant
// memory, made for one address a warp: here each lane wants another, and they wait in turn, 32
// passes for one of `constant_uniform`, whose lanes share a y (time.relative_to).
#include "kernels/dot_product/problem.h"
#include "kernels/texture_1d/texture.h"

namespace dot_product {

constexpr int kWarp = 32;
constexpr int kAtOnce = 2;               // packs of each vector that a thread has under way
constexpr int kConstantElements = 4096;  // in float and double 48 of the 64 KiB
constexpr int kArrayElements = 131072;   // the most that an array of one dimension can have

template <typename T>
__constant__ T constant_y[kConstantElements];

// A dot product whose y repeats kConstantElements values, each kPerValue times. Constant memory
// holds these values, too.
template <typename T, int kPerValue>
struct DotWithConstant : Dot<T> {
  explicit DotWithConstant(const warpgauge::Size& size) : Dot<T>(size, repeated(size.count())) {}
  static std::vector<T> values() { return warpgauge::random_values<T>(kConstantElements, 2); }
  static std::vector<T> repeated(std::size_t n) {
    const std::vector<T> once = values();
    std::vector<T> y(n);
    for (std::size_t i = 0; i < n; ++i) y[i] = once[i / kPerValue % kConstantElements];
    return y;
  }
  void prepare() override {
    WARPGAUGE_CUDA(cudaMemcpyToSymbol(constant_y<T>, values().data(), sizeof(constant_y<T>)));
  }
};

// A dot product with both vectors as textures, too: over linear memory, and over arrays of the
// largest number of elements.
template <typename T>
struct DotOfTextures : Dot<T> {
  textures::Array x_elements, y_elements;
  textures::Texture x_memory, y_memory, x_array, y_array;

  using Dot<T>::Dot;
  void prepare() override {
    if (x_memory.exists()) return;
    over(this->x, x_memory, x_elements, x_array);
    over(this->y, y_memory, y_elements, y_array);
  }
  void over(const T* data, textures::Texture& memory, textures::Array& elements,
            textures::Texture& array) const {
    memory.over(textures::resource_of(data, this->n));
    if (this->n > kArrayElements) return;
    elements.make_from(data, make_cudaExtent(this->n, 0, 0));
    array.over(textures::resource_of(elements));
  }
};

// The sum of one thread, which goes round with the whole grid. For up to 2^20 elements there
// are so many threads that each has one product.
template <typename T>
__device__ T own_sum(const T* x, const T* y, int n) {
  T sum = 0;
  const int threads = gridDim.x * kThreads;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += threads) sum += x[i] * y[i];
  return sum;
}

// Threads meet in device memory, where the first one reads what the others wrote.
template <typename T>
__global__ void global(T* of_blocks, T* of_threads, const T* x, const T* y, int n) {
  T* mine = of_threads + blockIdx.x * kThreads;
  mine[threadIdx.x] = own_sum(x, y, n);
  __syncthreads();
  if (threadIdx.x != 0) return;
  T sum = 0;
  for (int t = 0; t < kThreads; ++t) sum += mine[t];
  of_blocks[blockIdx.x] = sum;
}

// They meet in shared memory, where a read takes a tenth of the time, but there are as many.
template <typename T>
__global__ void serial(T* of_blocks, const T* x, const T* y, int n) {
  __shared__ T s[kThreads];
  s[threadIdx.x] = own_sum(x, y, n);
  __syncthreads();
  if (threadIdx.x != 0) return;
  T sum = 0;
  // Not unrolled: the compiler would join neighbouring words into wider reads, and how far differs
  // by architecture.
#pragma unroll 1
  for (int t = 0; t < kThreads; ++t) sum += s[t];
  of_blocks[blockIdx.x] = sum;
}

// Half of the threads add what the other half has, then half of these, and so on. Threads that are
// left keep their sum in a register: one read and one write a step.
template <typename T>
__global__ void tree(T* of_blocks, const T* x, const T* y, int n) {
  __shared__ T s[kThreads];
  const int t = threadIdx.x;
  T sum = own_sum(x, y, n);
  s[t] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) {
      sum += s[t + half];
      s[t] = sum;
    }
  }
  if (t == 0) of_blocks[blockIdx.x] = sum;
}

// Sum over the lanes of a warp, valid in lane 0.
template <typename T>
__device__ T warp_sum(T value) {
  for (int half = kWarp / 2; half > 0; half /= 2) value += __shfl_down_sync(~0u, value, half);
  return value;
}

// Sum over the block, valid in thread 0: lanes read each other's registers, and shared memory
// carries one sum a warp to the first warp.
template <typename T>
__device__ T block_sum(T value) {
  constexpr int kWarps = kThreads / kWarp;
  __shared__ T s[kWarps];
  const int t = threadIdx.x;
  const T of_warp = warp_sum(value);
  if (t % kWarp == 0) s[t / kWarp] = of_warp;
  __syncthreads();
  return t < kWarp ? warp_sum(t < kWarps ? s[t] : T{0}) : T{0};
}

template <typename T>
__global__ void warp_shuffle(T* of_blocks, const T* x, const T* y, int n) {
  const T sum = block_sum(own_sum(x, y, n));
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = sum;
}

// The elements of one load, as wide as loads can be.
template <typename T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(T);
  T element[kCount];
};

// Elements that a block takes at a time, in packs.
template <typename T>
constexpr int kRound = kThreads * kAtOnce * Pack<T>::kCount;

template <typename T>
__device__ T product(Pack<T> a, Pack<T> b) {
  T sum = 0;
  for (int e = 0; e < Pack<T>::kCount; ++e) sum += a.element[e] * b.element[e];
  return sum;
}

// A thread asks for 64 bytes, in four loads that do not wait for each other, before it adds: 128
// KiB for 2048 threads, where an H100 needs about 18 KiB on their way in each multiprocessor to
// cover the latency of its memory; even the few blocks that are left at the end keep it busy. Full
// rounds go to the blocks in turn, without a bounds check: a predicate makes the compiler put
// arithmetic between the loads. The block whose turn is next takes the rest. Neither loop is
// unrolled, so that the loads of a round stay together, and the lanes of a warp in the last one.
template <typename T>
__global__ void vectorised(T* of_blocks, const T* x, const T* y, int n) {
  const auto* x_packs = reinterpret_cast<const Pack<T>*>(x);
  const auto* y_packs = reinterpret_cast<const Pack<T>*>(y);
  const int t = threadIdx.x, blocks = gridDim.x, rounds = n / kRound<T>;
  T sum = 0;
  int round = blockIdx.x;
#pragma unroll 1
  for (; round < rounds; round += blocks) {
    Pack<T> a[kAtOnce], b[kAtOnce];
    for (int k = 0; k < kAtOnce; ++k) {
      a[k] = x_packs[(round * kAtOnce + k) * kThreads + t];
      b[k] = y_packs[(round * kAtOnce + k) * kThreads + t];
    }
    for (int k = 0; k < kAtOnce; ++k) sum += product(a[k], b[k]);
  }
  if (round == rounds) {
#pragma unroll 1
    for (int i = rounds * kRound<T> + t; i < n; i += kThreads) sum += x[i] * y[i];
  }
  sum = block_sum(sum);
  if (t == 0) of_blocks[blockIdx.x] = sum;
}

// Where kPerValue is 1, every lane reads another word of constant memory: 32 passes through the
// constant cache. Where it is a warp, all lanes read one.
template <typename T, int kPerValue>
__global__ void constant(T* of_blocks, const T* x, int n) {
  T own = 0;
  const int threads = gridDim.x * kThreads;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += threads) {
    own += x[i] * constant_y<T>[i / kPerValue % kConstantElements];
  }
  const T sum = block_sum(own);
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = sum;
}

// An element of a texture over linear memory, or over an array.
template <typename T, bool kArray>
__device__ T fetched(cudaTextureObject_t texture, int i) {
  using Texel = textures::Texel<T>;
  return textures::value_of(kArray ? tex1D<Texel>(texture, i + 0.5f)
                                   : tex1Dfetch<Texel>(texture, i));
}

template <typename T, bool kXInArray, bool kYInArray>
__global__ void texture(T* of_blocks, cudaTextureObject_t x, cudaTextureObject_t y, int n) {
  T own = 0;
  const int threads = gridDim.x * kThreads;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += threads) {
    own += fetched<T, kXInArray>(x, i) * fetched<T, kYInArray>(y, i);
  }
  const T sum = block_sum(own);
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = sum;
}

// The second step of all variants, by one block. Its loop is the same for all threads: were i the
// variable, an unrolled loop would send the lanes of a warp that run out one round earlier than
// others another way, and a request would become two.
template <typename T>
__global__ void add_blocks(T* result, const T* of_blocks, int blocks) {
  T own = 0;
  for (int first = 0; first < blocks; first += kThreads) {
    const int i = first + threadIdx.x;
    own += i < blocks ? of_blocks[i] : T{0};
  }
  const T sum = block_sum(own);
  if (threadIdx.x == 0) *result = sum;
}

// Runs the first step on so many blocks, then the second.
template <typename T, typename... Parameters, typename... Arguments>
void launch(Dot<T>& p, int blocks, void (*kernel)(Parameters...), const Arguments&... arguments) {
  kernel<<<blocks, kThreads>>>(p.of_blocks, arguments..., p.n);
  add_blocks<T><<<1, kThreads>>>(p.result, p.of_blocks, blocks);
}

template <typename T>
void add_variants(const warpgauge::Family& family, const char* type) {
  using Vector = const T*;
  const auto blocks = [](const Dot<T>& p) { return p.blocks(kThreads); };
  const auto plain = [=](void (*kernel)(T*, Vector, Vector, int)) {
    return [=](Dot<T>& p) { launch(p, blocks(p), kernel, Vector(p.x), Vector(p.y)); };
  };
  const auto dot = family.problem<Dot<T>>(type, sizes<T>()).sizes_between({1}, {1 << 28});
  dot.variant("global", [=](Dot<T>& p) {
    launch(p, blocks(p), global<T>, static_cast<T*>(p.of_threads), Vector(p.x), Vector(p.y));
  });
  dot.variant("serial", plain(serial<T>));
  dot.variant("tree", plain(tree<T>));
  dot.variant("warp_shuffle", plain(warp_shuffle<T>));
  dot.variant("vectorised", [](Dot<T>& p) {
    launch(p, p.blocks(kRound<T>), vectorised<T>, Vector(p.x), Vector(p.y));
  });

  // Arrays end at kArrayElements; linear memory goes on.
  const std::vector<warpgauge::Size> of_arrays = {{kArrayElements}, {100003}, {1000}, {100}};
  std::vector<warpgauge::Size> of_memory = of_arrays;
  of_memory.push_back({1048576});
  using Textures = DotOfTextures<T>;
  family.problem<Textures>(type, of_memory)
      .sizes_between({1}, {1048576})
      .variant("texture", [=](Textures& p) {
        launch(p, blocks(p), texture<T, false, false>, p.x_memory, p.y_memory);
      });
  const auto arrays =
      family.problem<Textures>(type, of_arrays).sizes_between({1}, {kArrayElements});
  arrays.variant("texture_mixed", [=](Textures& p) {
    launch(p, blocks(p), texture<T, true, false>, p.x_array, p.y_memory);
  });
  arrays.variant("texture_arrays", [=](Textures& p) {
    launch(p, blocks(p), texture<T, true, true>, p.x_array, p.y_array);
  });

  const std::vector<warpgauge::Size> with_constant = {
      {kConstantElements}, {1000}, warpgauge::large({1 << 24})};
  using Uniform = DotWithConstant<T, kWarp>;
  family.problem<Uniform>(type, with_constant)
      .sizes_between({1}, {1 << 24})
      .variant("constant_uniform",
               [=](Uniform& p) { launch(p, blocks(p), constant<T, kWarp>, Vector(p.x)); });
  using Divergent = DotWithConstant<T, 1>;
  family.problem<Divergent>(type, with_constant)
      .sizes_between({1}, {1 << 24})
      .relative_to("constant_uniform")
      .variant("constant",
               [=](Divergent& p) { launch(p, blocks(p), constant<T, 1>, Vector(p.x)); });
}

WARPGAUGE_FAMILY(dot_product) {
  add_variants<float>(family, "f32");
  add_variants<double>(family, "f64");
}

}  // namespace dot_product
