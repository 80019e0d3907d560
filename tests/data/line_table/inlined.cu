// Kernels with inlined functions, of the file itself, of a header and of the toolkit.
#include <cuda_fp16.h>

#include "inlined.h"

__device__ __forceinline__ float outer(const float* p, int i) {
  return inner(p, i) +  //
         p[i + 1];
}

extern "C" __global__ void first(float* out, const float* p, __half* h) {
  const int i = threadIdx.x;
  out[i] = outer(p, i);
  out[i + 64] = __ldg(p + i) +  //
                inner(p, 2 * i);
  h[i] = __hadd(h[i + 1], h[3]);
  out[i + 128] = __shfl_xor_sync(~0u, p[3 * i], 1) + sinf(p[7]);
  atomicAdd(out + 5, outer(p, 4));
}

extern "C" __global__ void second(float* out, const float* p) {
  atomicAdd(out + 5, __ldg(p + 4));
  out[threadIdx.x] = outer(p, 5);
}
