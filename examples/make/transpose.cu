// A program that knows nothing of warpgauge: transposes a matrix, with bank conflicts in its tile.
#include <cstdio>

constexpr int kSize = 256;

__global__ void transpose(float* out, const float* in) {
  __shared__ float tile[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * kSize + x];
  __syncthreads();
  const int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
  out[v * kSize + u] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  float *in, *out;
  cudaMallocManaged(&in, kSize * kSize * sizeof(float));
  cudaMallocManaged(&out, kSize * kSize * sizeof(float));
  if (const cudaError_t error = cudaGetLastError()) {  // there is no GPU
    std::printf("%s\n", cudaGetErrorString(error));
    return 1;
  }
  for (int i = 0; i < kSize * kSize; ++i) in[i] = static_cast<float>(i);
  transpose<<<dim3(kSize / 32, kSize / 32), dim3(32, 32)>>>(out, in);
  if (const cudaError_t error = cudaDeviceSynchronize()) {
    std::printf("%s\n", cudaGetErrorString(error));
    return 1;
  }
  std::printf("%s\n", out[1] == kSize ? "right" : "wrong");
  return out[1] == kSize ? 0 : 1;
}
