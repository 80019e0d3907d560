// Calls of every kind: recursion, function pointers, virtual functions, printf, assert, malloc.
#include <cassert>
#include <cstdio>

using Op = float (*)(float, float);
__device__ __noinline__ float add(float a, float b) { return a + b; }
__device__ __noinline__ float mul(float a, float b) { return a * b; }
__device__ Op table[2] = {add, mul};

__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

struct Pair {
  double a;
  char c[5];
};
__device__ __noinline__ Pair pair(Pair p, int k) {
  p.a += k;
  p.c[k & 3] = 1;
  return p;
}

__global__ void indirect(float* out, int which) {
  out[threadIdx.x] = table[which & 1](out[0], 2.f);
}

__global__ void recursive(int* out, Pair* pairs, Pair by_value) {
  out[threadIdx.x] = fib(threadIdx.x);
  *pairs = pair(by_value, out[0]);
}

__global__ void __launch_bounds__(256, 2) prints(int* p) {
  printf("thread %d of %s: %f\n", threadIdx.x, "name", 1.5 * p[0]);
  assert(p[0] != 7);
  int* q = static_cast<int*>(malloc(16));
  q[0] = atomicAdd(p, 1);
  p[2] = q[0];
  free(q);
}
