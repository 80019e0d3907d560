// Reproduces wrong results of nvcc 13.0 on sm_90: kernels with more than 32240 bytes of parameters.
//
// There the parameters begin at byte 528 of the constant bank, so those beyond 32240 are at 32768
// and more. An instruction holds an address as a register and a signed offset of 16 bits, which
// wraps around: 33268 becomes -32268. For sm_75 to sm_89 ptxas adds 65536 to the register, and from
// sm_100 on offsets are wider. For sm_90 it does neither (nvdisasm; -Xptxas -O0 has no offsets):
//
//   UMOV UR6, 0xc ;
//   ULDC UR7, c[0x0][UR6+-0x7e0c] ;      meant: [UR6+0x81f4]
//
// Prints for each number of bytes whether the result is right, and exits with 1 if one is not. The
// emulator runs the PTX, which is right. An H100 was seen to be wrong with 32764 bytes.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                         \
  if (const cudaError_t error_ = (call); error_ != cudaSuccess) {                           \
    std::fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error_)); \
    std::exit(EXIT_FAILURE);                                                                \
  }

// A kernel takes two pointers and a number besides the coefficients.
template <int kBytes>
struct Coefficients {
  static constexpr int kCount = (kBytes - 20) / 4;
  unsigned c[kCount];
};

// A polynomial modulo 2^32, by Horner's rule.
template <int kBytes>
__global__ void by_value(unsigned* y, const unsigned* x, int n, Coefficients<kBytes> of) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned own = x[i];
  unsigned value = 0;
  for (int k = of.kCount - 1; k >= 0; --k) value = value * own + of.c[k];
  y[i] = value;
}

template <int kBytes>
bool is_right() {
  constexpr int kThreads = 64;
  static Coefficients<kBytes> of;
  for (int k = 0; k < of.kCount; ++k) of.c[k] = 2654435761u * static_cast<unsigned>(k + 1);
  unsigned x[kThreads], got[kThreads];
  for (int i = 0; i < kThreads; ++i) x[i] = 2 * static_cast<unsigned>(i) + 1;
  unsigned *from = nullptr, *to = nullptr;
  CHECK(cudaMalloc(&from, sizeof(x)));
  CHECK(cudaMalloc(&to, sizeof(x)));
  CHECK(cudaMemcpy(from, x, sizeof(x), cudaMemcpyHostToDevice));
  by_value<kBytes><<<1, kThreads>>>(to, from, kThreads, of);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got, to, sizeof(got), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
  bool right = true;
  for (int i = 0; i < kThreads; ++i) {
    unsigned expected = 0;
    for (int k = of.kCount - 1; k >= 0; --k) expected = expected * x[i] + of.c[k];
    right = right && got[i] == expected;
  }
  std::printf("%d bytes: %s\n", kBytes, right ? "right" : "wrong");
  return right;
}

int main() {
  const bool right[] = {is_right<16384>(), is_right<24576>(), is_right<31744>(), is_right<32240>(),
                        is_right<32764>()};
  for (const bool is_right : right) {
    if (!is_right) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
