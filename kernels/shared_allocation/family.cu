// Ways to get shared memory: chunks of an array are reversed, one chunk a block.
//
// The size of a block's shared memory can be fixed at several times.
// `static_array` fixes it in the source (shared.static_bytes); `dynamic_array` gets it at the
// launch and takes what a chunk needs; `opt_in` goes beyond 48 KiB, which a kernel must be allowed
// to with cudaFuncSetAttribute, and pays with residency (occupancy.theoretical). A kernel has one
// dynamic block of memory: `carved` makes two arrays of it, `static_and_dynamic` adds one of fixed
// size, and `static_and_carved` does both. In `heap_pointer` only a pointer is shared; what it
// points to is device memory.
#include "warpgauge/warpgauge.h"

namespace shared_allocation {

constexpr int kThreads = 256;
constexpr int kChunk = 256;  // most elements of a chunk, except for opt_in

// CPU reference: each chunk of `length` elements in reverse order.
std::vector<float> reversed(const std::vector<float>& a, int length) {
  std::vector<float> b(a.size());
  for (int i = 0; i < static_cast<int>(a.size()); ++i) {
    const int t = i % length;
    b[i] = a[i - t + (length - 1 - t)];
  }
  return b;
}

// The size is chunks x elements of each.
struct Reverse : warpgauge::Problem {
  const int chunks, length;
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;

  explicit Reverse(const warpgauge::Size& size)
      : chunks(static_cast<int>(size[0])),
        length(static_cast<int>(size[1])),
        a(*this, size.count()),
        b(*this, size.count()) {}
  int bytes_of_chunk() const { return length * static_cast<int>(sizeof(float)); }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(b, reversed(a.host(), length));
  }
};

// Two arrays of different types: the chunk of their sums, reversed.
struct ReverseSum : warpgauge::Problem {
  const int chunks, length;
  warpgauge::Input<double> x;
  warpgauge::Input<float> y;
  warpgauge::Output<double> b;

  explicit ReverseSum(const warpgauge::Size& size)
      : chunks(static_cast<int>(size[0])),
        length(static_cast<int>(size[1])),
        x(*this, size.count(), 1),
        y(*this, size.count(), 2),
        b(*this, size.count()) {}
  // One addition of doubles: the CPU rounds it as the GPU does.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<double> expected(x.count());
    for (int i = 0; i < static_cast<int>(expected.size()); ++i) {
      const int from = i - i % length + (length - 1 - i % length);
      expected[i] = x.host()[from] + y.host()[from];
    }
    comparison.equal(b, expected);
  }
};

// Three arrays: each element is weighted with its place in the chunk.
struct ReverseWeighted : ReverseSum {
  using ReverseSum::ReverseSum;
  // A float times a place is exact in double, so that only the addition is rounded.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<double> expected(x.count());
    for (int i = 0; i < static_cast<int>(expected.size()); ++i) {
      const int place = length - 1 - i % length, from = i - i % length + place;
      expected[i] = x.host()[from] + static_cast<double>(y.host()[from]) * place;
    }
    comparison.equal(b, expected);
  }
};

// The work of all kernels of Reverse, in their memory `s`.
__device__ void reverse_through(float* s, float* b, const float* a, int length) {
  const int first = blockIdx.x * length;
  for (int i = threadIdx.x; i < length; i += blockDim.x) s[i] = a[first + i];
  __syncthreads();
  for (int i = threadIdx.x; i < length; i += blockDim.x) b[first + i] = s[length - 1 - i];
}

// The work of both kernels of ReverseSum; a chunk has no more elements than a block threads.
__device__ void reverse_sum_through(double* s, float* u, double* b, const double* x, const float* y,
                                    int length) {
  const int first = blockIdx.x * length, t = threadIdx.x;
  if (t < length) {
    s[t] = x[first + t];
    u[t] = y[first + t];
  }
  __syncthreads();
  if (t < length) b[first + t] = s[length - 1 - t] + u[length - 1 - t];
}

// The compiler fixes size and place, and every block takes all of it, even for a short chunk.
__global__ void static_array(float* b, const float* a, int length) {
  __shared__ float s[kChunk];
  reverse_through(s, b, a, length);
}

// The launch says how many bytes there are. Unless it was allowed more, a kernel gets up to 48 KiB
// this way: larger blocks of memory are a property of the architecture, so one has to ask.
__global__ void dynamic_array(float* b, const float* a, int length) {
  extern __shared__ float chunk[];
  reverse_through(chunk, b, a, length);
}

