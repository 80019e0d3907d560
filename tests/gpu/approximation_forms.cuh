// The approximate functions of PTX on the device, by the name of the instruction.
#pragma once

#include <cstdint>

namespace warpgauge::approximation {

#define WARPGAUGE_FLOAT_FORM(type, name)                                      \
  struct type {                                                               \
    static constexpr const char* kName = name;                                \
    static __device__ std::uint32_t of(std::uint32_t x) {                     \
      float result;                                                           \
      asm volatile(name " %0, %1;" : "=f"(result) : "f"(__uint_as_float(x))); \
      return __float_as_uint(result);                                         \
    }                                                                         \
  };
WARPGAUGE_FLOAT_FORM(Rcp, "rcp.approx.f32")
WARPGAUGE_FLOAT_FORM(RcpFtz, "rcp.approx.ftz.f32")
WARPGAUGE_FLOAT_FORM(Rsqrt, "rsqrt.approx.f32")
WARPGAUGE_FLOAT_FORM(RsqrtFtz, "rsqrt.approx.ftz.f32")
WARPGAUGE_FLOAT_FORM(Sqrt, "sqrt.approx.f32")
WARPGAUGE_FLOAT_FORM(SqrtFtz, "sqrt.approx.ftz.f32")
WARPGAUGE_FLOAT_FORM(Ex2, "ex2.approx.f32")
WARPGAUGE_FLOAT_FORM(Ex2Ftz, "ex2.approx.ftz.f32")
WARPGAUGE_FLOAT_FORM(Lg2, "lg2.approx.f32")
WARPGAUGE_FLOAT_FORM(Lg2Ftz, "lg2.approx.ftz.f32")
WARPGAUGE_FLOAT_FORM(Sin, "sin.approx.f32")
WARPGAUGE_FLOAT_FORM(SinFtz, "sin.approx.ftz.f32")
WARPGAUGE_FLOAT_FORM(Cos, "cos.approx.f32")
WARPGAUGE_FLOAT_FORM(CosFtz, "cos.approx.ftz.f32")
WARPGAUGE_FLOAT_FORM(Tanh, "tanh.approx.f32")
#undef WARPGAUGE_FLOAT_FORM

/// Maps the upper half of a double to that of the result. The lower half of the argument is not 0;
/// that of the result has to be.
#define WARPGAUGE_DOUBLE_FORM(type, name)                                    \
  struct type {                                                              \
    static constexpr const char* kName = name;                               \
    static __device__ std::uint32_t of(std::uint32_t x) {                    \
      const int lower = static_cast<int>(x * 2654435761u);                   \
      double result;                                                         \
      asm volatile(name " %0, %1;"                                           \
                   : "=d"(result)                                            \
                   : "d"(__hiloint2double(static_cast<int>(x), lower)));     \
      const unsigned other = __double2loint(result) != 0 ? 0x55555555u : 0u; \
      return static_cast<std::uint32_t>(__double2hiint(result)) ^ other;     \
    }                                                                        \
  };
WARPGAUGE_DOUBLE_FORM(RcpDouble, "rcp.approx.ftz.f64")
WARPGAUGE_DOUBLE_FORM(RsqrtDouble, "rsqrt.approx.ftz.f64")
#undef WARPGAUGE_DOUBLE_FORM

/// Functions of one half, and of a pair in a register. PTX has them from sm_75 or sm_90 on.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define WARPGAUGE_SINCE_SM_90(statement) statement
#else
#define WARPGAUGE_SINCE_SM_90(statement)
#endif
#define WARPGAUGE_HALF_FORM(type, name)                                               \
  struct type {                                                                       \
    static constexpr const char* kName = name;                                        \
    static __device__ std::uint32_t of(std::uint32_t x) {                             \
      std::uint16_t result = 0;                                                       \
      WARPGAUGE_SINCE_SM_90(asm volatile(name " %0, %1;"                              \
                                         : "=h"(result)                               \
                                         : "h"(static_cast<std::uint16_t>(x)));)      \
      return result;                                                                  \
    }                                                                                 \
    static __device__ std::uint32_t of_pair(std::uint32_t x) {                        \
      std::uint32_t result = 0;                                                       \
      WARPGAUGE_SINCE_SM_90(asm volatile(name "x2 %0, %1;" : "=r"(result) : "r"(x));) \
      return result;                                                                  \
    }                                                                                 \
  };
WARPGAUGE_HALF_FORM(Ex2Half, "ex2.approx.f16")
WARPGAUGE_HALF_FORM(Ex2BFloat, "ex2.approx.ftz.bf16")
WARPGAUGE_HALF_FORM(TanhHalf, "tanh.approx.f16")
WARPGAUGE_HALF_FORM(TanhBFloat, "tanh.approx.bf16")
#undef WARPGAUGE_HALF_FORM
#undef WARPGAUGE_SINCE_SM_90

#define WARPGAUGE_QUOTIENT_FORM(type, name)                                \
  struct type {                                                            \
    static constexpr const char* kName = name;                             \
    static __device__ std::uint32_t of(std::uint32_t x, std::uint32_t y) { \
      float result;                                                        \
      asm volatile(name " %0, %1, %2;"                                     \
                   : "=f"(result)                                          \
                   : "f"(__uint_as_float(x)), "f"(__uint_as_float(y)));    \
      return __float_as_uint(result);                                      \
    }                                                                      \
  };
WARPGAUGE_QUOTIENT_FORM(Div, "div.approx.f32")
WARPGAUGE_QUOTIENT_FORM(DivFtz, "div.approx.ftz.f32")
WARPGAUGE_QUOTIENT_FORM(DivFull, "div.full.f32")
WARPGAUGE_QUOTIENT_FORM(DivFullFtz, "div.full.ftz.f32")
#undef WARPGAUGE_QUOTIENT_FORM

}  // namespace warpgauge::approximation
