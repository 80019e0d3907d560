// Sum of an array of ints: how the parts of many blocks come together.
//
// A block adds up its part in registers and shared memory; what then? `atomics` adds each part to
// one word of global memory, where all blocks queue. `cluster` adds up the parts of 8 blocks
// before: they run at the same time (a cluster), and one warp reads all 8 parts from their shared
// memory with one request (cluster.requests), so that an eighth of the atomics is left.
// A block must not end while others read its shared memory, hence the second barrier of the
// cluster.
// The mistakes: `remote_atomics` lets each warp of the cluster add to a word in the first
// block's shared memory, 56 requests over the network between multiprocessors instead of 1;
// `two_kernels` writes the parts to global memory, and a second kernel reads them again.
#include "kernels/ptx.h"
#include "warpgauge/warpgauge.h"

namespace cluster_reduction {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kElements = 4096;  // of a block
constexpr int kBlocks = 8;       // of a cluster: the most that every GPU has

struct Sum : warpgauge::Problem {
  const int n;
  warpgauge::Input<int> a;
  warpgauge::InOut<int> sum;     // begins with 0
  warpgauge::Output<int> parts;  // for variants that keep them in global memory

  explicit Sum(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        a(*this, n),
        sum(*this, std::vector<int>{0}),
        parts(*this, blocks()) {}
  int blocks() const { return (n + kElements - 1) / kElements; }
  /// CPU reference: sums of 2^20 elements below 2^15 may wrap around, as those of a GPU do.
  void check(warpgauge::Comparison& comparison) const override {
    unsigned expected = 0;
    for (const int element : a.host()) expected += static_cast<unsigned>(element);
    comparison.equal(sum, {static_cast<int>(expected)});
  }
  double bytes() const override { return n * sizeof(int); }
};

// ---- The part of a block ----

__device__ int sum_of_warp(int value) {
  for (int k = kWarp / 2; k > 0; k /= 2) value += __shfl_down_sync(~0u, value, k);
  return value;
}

// The sum of a thread: every 256th element of its block's part.
__device__ int sum_of_thread(const int* a, int n) {
  int sum = 0;
#pragma unroll
  for (int k = 0; k < kElements; k += kThreads) {
    const int i = blockIdx.x * kElements + k + threadIdx.x;
    if (i < n) sum += a[i];
  }
  return sum;
}

// The sum of all threads of the block, which the first warp gets in its lane 0.
__device__ int sum_of_block(int value) {
  __shared__ int of_warps[kWarps];
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  value = sum_of_warp(value);
  if (lane == 0) of_warps[warp] = value;
  __syncthreads();
  if (warp > 0) return 0;
  return sum_of_warp(lane < kWarps ? of_warps[lane] : 0);
}

// ---- The parts of all blocks ----

__global__ void add_by_atomics(int* sum, const int* a, int n) {
  const int part = sum_of_block(sum_of_thread(a, n));
  if (threadIdx.x == 0) atomicAdd(sum, part);
}

__global__ void add_by_cluster(int* sum, const int* a, int n) {
  __shared__ int part;
  const int own = sum_of_block(sum_of_thread(a, n));
  if (threadIdx.x == 0) part = own;
  ptx::cluster_sync();
  if (ptx::cluster_rank() == 0 && threadIdx.x < kWarp) {
    const unsigned lane = threadIdx.x;
    int value = 0;
    if (lane < kBlocks) {
      value = ptx::load_in_cluster(ptx::address_in(ptx::shared_address(&part), lane));
    }
    value = sum_of_warp(value);
    if (lane == 0) atomicAdd(sum, value);
  }
  ptx::cluster_sync();  // no block ends before its part was read
}

__global__ void add_by_remote_atomics(int* sum, const int* a, int n) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  const int value = sum_of_warp(sum_of_thread(a, n));
  ptx::cluster_sync();  // the first block runs, and its total is 0
  if (threadIdx.x % kWarp == 0) {
    ptx::add_in_cluster(ptx::address_in(ptx::shared_address(&total), 0), value);
  }
  ptx::cluster_sync();
  if (ptx::cluster_rank() == 0 && threadIdx.x == 0) atomicAdd(sum, total);
}

__global__ void write_parts(int* parts, const int* a, int n) {
  const int part = sum_of_block(sum_of_thread(a, n));
  if (threadIdx.x == 0) parts[blockIdx.x] = part;
}

__global__ void add_parts(int* sum, const int* parts, int n) {
  int value = 0;
  for (int i = threadIdx.x; i < n; i += kThreads) value += parts[i];
  value = sum_of_block(value);
  if (threadIdx.x == 0) *sum = value;
}

// In clusters of kBlocks; blocks behind the end of the array add nothing.
void launch_in_clusters(void (*kernel)(int*, const int*, int), Sum& p) {
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {kBlocks, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((p.blocks() + kBlocks - 1) / kBlocks * kBlocks);
  config.blockDim = dim3(kThreads);
  config.attrs = &cluster;
  config.numAttrs = 1;
  int* const sum = p.sum;
  const int* const a = p.a;
  WARPGAUGE_CUDA(cudaLaunchKernelEx(&config, kernel, sum, a, p.n));
}

WARPGAUGE_FAMILY(cluster_reduction) {
  // 32 whole clusters; 25 blocks of 4 clusters have something to add, the last one not much.
  const auto i32 = family.problem<Sum>("i32", {{1048576}, {100003}}).sizes_between({1}, {1048576});
  i32.variant("atomics", [](Sum& p) { add_by_atomics<<<p.blocks(), kThreads>>>(p.sum, p.a, p.n); });
  i32.variant("two_kernels", [](Sum& p) {
    write_parts<<<p.blocks(), kThreads>>>(p.parts, p.a, p.n);
    add_parts<<<1, kThreads>>>(p.sum, p.parts, p.blocks());
  });
  const auto clusters = i32.needs("sm_90");
  clusters.variant("remote_atomics", [](Sum& p) { launch_in_clusters(add_by_remote_atomics, p); });
  clusters.variant("cluster", [](Sum& p) { launch_in_clusters(add_by_cluster, p); });
}

}  // namespace cluster_reduction
