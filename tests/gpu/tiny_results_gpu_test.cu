// The results that the emulator's tests expect next to the smallest normal number, on a device.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <map>
#include <string_view>

#include "tests/support/tiny_results.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge::tiny_results {
namespace {

using Kernel = void (*)(double*, double, double, double);

#define OF_FLOATS(NAME, TEXT, ...)                                                               \
  __global__ void NAME(double* result, double a, double b, double c) {                           \
    const float x = static_cast<float>(a), y = static_cast<float>(b), z = static_cast<float>(c); \
    float d;                                                                                     \
    asm volatile(TEXT : "=f"(d) : "f"(x), "f"(y), "f"(z));                                       \
    *result = d;                                                                                 \
  }
OF_FLOATS(mul_rn, "mul.rn.ftz.f32 %0, %1, %2;")
OF_FLOATS(mul_rz, "mul.rz.ftz.f32 %0, %1, %2;")
OF_FLOATS(mul_rm, "mul.rm.ftz.f32 %0, %1, %2;")
OF_FLOATS(mul_rp, "mul.rp.ftz.f32 %0, %1, %2;")
OF_FLOATS(fma_rn, "fma.rn.ftz.f32 %0, %1, %2, %3;")
OF_FLOATS(fma_rm, "fma.rm.ftz.f32 %0, %1, %2, %3;")
OF_FLOATS(fma_rp, "fma.rp.ftz.f32 %0, %1, %2, %3;")

#define OF_A_DOUBLE(NAME, TEXT)                                    \
  __global__ void NAME(double* result, double a, double, double) { \
    float d;                                                       \
    asm volatile(TEXT : "=f"(d) : "d"(a));                         \
    *result = d;                                                   \
  }
OF_A_DOUBLE(cvt_rn, "cvt.rn.ftz.f32.f64 %0, %1;")
OF_A_DOUBLE(cvt_rm, "cvt.rm.ftz.f32.f64 %0, %1;")
OF_A_DOUBLE(cvt_rp, "cvt.rp.ftz.f32.f64 %0, %1;")

#define OF_HALVES(NAME, TEXT)                                          \
  __global__ void NAME(double* result, double a, double b, double c) { \
    const std::uint16_t x = __half_as_ushort(__double2half(a));        \
    const std::uint16_t y = __half_as_ushort(__double2half(b));        \
    const std::uint16_t z = __half_as_ushort(__double2half(c));        \
    std::uint16_t d;                                                   \
    asm volatile(TEXT : "=h"(d) : "h"(x), "h"(y), "h"(z));             \
    *result = __half2float(__ushort_as_half(d));                       \
  }
OF_HALVES(mul_half, "mul.rn.ftz.f16 %0, %1, %2;")
OF_HALVES(fma_half, "fma.rn.ftz.f16 %0, %1, %2, %3;")

const std::map<std::string_view, Kernel> kKernels = {
    {"mul.rn.ftz.f32", mul_rn},     {"mul.rz.ftz.f32", mul_rz},     {"mul.rm.ftz.f32", mul_rm},
    {"mul.rp.ftz.f32", mul_rp},     {"fma.rn.ftz.f32", fma_rn},     {"fma.rm.ftz.f32", fma_rm},
    {"fma.rp.ftz.f32", fma_rp},     {"cvt.rn.ftz.f32.f64", cvt_rn}, {"cvt.rm.ftz.f32.f64", cvt_rm},
    {"cvt.rp.ftz.f32.f64", cvt_rp}, {"mul.rn.ftz.f16", mul_half},   {"fma.rn.ftz.f16", fma_half},
};

TEST(TinyResults, OfTheDevice) {
  double* device = nullptr;
  if (const cudaError_t error = cudaMalloc(&device, sizeof(double)); error != cudaSuccess) {
    GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
  }
  for (const support::TinyResult& tiny : support::kTinyResults) {
    kKernels.at(tiny.form)<<<1, 1>>>(device, tiny.a, tiny.b, tiny.c);
    WARPGAUGE_CUDA(cudaGetLastError());
    double result = 0;
    WARPGAUGE_CUDA(cudaMemcpy(&result, device, sizeof result, cudaMemcpyDeviceToHost));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(result), std::bit_cast<std::uint64_t>(tiny.result))
        << tiny.form << " of " << tiny.a << ", " << tiny.b << ", " << tiny.c << " is " << result;
  }
  WARPGAUGE_CUDA(cudaFree(device));
}

}  // namespace
}  // namespace warpgauge::tiny_results
