// PTX that CUDA C++ has no short words for: clusters, mbarriers, bulk and tensor copies, stmatrix.
// It came with compute capability 9.0: before, the functions here do nothing, and a case whose
// kernels call them is registered with needs("sm_90").
#pragma once

#include <cuda.h>

#include <cstdint>

#if __CUDA_ARCH__ >= 900
#define WARPGAUGE_PTX_SM90(...) asm volatile(__VA_ARGS__)
#else
#define WARPGAUGE_PTX_SM90(...) static_cast<void>(0)
#endif

// Instructions of sm_90a, which later architectures may lack: needs("sm_90a").
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define WARPGAUGE_PTX_SM90A(...) asm volatile(__VA_ARGS__)
#else
#define WARPGAUGE_PTX_SM90A(...) static_cast<void>(0)
#endif

namespace ptx {

/// The address of shared memory as instructions take it: an offset from the block's window.
inline __device__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// Waits for so many threads of whole warps, which all give the same barrier, from 1 to 15 (0 is
/// that of __syncthreads()).
inline __device__ void sync_threads(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// ---- Clusters ----

/// The number of this block in its cluster.
inline __device__ unsigned cluster_rank() {
  unsigned rank = 0;
  WARPGAUGE_PTX_SM90("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Waits for all threads of the cluster, which see what the others have written.
inline __device__ void cluster_sync() {
  WARPGAUGE_PTX_SM90("barrier.cluster.arrive.release.aligned;" ::: "memory");
  WARPGAUGE_PTX_SM90("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// The address, within the cluster, of what lies at `address` in the shared memory of this block,
/// in that of the block `rank`.
inline __device__ std::uint32_t address_in(std::uint32_t address, unsigned rank) {
  std::uint32_t remote = 0;
  WARPGAUGE_PTX_SM90("mapa.shared::cluster.u32 %0, %1, %2;"
                     : "=r"(remote)
                     : "r"(address), "r"(rank));
  return remote;
}

/// A word of the cluster's shared memory.
inline __device__ int load_in_cluster(std::uint32_t address) {
  int value = 0;
  WARPGAUGE_PTX_SM90("ld.shared::cluster.s32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

/// Adds to a word of the cluster's shared memory.
inline __device__ void add_in_cluster(std::uint32_t address, int value) {
  WARPGAUGE_PTX_SM90("red.relaxed.cluster.shared::cluster.add.s32 [%0], %1;" ::"r"(address),
                     "r"(value)
                     : "memory");
}

// ---- Mbarriers ----

/// An mbarrier in shared memory, for copies that one thread asks for.
struct Mbarrier {
  std::uint64_t state;

  /// By one thread, which then calls fence_initialised(); the block's barrier follows.
  __device__ void initialise(unsigned arrivals) {
    WARPGAUGE_PTX_SM90("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals)
                       : "memory");
  }
  /// Makes initialised mbarriers known to copies, and to the other blocks of the cluster.
  static __device__ void fence_initialised() {
    WARPGAUGE_PTX_SM90("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __device__ void arrive() {
    WARPGAUGE_PTX_SM90("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory");
  }
  /// Arrives at the mbarrier at this place in the memory of another block of the cluster.
  __device__ void arrive_in(unsigned rank) {
    WARPGAUGE_PTX_SM90("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                           address_in(address(), rank))
                       : "memory");
  }
  /// Arrives; the phase ends when copies have brought these bytes, too.
  __device__ void arrive_and_expect(unsigned bytes) {
    WARPGAUGE_PTX_SM90("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()),
                       "r"(bytes)
                       : "memory");
  }
  /// Waits for the end of the phase of this parity: 0 for the first, 1 for the second, 0 again.
  __device__ void wait(unsigned parity) {
    WARPGAUGE_PTX_SM90(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}" ::"r"(address()),
        "r"(parity)
        : "memory");
  }
  __device__ std::uint32_t address() const { return shared_address(this); }
};

// ---- Bulk copies: addresses and bytes are multiples of 16 ----

/// From global to shared memory of this block; its bytes arrive at the mbarrier.
inline __device__ void bulk_load(void* to, const void* from, unsigned bytes, Mbarrier& arrived) {
  WARPGAUGE_PTX_SM90(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(arrived.address())
      : "memory");
}

/// From shared to global memory. Whoever wrote the shared memory has called fence_async() since.
inline __device__ void bulk_store(void* to, const void* from, unsigned bytes) {
  WARPGAUGE_PTX_SM90("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                         __cvta_generic_to_global(to)),
                     "r"(shared_address(from)), "r"(bytes)
                     : "memory");
}

/// A box of a matrix from global to shared memory of this block. (x, y) are the column and the row
/// of its first element; what lies outside of the matrix becomes 0, and arrives as well.
inline __device__ void tensor_load(void* to, const CUtensorMap& from, int x, int y,
                                   Mbarrier& arrived) {
  WARPGAUGE_PTX_SM90(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
      "l"(&from), "r"(x), "r"(y), "r"(arrived.address())
      : "memory");
}

/// tensor_load() to the shared memory of all blocks of the cluster whose bits are set, at the same
/// place in each. It arrives at the mbarrier at the same place in each.
inline __device__ void tensor_load_to_all(void* to, const CUtensorMap& from, int x, int y,
                                          Mbarrier& arrived, std::uint16_t blocks) {
  WARPGAUGE_PTX_SM90A(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
      "l"(&from), "r"(x), "r"(y), "r"(arrived.address()), "h"(blocks)
      : "memory");
}

/// A box from shared to global memory; what lies outside of the matrix is not stored.
inline __device__ void tensor_store(const CUtensorMap& to, int x, int y, const void* from) {
  WARPGAUGE_PTX_SM90(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
      "[%0, {%1, %2}], [%3];" ::"l"(&to),
      "r"(x), "r"(y), "r"(shared_address(from))
      : "memory");
}

/// Orders this thread's accesses to shared memory before the copies that follow.
inline __device__ void fence_async() {
  WARPGAUGE_PTX_SM90("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Ends a group of this thread's stores.
inline __device__ void commit_stores() {
  WARPGAUGE_PTX_SM90("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until all stores of this thread have read their shared memory, which may be written again.
inline __device__ void wait_until_read() {
  WARPGAUGE_PTX_SM90("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

/// Waits until all stores of this thread are done.
inline __device__ void wait_until_stored() {
  WARPGAUGE_PTX_SM90("cp.async.bulk.wait_group 0;" ::: "memory");
}

// ---- Matrices ----

/// Stores four 8x8 matrices of 16-bit elements. Lane l gives the address of row l % 8 of matrix l /
/// 8, and holds of each matrix the two elements in row l / 4 from column 2 * (l % 4) on.
inline __device__ void store_matrices(void* row, const std::uint32_t (&matrices)[4]) {
  WARPGAUGE_PTX_SM90(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
      "r"(matrices[0]), "r"(matrices[1]), "r"(matrices[2]), "r"(matrices[3])
      : "memory");
}

}  // namespace ptx
