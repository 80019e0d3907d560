// Bulk copies and accesses to shared memory of the cluster, for tests of what they count.
#include <cstdint>

namespace {

constexpr int kFloats = 1024;

__device__ uint32_t shared(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(barrier)),
               "r"(bytes));
}

__device__ void wait(uint64_t* barrier) {
  asm volatile(
      "{ .reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
      "@!done bra again; }" ::"r"(shared(barrier))
      : "memory");
}

__device__ void wait_for_cluster() {
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

}  // namespace

// One thread of each block makes all copies.
extern "C" __global__ void one_lane(float* out, const float* in) {
  __shared__ alignas(128) float tile[kFloats];
  __shared__ alignas(8) uint64_t barrier;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&barrier)));
    expect(&barrier, sizeof tile);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared(tile)),
        "l"(in + blockIdx.x * kFloats), "r"(static_cast<uint32_t>(sizeof tile)),
        "r"(shared(&barrier))
        : "memory");
  }
  __syncthreads();
  wait(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     out + blockIdx.x * kFloats + 4),
                 "r"(shared(tile)), "r"(64)
                 : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(
                     out + blockIdx.x * kFloats + 32),
                 "r"(shared(tile)), "r"(128)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// Each thread makes a copy of 16 bytes.
extern "C" __global__ void all_lanes(float* out, const float* in) {
  __shared__ alignas(128) float tile[kFloats];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   out + threadIdx.x * 4),
               "r"(shared(tile + threadIdx.x * 4)), "r"(16)
               : "memory");
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

// Each block accesses the shared memory of the other one of its cluster.
extern "C" __global__ void remote(unsigned* out, const float*) {
  __shared__ unsigned words[32];
  words[threadIdx.x] = threadIdx.x;
  unsigned rank, address, value, before;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  wait_for_cluster();
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(address)
               : "r"(shared(words + threadIdx.x)), "r"(rank ^ 1));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  wait_for_cluster();
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address), "r"(value + 1) : "memory");
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "r"(address), "r"(value)
               : "memory");
  wait_for_cluster();
  out[blockIdx.x * blockDim.x + threadIdx.x] = before + words[threadIdx.x];
}

// Each block copies to the other one of its cluster.
extern "C" __global__ void sent(unsigned* out, const float*) {
  __shared__ alignas(16) unsigned from[32], to[32];
  __shared__ alignas(8) uint64_t barrier;
  from[threadIdx.x] = threadIdx.x;
  unsigned rank, address, remote_barrier;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&barrier)));
    expect(&barrier, 128 + 4);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  wait_for_cluster();
  if (threadIdx.x == 0) {
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(address)
                 : "r"(shared(to)), "r"(rank ^ 1));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(remote_barrier)
                 : "r"(shared(&barrier)), "r"(rank ^ 1));
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 128, "
        "[%2];" ::"r"(address),
        "r"(shared(from)), "r"(remote_barrier)
        : "memory");
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(address),
        "r"(7), "r"(remote_barrier)
        : "memory");
  }
  wait(&barrier);
  out[blockIdx.x * blockDim.x + threadIdx.x] = to[threadIdx.x];
  wait_for_cluster();
}

// The lanes of a warp store a matrix of 8 x 8 halves together.
extern "C" __global__ void stored_matrix(unsigned* out, const unsigned* in) {
  __shared__ alignas(16) unsigned rows[32];
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(
                   shared(rows + threadIdx.x % 8 * 4)),
               "r"(in[threadIdx.x])
               : "memory");
  __syncthreads();
  out[threadIdx.x] = rows[31 - threadIdx.x];
}
