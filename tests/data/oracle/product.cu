// A product of tiles by wgmma that waits for bulk copies, for tests of what it counts.
#include <cstdint>

namespace {

constexpr int kRows = 64, kColumns = 16, kDepth = 16, kRounds = 4;
constexpr int kTileOfA = kRows * kDepth, kTileOfB = kColumns * kDepth;  // f16

__device__ uint32_t shared(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void copy(void* to, const uint16_t* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared(to)),
      "l"(from), "r"(bytes), "r"(shared(barrier))
      : "memory");
}

__device__ void wait(uint64_t* barrier, int phase) {
  asm volatile(
      "{ .reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again; }" ::"r"(shared(barrier)),
      "r"(phase)
      : "memory");
}

/// Of a tile without swizzle: core matrices of 8 rows of 16 bytes, one after the other along K, and
/// then along the rows.
__device__ uint64_t descriptor(const void* tile) {
  constexpr uint64_t kAlongK = 128 >> 4, kAlongRows = 256 >> 4;
  return (shared(tile) & 0x3ffff) >> 4 | kAlongK << 16 | kAlongRows << 32;
}

}  // namespace

// One warpgroup loads (a lane) and another one multiplies; its first warp stores with all lanes.
extern "C" __global__ void __launch_bounds__(256, 1)
    product(float* out, const uint16_t* a, const uint16_t* b) {
  __shared__ alignas(128) uint16_t tile_of_a[kTileOfA], tile_of_b[kTileOfB];
  __shared__ alignas(128) float result[kRows * kColumns];
  __shared__ alignas(8) uint64_t full, empty;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&full)));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&empty)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == 128) {
#pragma unroll 1
      for (int i = 0; i < kRounds; ++i) {
        if (i > 0) wait(&empty, (i - 1) % 2);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&full)),
                     "r"(2 * (kTileOfA + kTileOfB))
                     : "memory");
        copy(tile_of_a, a + i * kTileOfA, 2 * kTileOfA, &full);
        copy(tile_of_b, b + i * kTileOfB, 2 * kTileOfB, &full);
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float sum[8] = {};
  for (int i = 0; i < kRounds; ++i) {
    wait(&full, i % 2);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, "
        "%8, %9, 1, 1, 1, 0, 0;"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]),
          "+f"(sum[6]), "+f"(sum[7])
        : "l"(descriptor(tile_of_a)), "l"(descriptor(tile_of_b)));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("bar.sync 1, 128;" ::: "memory");
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(&empty)) : "memory");
    }
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = 0; i < 8; ++i) {
    const int row = warp * 16 + lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    result[row * kColumns + column] = sum[i];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("bar.sync 1, 128;" ::: "memory");
  if (threadIdx.x < 32) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     out + blockIdx.x * kRows * kColumns),
                 "r"(shared(result)), "r"(static_cast<uint32_t>(sizeof result))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
