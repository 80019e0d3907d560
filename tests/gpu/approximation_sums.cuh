// Sums over the results of the device's approximate functions (tests/support/result_sum.h).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/gpu/approximation_forms.cuh"
#include "tests/support/result_sum.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge::approximation {

constexpr unsigned kThreads = 256;

/// Adds up what the threads of a block have, to *to.
__device__ inline void add_block(std::uint64_t sum, std::uint64_t* to) {
  __shared__ std::uint64_t all[kThreads];
  all[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) all[threadIdx.x] += all[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(reinterpret_cast<unsigned long long*>(to), all[0]);
}

/// Blocks of 2^16 arguments; a sum of 2^22.
template <typename Form>
__global__ void sum_words(std::uint64_t* sums) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = threadIdx.x; i < 1 << 16; i += kThreads) {
    const std::uint32_t x = blockIdx.x << 16 | i;
    sum += support::sum_term(x, Form::of(x));
  }
  add_block(sum, sums + blockIdx.x / 64);
}

/// Sums of single values, of lower halves of pairs, of upper halves: a block for each argument's
/// upper byte.
template <typename Form>
__global__ void sum_halves(std::uint64_t* sums) {
  const std::uint32_t x = blockIdx.x << 8 | threadIdx.x, other = 65535 - x;
  const std::uint32_t pair = Form::of_pair(x | other << 16);
  add_block(support::sum_term(x, Form::of(x)), sums);
  add_block(support::sum_term(x, pair & 0xffff), sums + 1);
  add_block(support::sum_term(other, pair >> 16), sums + 2);
}

/// A block for each pair of exponents; a sum for each of the first.
template <typename Form, std::uint32_t kPairs>
__global__ void sum_quotients(std::uint64_t* sums) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = threadIdx.x; i < kPairs; i += kThreads) {
    const support::FloatPair pair = support::float_pair(blockIdx.x, i);
    sum += support::sum_term(i, Form::of(pair.a, pair.b));
  }
  add_block(sum, sums + (blockIdx.x >> 8));
}

/// rsqrt.approx.f64: a block for each sign and exponent; a sum for 256 of them.
template <typename = void>
__global__ void sum_inverse_roots(std::uint64_t* sums) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = threadIdx.x; i < 4096; i += kThreads) {
    const std::uint64_t x = support::double_with(blockIdx.x, i);
    double result;
    asm volatile("rsqrt.approx.f64 %0, %1;" : "=d"(result) : "d"(__longlong_as_double(x)));
    sum += support::sum_term_64(i, static_cast<std::uint64_t>(__double_as_longlong(result)));
  }
  add_block(sum, sums + (blockIdx.x >> 8));
}

/// The sums of one of the kernels above, run by `blocks` blocks.
inline std::vector<std::uint64_t> sums(void (*kernel)(std::uint64_t*), unsigned blocks,
                                       std::size_t count) {
  std::uint64_t* device = nullptr;
  const std::size_t bytes = count * sizeof(std::uint64_t);
  std::vector<std::uint64_t> host(count);
  WARPGAUGE_CUDA(cudaMalloc(&device, bytes));
  WARPGAUGE_CUDA(cudaMemset(device, 0, bytes));
  kernel<<<blocks, kThreads>>>(device);
  WARPGAUGE_CUDA(cudaGetLastError());
  WARPGAUGE_CUDA(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
  WARPGAUGE_CUDA(cudaFree(device));
  return host;
}

/// The sums of few pairs, then of many.
template <typename Form>
std::vector<std::uint64_t> quotient_sums() {
  auto all = sums(sum_quotients<Form, support::kFewPairs>, 65536, 256);
  const auto of_many = sums(sum_quotients<Form, support::kManyPairs>, 65536, 256);
  all.insert(all.end(), of_many.begin(), of_many.end());
  return all;
}

/// Calls visit(name, sums) for each form.
template <typename Visit>
void all_sums(const Visit& visit) {
  const auto of_words = [&]<typename... Forms>() {
    (visit(Forms::kName, sums(sum_words<Forms>, 65536, 1024)), ...);
  };
  of_words.template operator()<Rcp, RcpFtz, Rsqrt, RsqrtFtz, Sqrt, SqrtFtz, Ex2, Ex2Ftz, Lg2,
                               Lg2Ftz, Sin, SinFtz, Cos, CosFtz, Tanh, RcpDouble, RsqrtDouble>();
  const auto of_quotients = [&]<typename... Forms>() {
    (visit(Forms::kName, quotient_sums<Forms>()), ...);
  };
  of_quotients.template operator()<Div, DivFtz, DivFull, DivFullFtz>();
  visit("rsqrt.approx.f64", sums(sum_inverse_roots<>, 4096, 16));
  const auto of_halves = [&]<typename... Forms>() {
    (visit(Forms::kName, sums(sum_halves<Forms>, 256, 3)), ...);
  };
  of_halves.template operator()<Ex2Half, Ex2BFloat, TanhHalf, TanhBFloat>();
}

}  // namespace warpgauge::approximation
