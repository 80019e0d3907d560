// cuBLAS, cuFFT and Thrust, in two threads and three streams.
//
//     nvcc -O2 -lineinfo -o libraries libraries.cu -lcublas -lcufft
#include <cublas_v2.h>
#include <cufft.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

constexpr int kSide = 512;
constexpr int kTurns = 30;

void need(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(1);
}
#define NEED(call) need((call) == 0, #call)

struct Scatter {
  __host__ __device__ unsigned operator()(unsigned i) const { return i * 2654435761u; }
};

float multiply() {
  cudaStream_t stream = nullptr;
  cublasHandle_t blas = nullptr;
  NEED(cudaStreamCreate(&stream));
  NEED(cublasCreate(&blas));
  NEED(cublasSetStream(blas, stream));
  thrust::device_vector<float> a(kSide * kSide, 1.0f), b(kSide * kSide, 2.0f), c(kSide * kSide);
  const float one = 1, none = 0;
  for (int i = 0; i < kTurns; ++i) {
    NEED(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, kSide, kSide, kSide, &one, a.data().get(),
                     kSide, b.data().get(), kSide, &none, c.data().get(), kSide));
  }
  NEED(cudaStreamSynchronize(stream));
  NEED(cublasDestroy(blas));
  NEED(cudaStreamDestroy(stream));
  return c[7];
}

float transform() {
  cudaStream_t stream = nullptr;
  cufftHandle plan = 0;
  NEED(cudaStreamCreate(&stream));
  NEED(cufftPlan2d(&plan, kSide, kSide, CUFFT_C2C));
  NEED(cufftSetStream(plan, stream));
  thrust::device_vector<cufftComplex> wave(kSide * kSide, cufftComplex{1, 0});
  for (int i = 0; i < kTurns; ++i) {
    NEED(cufftExecC2C(plan, wave.data().get(), wave.data().get(),
                      i % 2 == 0 ? CUFFT_FORWARD : CUFFT_INVERSE));
  }
  NEED(cudaStreamSynchronize(stream));
  NEED(cufftDestroy(plan));
  NEED(cudaStreamDestroy(stream));
  return static_cast<cufftComplex>(wave[0]).x;
}

}  // namespace

int main() {
  float product = 0, spectrum = 0;
  std::thread multiplies([&] { product = multiply(); });
  std::thread transforms([&] { spectrum = transform(); });
  multiplies.join();
  transforms.join();
  thrust::device_vector<unsigned> numbers(1 << 20), keys(1 << 20);
  thrust::sequence(numbers.begin(), numbers.end());
  thrust::transform(numbers.begin(), numbers.end(), keys.begin(), Scatter());
  thrust::sort_by_key(keys.begin(), keys.end(), numbers.begin());
  thrust::inclusive_scan(numbers.begin(), numbers.end(), numbers.begin());
  std::printf("%g %g %u\n", product, spectrum, thrust::reduce(numbers.begin(), numbers.end()));
}
