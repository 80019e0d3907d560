// Kernels whose counts depend on what they load, and on where lanes of a warp meet again.
#include <cstdio>
#include <cstring>
#include <vector>

/// What a thread reads here, others write: how often the loop writes is up to the order.
__global__ void relax(const int* row, const int* column, int* distance, int n) {
  const int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (v >= n) return;
  const int own = distance[v];
  for (int e = row[v]; e < row[v + 1]; ++e) {
    if (distance[column[e]] > own + 1) distance[column[e]] = own + 1;  // write of relax
  }
}

/// The arrays that decide are written by no thread.
__global__ void gather(const int* row, const int* column, const int* in, int* out, int n) {
  const int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (v >= n) return;
  int sum = 0;
#pragma unroll 1
  for (int e = row[v]; e < row[v + 1]; ++e) sum += in[column[e]];  // load of gather
  out[v] = sum;
}

/// The same where one array has both halves: the history of accesses shows that nothing races.
__global__ void gather_within(const int* row, const int* column, int* both, int n) {
  const int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (v >= n) return;
  int sum = 0;
#pragma unroll 1
  for (int e = row[v]; e < row[v + 1]; ++e) sum += both[column[e]];  // load of gather_within
  both[n + v] = sum;
}

/// ptxas calls a function for some quotients, and so makes the loops yield.
__global__ void divide(const int* row, const int* column, const float* value, float* sums, int n) {
  const int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (v >= n) return;
  const int begin = row[v], end = row[v + 1];
  for (int e = begin; e < end; ++e) {
    atomicAdd(&sums[column[e]], value[v] / static_cast<float>(end - begin));  // load of divide
  }
}

/// No call, so no yield: lanes that have left the loop meet.
__global__ void multiply(const int* row, const int* column, const float* value, float* sums,
                         int n) {
  const int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (v >= n) return;
  float product = 1;
#pragma unroll 1
  for (int e = row[v]; e < row[v + 1]; ++e) product *= value[column[e]];  // load of multiply
  sums[v] = product;
}

/// ptxas makes one instruction of the quotient's product and the sum, and so rounds once: the loop
/// can end in another round than with two roundings.
__global__ void newton(const int* row, int* out, int n) {
  const int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (v >= n) return;
  const float square = 1 + static_cast<float>(v);
  float root = square / 2;
#pragma unroll 1
  for (int round = 0; round < 20; ++round) {
    const float next = 0.5f * (root + __fdividef(square, root));  // sum of newton
    if (fabsf(next - root) < 1e-3f) break;
    out[v] += row[round];  // load of newton
    root = next;
  }
}

__global__ void copy(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];  // load of copy
}

__device__ __noinline__ unsigned descend(unsigned a, unsigned depth) {
  if (depth == 0 || (a & 7) == 0) return a;
  return descend(a * 9 + 1, depth - 1) ^ depth;
}

/// Lanes that wait in one call of a function go on with those of another.
__global__ void recurse(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned a = static_cast<unsigned>(in[i]);
  out[i] = static_cast<int>(descend(a, i & 3));  // store of recurse
}

/// The address is the same in each round: ptxas stores once for four of them.
__global__ void overwrite(const uint4* row, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned u = row[0].x;
  if (i % 4 == 1) {
    unsigned rest = 0;
    for (unsigned k = 0; k < 32; ++k) {
      unsigned divisor = (row[i].z & 255) + 1;
      rest &= 255;
      while (divisor != 0) {
        const unsigned next = rest % divisor;
        rest = divisor;
        divisor = next;
      }
      out[i * 4 + 3] = static_cast<int>((u - k) ^ rest);  // store of overwrite
    }
  }
  out[i * 4] = static_cast<int>(u);
}

