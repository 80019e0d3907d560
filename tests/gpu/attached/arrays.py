"""Arrays of CuPy: kernels that are compiled while it runs, CUB and cuBLAS."""

import cupy

SOURCE = r"""
extern "C" __global__ void by_columns(const float* in, float* out) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 1024 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""

numbers = cupy.arange(1 << 20, dtype=cupy.float32).reshape(1024, 1024)
by_columns = cupy.RawKernel(SOURCE, "by_columns")
turned = cupy.empty((32, 32), cupy.float32)
for _ in range(50):
    by_columns((1,), (32, 32), (numbers, turned))
ordered = cupy.sort((numbers * 7919 % 1000003).ravel())
print(float((numbers @ numbers).sum()), float(ordered[5]), float(turned.sum()))
