// Data of every kind: values, pointers among them, constant, managed and shared memory.
struct Node {
  const Node* next;
  int value;
  float weights[3];
};
struct __attribute__((packed)) Packed {
  char c;
  int* p;
  short s;
};
extern __device__ Node second;
__device__ Node first = {&second, 1, {0.5f, 1.5f, -2.f}};
__device__ Node second = {nullptr, 2, {}};
__device__ int numbers[5] = {1, -2, 3, 0x7fffffff};
__device__ double reals[2] = {1.0, -0.1};
__device__ int* inside = numbers + 3;
__device__ unsigned long long big = 0xffffffffffffffffull;
__device__ const char* text = "hello";
__device__ Packed packed = {1, numbers + 2, 3};
__device__ float quarter = 0.25f;
__constant__ float table[4] = {1, 2, 3, 4};
__constant__ int plain[16];
__managed__ int managed = 42;
extern __shared__ float dynamic[];

struct Params {
  int a;
  double c;
};
__global__ void use(float* out, const float* __restrict__ in, Params p, char c, short s) {
  __shared__ float tile[32][33];
  __shared__ double other;
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.x];
  dynamic[threadIdx.x] = table[threadIdx.x & 3];
  if (threadIdx.x == 0) other = p.c + reals[p.a];
  __syncthreads();
  float local[16];
  for (int i = 0; i < 16; ++i) local[i] = tile[i][threadIdx.x] + other;
  out[threadIdx.x] = local[p.a & 15] + dynamic[31 - threadIdx.x] + plain[p.a & 15] + managed +
                     first.next->value + numbers[c & 3] + *inside + big + text[s] + *packed.p +
                     quarter;
}