/// No round changes what the load reads: ptxas has no loop.
__global__ void reload(const uint2* pairs, const float* in, unsigned* out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * 64 + t, warp = t / 32;
  unsigned u = pairs[warp * 7].x;
  const unsigned v = pairs[t].y;
  float f = in[i];
  if (v % 3 != 0) {
#pragma unroll 1
    for (unsigned k = 0; k < (warp & 3) + 1; ++k) {
      if ((t & 5) == 0) break;
      f = in[i];
      u = pairs[(t * 2 + 30) & 1023].x;  // load of reload
      unsigned a = __umulhi(k, u) + pairs[(t * 4 + 1) & 1023].y;
      unsigned b = (__dp4a(u, a, k) & 255) + 1;
      a &= 255;
      while (b != 0) {
        const unsigned rest = a % b;
        a = b;
        b = rest;
      }
    }
    for (unsigned k = i; k < n; k += 64) f += in[k];
  }
  out[63 - i % 64] = v * 5 + u + __float_as_uint(f);
}

/// ptxas takes the first of nine rounds out of the loop.
__global__ void turn(const int* row, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float f = -7.125f;
#pragma unroll 2
  for (unsigned k = 0; k < 9; ++k) f += fminf(f, f - 7.125f);
  out[i] = f + static_cast<float>(row[i]);
}

template <typename T>
T* on_device(const std::vector<T>& values) {
  T* memory = nullptr;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

int main(int count, char** words) {
  const char* const wanted = count > 1 ? words[1] : "gather";
  const auto is = [&](const char* way) { return std::strcmp(wanted, way) == 0; };
  constexpr int kNodes = 1 << 12, kThreads = 256, kBlocks = kNodes / kThreads;
  std::vector<int> row(kNodes + 1), column, distance(kNodes, 1 << 20);
  unsigned random = 1;
  const auto draw = [&] { return (random = random * 1664525 + 1013904223) >> 8; };
  for (int v = 0; v < kNodes; ++v) {
    row[v] = static_cast<int>(column.size());
    for (unsigned edges = draw() % 16; edges > 0; --edges) {
      column.push_back(static_cast<int>(draw() % kNodes));
    }
  }
  row[kNodes] = static_cast<int>(column.size());
  distance[0] = 0;
  const int *const rows = on_device(row), *const columns = on_device(column);
  int* const distances = on_device(distance);
  int* const both = on_device(std::vector<int>(2 * kNodes, 1));
  const float* const values = on_device(std::vector<float>(kNodes, 1));
  float* const sums = on_device(std::vector<float>(kNodes));
  if (is("relax")) relax<<<kBlocks, kThreads>>>(rows, columns, distances, kNodes);
  if (is("gather")) gather<<<kBlocks, kThreads>>>(rows, columns, distances, both, kNodes);
  if (is("gather_within")) gather_within<<<kBlocks, kThreads>>>(rows, columns, both, kNodes);
  if (is("divide")) divide<<<kBlocks, kThreads>>>(rows, columns, values, sums, kNodes);
  if (is("multiply")) multiply<<<kBlocks, kThreads>>>(rows, columns, values, sums, kNodes);
  if (is("newton")) newton<<<kBlocks, kThreads>>>(rows, both, kNodes);
  if (is("recurse")) recurse<<<kBlocks, kThreads>>>(columns, both);
  if (is("overwrite")) overwrite<<<2, kThreads>>>(reinterpret_cast<const uint4*>(columns), both);
  if (is("reload")) {
    reload<<<1, 64>>>(reinterpret_cast<const uint2*>(columns), values,
                      reinterpret_cast<unsigned*>(both), 179);
  };
  if (is("turn")) turn<<<kBlocks, kThreads>>>(rows, sums);
  if (is("decide") || is("results")) {
    relax<<<kBlocks, kThreads>>>(rows, columns, distances, kNodes);
    const std::size_t bytes = sizeof(int) * (is("decide") ? 1 : kNodes);
    cudaMemcpy(distance.data(), distances, bytes, cudaMemcpyDeviceToHost);
    copy<<<kBlocks, kThreads>>>(columns, both);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", error == cudaSuccess ? "PASSED" : cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
