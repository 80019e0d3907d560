// PTX of matrix products of warpgroups (wgmma), which sm_90a alone has. Elsewhere the functions
// here do nothing, and a case whose kernels call them is registered with needs("sm_90a").
#pragma once

#include <cstdint>

#include "kernels/ptx.h"

namespace ptx {

/// Takes registers from the other warps of a warpgroup, or gives them back: what a thread has now.
template <int kRegisters>
__device__ void take_registers() {
  WARPGAUGE_PTX_SM90A("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ void give_registers() {
  WARPGAUGE_PTX_SM90A("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// Where operands of products lie: an address, the distances of their 8x8 matrices along the rows
/// and from 8 rows to the next, in bytes, and their swizzle (1: of 128 bytes, where the first
/// distance has no meaning; 0: none).
inline __device__ std::uint64_t matrix_descriptor(const void* address, unsigned along_rows,
                                                  unsigned to_next_rows, std::uint64_t swizzle) {
  const auto field = [](unsigned bytes) { return std::uint64_t{bytes % (1u << 18) / 16}; };
  return field(shared_address(address)) | field(along_rows) << 16 | field(to_next_rows) << 32 |
         swizzle << 62;
}

/// Before the first product, and after the sums were touched otherwise.
inline __device__ void fence_products() {
  WARPGAUGE_PTX_SM90A("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Ends a group of products.
inline __device__ void commit_products() {
  WARPGAUGE_PTX_SM90A("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until all groups of products are done.
inline __device__ void wait_for_products() {
  WARPGAUGE_PTX_SM90A("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/// Keeps the compiler from moving what is done with the sums before the wait for them.
template <int kSums>
__device__ void use_after_wait(float (&sums)[kSums]) {
#pragma unroll
  for (float& sum : sums) asm volatile("" : "+f"(sum)::"memory");
}

#define WARPGAUGE_SUMS_4(s, i) "+f"(s[i]), "+f"(s[i + 1]), "+f"(s[i + 2]), "+f"(s[i + 3])
#define WARPGAUGE_SUMS_16(s, i)                                                   \
  WARPGAUGE_SUMS_4(s, i), WARPGAUGE_SUMS_4(s, i + 4), WARPGAUGE_SUMS_4(s, i + 8), \
      WARPGAUGE_SUMS_4(s, i + 12)

/// Adds the product of 64x16 and 16x64 halves to 64x64 sums.
inline __device__ void multiply_async(float (&sums)[32], std::uint64_t a, std::uint64_t b) {
  WARPGAUGE_PTX_SM90A(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, %32, %33, 1, 1, 1, 0, 0;"
      : WARPGAUGE_SUMS_16(sums, 0), WARPGAUGE_SUMS_16(sums, 16)
      : "l"(a), "l"(b)
      : "memory");
}

/// Adds the product of 64x16 and 16x256 halves to 64x256 sums.
inline __device__ void multiply_async(float (&sums)[128], std::uint64_t a, std::uint64_t b) {
  WARPGAUGE_PTX_SM90A(
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
      "%127"
      "}, %128, %129, 1, 1, 1, 0, 0;"
      : WARPGAUGE_SUMS_16(sums, 0), WARPGAUGE_SUMS_16(sums, 16), WARPGAUGE_SUMS_16(sums, 32),
        WARPGAUGE_SUMS_16(sums, 48), WARPGAUGE_SUMS_16(sums, 64), WARPGAUGE_SUMS_16(sums, 80),
        WARPGAUGE_SUMS_16(sums, 96), WARPGAUGE_SUMS_16(sums, 112)
      : "l"(a), "l"(b)
      : "memory");
}

}  // namespace ptx
