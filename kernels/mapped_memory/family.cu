// Kernels that work in the memory of the host, which is mapped for the GPU: no copies ("zero
// copy").
//
// Each sector that a kernel requests of mapped memory crosses the bus, again at each request
// (caches hold little of it). So mapped memory suits data that is read once, by whole sectors.
// Here each sum of three neighbours reads every element three times:
//   copied         copy to the device, kernel, copy back: each byte crosses the bus once
//   mapped         the same kernel on mapped memory: 3 requests and 14 sectors a warp cross it
//   mapped_staged  a block first brings its elements to shared memory: each crosses once, besides 2
//                  a block for its edge, and nothing is copied
#include <cstring>

#include "warpgauge/warpgauge.h"

namespace mapped_memory {

constexpr int kThreads = 256, kEdge = 2;

// Floats in pinned memory of the host that the GPU reaches. There are none before fill().
class MappedFloats {
 public:
  MappedFloats() = default;
  MappedFloats(const MappedFloats&) = delete;
  MappedFloats& operator=(const MappedFloats&) = delete;
  ~MappedFloats() {
    // An error here is an earlier one of the context, which has been reported where it arose.
    if (memory_ != nullptr) static_cast<void>(cudaFreeHost(memory_));
  }

  void fill(const std::vector<float>& values) {
    const std::size_t bytes = values.size() * sizeof(float);
    if (memory_ == nullptr) WARPGAUGE_CUDA(cudaHostAlloc(&memory_, bytes, cudaHostAllocMapped));
    std::memcpy(memory_, values.data(), bytes);
  }
  float* on_cpu() const { return static_cast<float*>(memory_); }
  float* on_gpu() const {
    void* device = nullptr;
    if (memory_ != nullptr) WARPGAUGE_CUDA(cudaHostGetDevicePointer(&device, memory_, 0));
    return static_cast<float*>(device);
  }

 private:
  void* memory_ = nullptr;
};

// out[i] = in[i] + in[i + 1] + in[i + 2], from host memory to host memory.
struct Sums : warpgauge::Problem {
  const int n;
  const std::vector<float> values;
  MappedFloats in, out;

  explicit Sums(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])), values(warpgauge::random_values<float>(n + kEdge, 1)) {}
  void prepare() override {
    in.fill(values);
    out.fill(std::vector<float>(n, -4));  // which is no sum
  }
  double bytes() const override { return sizeof(float) * (2.0 * n + kEdge); }
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<float> expected(n);
    for (int i = 0; i < n; ++i) expected[i] = values[i] + values[i + 1] + values[i + 2];
    comparison.equal(std::vector<float>(out.on_cpu(), out.on_cpu() + n), expected);
  }
};

struct CopiedSums : Sums {
  warpgauge::Output<float> in_copy, out_copy;
  explicit CopiedSums(const warpgauge::Size& size)
      : Sums(size), in_copy(*this, n + kEdge), out_copy(*this, n) {}
};

__global__ void sums(float* out, const float* in, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) out[i] = in[i] + in[i + 1] + in[i + 2];
}

__global__ void staged_sums(float* out, const float* in, int n) {
  __shared__ float staged[kThreads + kEdge];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  if (i < n + kEdge) staged[t] = in[i];
  if (t < kEdge && i + kThreads < n + kEdge) staged[kThreads + t] = in[i + kThreads];
  __syncthreads();
  if (i < n) out[i] = staged[t] + staged[t + 1] + staged[t + 2];
}

int blocks(int n) { return (n + kThreads - 1) / kThreads; }

void copied(CopiedSums& p) {
  const std::size_t in_bytes = sizeof(float) * (p.n + kEdge), out_bytes = sizeof(float) * p.n;
  WARPGAUGE_CUDA(cudaMemcpyAsync(p.in_copy, p.in.on_cpu(), in_bytes, cudaMemcpyHostToDevice));
  sums<<<blocks(p.n), kThreads>>>(p.out_copy, p.in_copy, p.n);
  WARPGAUGE_CUDA(cudaMemcpyAsync(p.out.on_cpu(), p.out_copy, out_bytes, cudaMemcpyDeviceToHost));
}

WARPGAUGE_FAMILY(mapped_memory) {
  const std::vector<warpgauge::Size> sizes = {{65536}, {1000}, warpgauge::large({16777216})};
  const auto on_the_device =
      family.problem<CopiedSums>("f32", sizes).sizes_between({1}, {16777216});
  on_the_device.variant("copied", copied);
  const auto on_the_host =
      family.problem<Sums>("f32", sizes).sizes_between({1}, {16777216}).relative_to("copied");
  on_the_host.variant("mapped", [](Sums& p) {
    sums<<<blocks(p.n), kThreads>>>(p.out.on_gpu(), p.in.on_gpu(), p.n);
  });
  on_the_host.variant("mapped_staged", [](Sums& p) {
    staged_sums<<<blocks(p.n), kThreads>>>(p.out.on_gpu(), p.in.on_gpu(), p.n);
  });
}

}  // namespace mapped_memory
