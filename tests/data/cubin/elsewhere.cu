// Kernels that call a function of another object, one by a pointer, and what needs no linker.
#include <cstdio>

extern __device__ float of_another_object(float* values, int n);

__global__ void calls_elsewhere(float* out) { out[0] = of_another_object(out, 7); }

__global__ void calls_by_pointer(float* out, float (*function)(float)) { out[0] = function(1); }

__global__ void prints(float* out) { printf("%f\n", out[0]); }

__global__ void lean(float* out) { out[0] = 1; }
