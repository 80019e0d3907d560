// Kernels that call functions with frames of their own: a chain, a recursion, and constants that
// belong to the module.

namespace sample {

__constant__ int weights[64];

__device__ __noinline__ int inner(int n) {
  int local[32];
  for (int i = 0; i < 32; ++i) local[i * n & 31] = i + n;
  return local[n & 31] + local[(n + 3) & 31];
}

__device__ __noinline__ int outer(int n) {
  int local[16];
  for (int i = 0; i < 16; ++i) local[i * n & 15] = inner(i + n);
  return local[n & 15] + local[(n + 3) & 15];
}

/// Its address is taken, so that it and what it calls keep frames of their own.
__device__ int (*const pointer)(int) = outer;

__device__ __noinline__ int factorial_like(int n) {
  int local[10];
  for (int i = 0; i < 10; ++i) local[i] = n * i;
  return n <= 0 ? local[-n & 7] : factorial_like(n - 1) + local[n % 10];
}

__global__ void chain(int* out) { out[threadIdx.x] = outer(out[threadIdx.x]); }

__global__ void by_pointer(int* out, int (*function)(int)) {
  out[threadIdx.x] = (function == nullptr ? pointer : function)(3);
}

__global__ void recursion(int* out) {
  int mine[6];
  for (int i = 0; i < 6; ++i) mine[i * out[i] % 6] = i;
  out[threadIdx.x] = factorial_like(threadIdx.x) + mine[out[2] % 6];
}

__global__ void weighted(int* out) { out[threadIdx.x] *= weights[threadIdx.x]; }

}  // namespace sample
