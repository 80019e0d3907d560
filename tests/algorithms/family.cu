// Launches that are hard to record in a dry run: by CUB and Thrust, which ask for the device and
// allocate, of cooperative grids, on streams, and through cudaLaunchKernelEx.
#include <cooperative_groups.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "warpgauge/warpgauge.h"

namespace algorithms {

struct Keys : warpgauge::Problem {
  warpgauge::Input<int> in;
  warpgauge::Output<int> out;
  explicit Keys(const warpgauge::Size& size) : in(*this, size.count()), out(*this, size.count()) {}
  int count() const { return static_cast<int>(in.count()); }
  const int* from() const { return in; }
  int* to() { return out; }
};

struct Copied : Keys {
  using Keys::Keys;
  void check(warpgauge::Comparison& comparison) const override { comparison.equal(out, in.host()); }
};

struct Sum : warpgauge::Problem {
  warpgauge::Input<int> in;
  warpgauge::Output<int> out;
  explicit Sum(const warpgauge::Size& size) : in(*this, size.count()), out(*this, 1) {}
  int count() const { return static_cast<int>(in.count()); }
  const int* from() const { return in; }
  int* to() { return out; }
  void check(warpgauge::Comparison& comparison) const override {
    int sum = 0;
    for (const int value : in.host()) sum += value;
    comparison.equal(out, std::vector<int>{sum});
  }
};

struct Scanned : Keys {
  using Keys::Keys;
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<int> expected(in.host().size());
    int sum = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = sum;
      sum += in.host()[i];
    }
    comparison.equal(out, expected);
  }
};

struct Sorted : Keys {
  using Keys::Keys;
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<int> expected = in.host();
    std::sort(expected.begin(), expected.end());
    comparison.equal(out, expected);
  }
};

/// Calls an algorithm of CUB as its documents do: once for the size of its storage, once for its
/// work.
template <typename Algorithm>
void with_storage(Algorithm algorithm) {
  std::size_t bytes = 0;
  WARPGAUGE_CUDA(algorithm(nullptr, bytes));
  void* storage = nullptr;
  WARPGAUGE_CUDA(cudaMalloc(&storage, bytes));
  WARPGAUGE_CUDA(algorithm(storage, bytes));
  WARPGAUGE_CUDA(cudaFree(storage));
}

__global__ void copy(int* out, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// All blocks have copied before the first one reads what the last one wrote.
__global__ void copy_twice(int* out, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[n - 1 - i] = in[n - 1 - i];
  cooperative_groups::this_grid().sync();
  out[i] = out[i] + 0;
}

WARPGAUGE_FAMILY(algorithms) {
  const std::vector<warpgauge::Size> sizes = {{5000}};
  family.problem<Sum>("i32", sizes).variant("cub_sum", [](Sum& p) {
    with_storage([&](void* storage, std::size_t& bytes) {
      return cub::DeviceReduce::Sum(storage, bytes, p.from(), p.to(), p.count());
    });
  });
  family.problem<Scanned>("i32", sizes).variant("cub_scan", [](Scanned& p) {
    with_storage([&](void* storage, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveSum(storage, bytes, p.from(), p.to(), p.count());
    });
  });
  const auto sort = family.problem<Sorted>("i32", sizes);
  sort.variant("cub_sort", [](Sorted& p) {
    with_storage([&](void* storage, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortKeys(storage, bytes, p.from(), p.to(), p.count());
    });
  });
  sort.variant("thrust_sort", [](Sorted& p) {
    WARPGAUGE_CUDA(cudaMemcpyAsync(p.out, p.in, p.count() * sizeof(int), cudaMemcpyDeviceToDevice));
    thrust::sort(thrust::device, p.to(), p.to() + p.count());
  });

  const auto copies = family.problem<Copied>("i32", {{4096}});
  copies.variant("cooperative", [](Copied& p) {
    int* out = p.out;
    const int* in = p.in;
    int n = p.count();
    void* arguments[] = {&out, &in, &n};
    WARPGAUGE_CUDA(
        cudaLaunchCooperativeKernel(copy_twice, dim3(n / 256), dim3(256), arguments, 0, nullptr));
  });
  // A block for each multiprocessor, and larger ones on newer GPUs.
  copies.variant("fits_the_device", [](Copied& p) {
    int device = 0, multiprocessors = 0, major = 0;
    WARPGAUGE_CUDA(cudaGetDevice(&device));
    WARPGAUGE_CUDA(
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    WARPGAUGE_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    const int threads = major >= 9 ? 256 : 128;
    copy<<<multiprocessors, threads>>>(p.to(), p.from(), p.count());
  });
  copies.variant("two_streams", [](Copied& p) {
    const int half = p.count() / 2;
    cudaStream_t streams[2];
    for (int i = 0; i < 2; ++i) {
      WARPGAUGE_CUDA(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
      copy<<<half / 256, 256, 0, streams[i]>>>(p.out + i * half, p.in + i * half, half);
      WARPGAUGE_CUDA(cudaStreamSynchronize(streams[i]));
      WARPGAUGE_CUDA(cudaStreamDestroy(streams[i]));
    }
  });
  copies.variant("two_streams_and_an_event", [](Copied& p) {
    const int half = p.count() / 2;
    cudaStream_t other;
    cudaEvent_t done;
    WARPGAUGE_CUDA(cudaStreamCreate(&other));
    WARPGAUGE_CUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    copy<<<half / 256, 256, 0, other>>>(p.out, p.in, half);
    WARPGAUGE_CUDA(cudaEventRecord(done, other));
    WARPGAUGE_CUDA(cudaStreamWaitEvent(nullptr, done, 0));
    copy<<<half / 256, 256>>>(p.out + half, p.in + half, half);
    WARPGAUGE_CUDA(cudaEventDestroy(done));
    WARPGAUGE_CUDA(cudaStreamDestroy(other));
  });
  copies.variant("launch_kernel_ex", [](Copied& p) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributePriority;
    cudaLaunchConfig_t config = {};
    config.gridDim = p.count() / 256;
    config.blockDim = 256;
    config.attrs = &attribute;
    config.numAttrs = 1;
    WARPGAUGE_CUDA(cudaLaunchKernelEx(&config, copy, p.to(), p.from(), p.count()));
  });
}

}  // namespace algorithms
