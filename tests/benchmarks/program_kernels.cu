// Kernels that work as programs do that are emulated: arithmetic of each kind, barriers, branches,
// atomics, streams, local memory, and launches that do little.
#include "tests/benchmarks/program_kernels.h"

namespace warpgauge::benchmarks {

namespace {
constexpr int kBlock = 256, kBlocks = kProgramThreads / kBlock;
}

__device__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void float_arithmetic(float* out) {
  const int i = thread_number();
  float a = i * 1e-3f, b = 0.5f, c = 0.25f;
  for (int k = 0; k < 64; ++k) {
    a = a * b + c;
    b = b * c + a;
    c = c * 0.5f - b * 0.125f;
    a = fminf(a, 4.0f);
    b = fmaxf(b, -4.0f);
  }
  out[i] = a + b + c;
}

__global__ void double_arithmetic(float* out) {
  const int i = thread_number();
  double re = i * 1e-4, im = 1.0;
  for (int k = 1; k < 32; ++k) {
    const double size = re * re + im * im + k;
    const double next = (re * k - im) / size;
    im = (im * k + re) / size;
    re = next;
  }
  out[i] = static_cast<float>(re + im);
}

__global__ void integer_hash(float* out) {
  const unsigned i = thread_number();
  unsigned a = i, b = i ^ 0x9e3779b9, c = ~i, d = 0x85ebca6b;
  for (int k = 0; k < 48; ++k) {
    a += b ^ (c << 7 | c >> 25);
    b ^= (d << 13 | d >> 19) & ~a;
    c = (c + a) ^ b >> 3;
    d = d * 5 + (a & b);
  }
  out[i] = static_cast<float>(a ^ b ^ c ^ d);
}

__global__ void shared_wavefront(float* out) {
  constexpr int kTile = 32;
  __shared__ int cells[kTile + 1][kTile + 1];
  const int t = threadIdx.x;
  cells[0][t] = -t;
  cells[t][0] = -t;
  __syncthreads();
  for (int step = 0; step < 2 * kTile - 1; ++step) {
    const int x = t + 1, y = step - t + 1;
    if (y >= 1 && y <= kTile) {
      const int hit = cells[y - 1][x - 1] + ((x * y) % 3 - 1);
      cells[y][x] = max(hit, max(cells[y - 1][x], cells[y][x - 1]) - 1);
    }
    __syncthreads();
  }
  out[thread_number()] = cells[kTile][t + 1];
}

__global__ void divergent_loop(float* out) {
  const int i = thread_number();
  const float x0 = (i % 128) / 48.0f - 2.0f, y0 = (i / 128) / 64.0f - 1.0f;
  float x = 0, y = 0;
  int k = 0;
  while (k < 48 && x * x + y * y < 4) {
    const float next = x * x - y * y + x0;
    y = 2 * x * y + y0;
    x = next;
    if (k % 3 == 0 && x < y) y -= 1e-3f;
    ++k;
  }
  out[i] = k;
}

__global__ void histogram(float* out) {
  __shared__ unsigned bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  unsigned random = thread_number() * 2654435761u;
  for (int k = 0; k < 16; ++k) {
    random = random * 1664525 + 1013904223;
    atomicAdd(&bins[random >> 26], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], static_cast<float>(bins[threadIdx.x]));
}

__global__ void stream(float* c, const float* a, const float* b, float factor, int n) {
  const int i = thread_number();
  if (i < n) c[i] = a[i] + factor * b[i];
}

__global__ void transcendental(float* out) {
  const int i = thread_number();
  float sum = 0;
  for (int k = 0; k < 16; ++k) {
    const float x = i * 0.01f + k + 1;
    sum += rsqrtf(x) * __expf(-x) + __logf(x) * __fdividef(1.0f, x + 2);
  }
  out[i] = sum;
}

__global__ void local_array(float* out) {
  const int i = thread_number();
  float values[16];
  for (int k = 0; k < 16; ++k) values[k] = k * 0.5f + i;
  int at = i;
  for (int k = 0; k < 32; ++k) {
    at = at * 5 + k;
    values[at & 15] += values[k & 15] * 0.25f;
  }
  out[i] = values[at & 15];
}

__global__ void smooth(float* to, const float* from, int n) {
  const int i = thread_number();
  if (i > 0 && i < n - 1) to[i] = 0.25f * from[i - 1] + 0.5f * from[i] + 0.25f * from[i + 1];
}

void launch_float_arithmetic(float* out) { float_arithmetic<<<kBlocks, kBlock>>>(out); }
void launch_double_arithmetic(float* out) { double_arithmetic<<<kBlocks, kBlock>>>(out); }
void launch_integer_hash(float* out) { integer_hash<<<kBlocks, kBlock>>>(out); }
void launch_shared_wavefront(float* out) { shared_wavefront<<<kProgramThreads / 32, 32>>>(out); }
void launch_divergent_loop(float* out) { divergent_loop<<<kBlocks, kBlock>>>(out); }
void launch_histogram(float* out) { histogram<<<kBlocks, kBlock>>>(out); }
void launch_transcendental(float* out) { transcendental<<<kBlocks, kBlock>>>(out); }
void launch_local_array(float* out) { local_array<<<kBlocks, kBlock>>>(out); }

void launch_stream(float* out) {
  constexpr int kCount = 2 * kProgramThreads;
  stream<<<kCount / kBlock, kBlock>>>(out, out + kCount, out + 2 * kCount, 0.5f, kCount);
}

void launch_many_small(float* out) {
  constexpr int kCount = 1024;
  for (int n = 0; n < 64; ++n) {
    float* const from = out + n % 2 * kCount;
    float* const to = out + (n + 1) % 2 * kCount;
    smooth<<<kCount / kBlock, kBlock>>>(to, from, kCount);
  }
}

}  // namespace warpgauge::benchmarks
