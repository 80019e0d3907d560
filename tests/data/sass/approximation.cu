// Kernels for the test of approximate functions in OrderOfThreads. Accesses whose counts their
// values decide are marked "depends".
extern "C" {

__global__ void looked_up(float* out, const float* table, const float* in) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = table[static_cast<int>(__expf(x))];  // depends
}

__global__ void until_close(float* out, const float* in) {
  float x = in[threadIdx.x];
  while (__cosf(x) < 0.999f) x = in[static_cast<int>(x) + 1];  // depends
  out[threadIdx.x] = x;
}

__global__ void stored(float* out, const float* in) {
  out[threadIdx.x] = __fdividef(__sinf(in[threadIdx.x]), rsqrtf(in[threadIdx.x + 32]));
}

// Division of integers is exact, though it begins with an approximate reciprocal.
__global__ void divided(float* out, const float* in, unsigned divisor) {
  out[threadIdx.x] = in[threadIdx.x / divisor];
}
}