// A kernel's dynamic arrays all begin at the same address, so a second one must be cut from the
// first. The wider type comes first: floats behind doubles are aligned for any length.
__global__ void carved(double* b, const double* x, const float* y, int length) {
  extern __shared__ double doubles[];
  float* floats = reinterpret_cast<float*>(doubles + length);
  reverse_sum_through(doubles, floats, b, x, y, length);
}

// Static and dynamic memory go together; a launch fails if their sum is over the limit.
__global__ void static_and_dynamic(double* b, const double* x, const float* y, int length) {
  __shared__ double doubles[kChunk];
  extern __shared__ float floats_of_launch[];
  reverse_sum_through(doubles, floats_of_launch, b, x, y, length);
}

// All at once: the compiler places the static array, the launch brings the bytes behind it, and the
// kernel divides those.
__global__ void static_and_carved(double* b, const double* x, const float* y, int length) {
  __shared__ int places[kChunk];
  extern __shared__ double doubles[];
  float* floats = reinterpret_cast<float*>(doubles + length);
  const int first = blockIdx.x * length, t = threadIdx.x;
  if (t < length) {
    places[t] = t;
    doubles[t] = x[first + t];
    floats[t] = y[first + t];
  }
  __syncthreads();
  if (t >= length) return;
  const int from = length - 1 - t;
  b[first + t] = doubles[from] + static_cast<double>(floats[from]) * places[from];
}

// Thread 0 allocates for the block, clears, and publishes the pointer; the barrier keeps the others
// from reading it before. malloc takes memory of the device, not shared memory: each access is one
// to global memory, and thread 0 clears alone while 255 wait.
__global__ void heap_pointer(float* b, const float* a, int length) {
  __shared__ float* s;
  if (threadIdx.x == 0) {
    const std::size_t bytes = length * sizeof(float);
    s = static_cast<float*>(malloc(bytes));
    if (s != nullptr) memset(s, 0, bytes);
  }
  __syncthreads();
  if (s == nullptr) return;  // the heap is full: b stays unwritten, which the check sees
  reverse_through(s, b, a, length);
  __syncthreads();  // others may still read what thread 0 frees
  if (threadIdx.x == 0) free(s);
}

// More than 48 KiB: the launch is refused without this attribute.
void launch_opt_in(Reverse& p) {
  constexpr int kOptInThreads = 1024;
  WARPGAUGE_CUDA(cudaFuncSetAttribute(dynamic_array, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      p.bytes_of_chunk()));
  dynamic_array<<<p.chunks, kOptInThreads, p.bytes_of_chunk()>>>(p.b, p.a, p.length);
}

WARPGAUGE_FAMILY(shared_allocation) {
  // A chunk for all threads; a chunk that leaves threads idle.
  const std::vector<warpgauge::Size> sizes = {{1000, 256}, {7, 200}};
  const auto f32 = family.problem<Reverse>("f32", sizes).sizes_between({1, 1}, {1000, kChunk});
  f32.variant("static_array",
              [](Reverse& p) { static_array<<<p.chunks, kThreads>>>(p.b, p.a, p.length); });
  f32.variant("dynamic_array", [](Reverse& p) {
    dynamic_array<<<p.chunks, kThreads, p.bytes_of_chunk()>>>(p.b, p.a, p.length);
  });
  f32.variant("heap_pointer",
              [](Reverse& p) { heap_pointer<<<p.chunks, kThreads>>>(p.b, p.a, p.length); });
  const auto f64 = family.problem<ReverseSum>("f64", sizes).sizes_between({1, 1}, {1000, kChunk});
  f64.variant("carved", [](ReverseSum& p) {
    const std::size_t bytes = p.length * (sizeof(double) + sizeof(float));
    carved<<<p.chunks, kThreads, bytes>>>(p.b, p.x, p.y, p.length);
  });
  f64.variant("static_and_dynamic", [](ReverseSum& p) {
    const std::size_t bytes = p.length * sizeof(float);
    static_and_dynamic<<<p.chunks, kThreads, bytes>>>(p.b, p.x, p.y, p.length);
  });
  family.problem<ReverseWeighted>("f64", sizes)
      .sizes_between({1, 1}, {1000, kChunk})
      .variant("static_and_carved", [](auto& p) {
        const std::size_t bytes = p.length * (sizeof(double) + sizeof(float));
        static_and_carved<<<p.chunks, kThreads, bytes>>>(p.b, p.x, p.y, p.length);
      });
  // 64 KiB, which every architecture from sm_75 on can give to a block.
  family.problem<Reverse>("f32", {{8, 16384}})
      .sizes_between({1, 1}, {1000, 16384})
      .variant("opt_in", launch_opt_in);
}

}  // namespace shared_allocation
