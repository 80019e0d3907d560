// Kernels of one warp that access memory once: one template, a struct for each instruction.
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace warpgauge::metrics::access_test {

// Byte offsets of the lanes. A parameter of the kernel, so that reading it counts as no access.
struct Pattern {
  std::uint32_t mask;
  std::uint32_t offsets[32];
  std::uint32_t global_offsets[32];  // of the global side of copies; else the same
};

// The address of a lane.
struct Place {
  unsigned char* shared;
  unsigned char* global;
  std::uint32_t offset;
};

template <typename T>
__device__ unsigned fold(T value) {
  return value;
}
inline __device__ unsigned fold(unsigned long long value) {
  return static_cast<unsigned>(value) ^ static_cast<unsigned>(value >> 32);
}
inline __device__ unsigned fold(uint4 value) { return value.x ^ value.y ^ value.z ^ value.w; }

template <typename T>
__device__ T make() {
  return static_cast<T>(threadIdx.x);
}
template <>
inline __device__ uint4 make<uint4>() {
  return make_uint4(threadIdx.x, 1, 2, 3);
}

template <typename T>
__device__ T& at(unsigned char* address) {
  return *reinterpret_cast<T*>(address);
}

// The results of loads are used whole (fold), because ptxas narrows a load if a part is enough.
template <typename T>
struct SharedLoad {
  static __device__ unsigned run(const Place& p) { return fold(at<T>(p.shared)); }
};
template <typename T>
struct SharedStore {
  static __device__ unsigned run(const Place& p) {
    at<T>(p.shared) = make<T>();
    return 0;
  }
};
template <typename T>
struct GlobalLoad {
  static __device__ unsigned run(const Place& p) { return fold(at<T>(p.global)); }
};
template <typename T>
struct GlobalStore {
  static __device__ unsigned run(const Place& p) {
    at<T>(p.global) = make<T>();
    return 0;
  }
};

constexpr std::uint32_t kLocalBytes = 1024;
// A store to an element unknown at compile time keeps the array in memory. The test leaves its line
// out.
constexpr int kLocalStoreLine = __LINE__ + 3;
template <typename T>
__device__ void store_somewhere(T* memory, std::uint32_t offset) {
  memory[(offset / 4 + 7) % (kLocalBytes / sizeof(T))] = make<T>();
}
template <typename T>
struct LocalLoad {
  static __device__ unsigned run(const Place& p) {
    T memory[kLocalBytes / sizeof(T)];
    store_somewhere(memory, p.offset);
    return fold(memory[p.offset % kLocalBytes / sizeof(T)]);
  }
};

// ptxas makes of each atomic the instruction that is named above it.

// ATOMS.ADD with a result.
struct SharedAdd {
  static __device__ unsigned run(const Place& p) { return atomicAdd(&at<unsigned>(p.shared), 2u); }
};
// ATOMS.EXCH.
struct SharedExchange {
  static __device__ unsigned run(const Place& p) { return atomicExch(&at<unsigned>(p.shared), 2u); }
};
// ATOMS.EXCH.64.
struct SharedExchange64 {
  static __device__ unsigned run(const Place& p) {
    return fold(atomicExch(&at<unsigned long long>(p.shared), 2ull));
  }
};
// ATOMS.MAX without a result: shared memory has no RED.
struct SharedReduceMax {
  static __device__ unsigned run(const Place& p) {
    atomicMax(&at<unsigned>(p.shared), threadIdx.x);
    return 0;
  }
};
// ATOMS.ADD without a result.
struct SharedReduceAdd {
  static __device__ unsigned run(const Place& p) {
    atomicAdd(&at<unsigned>(p.shared), threadIdx.x);
    return 0;
  }
};
// ATOMS.POPC.INC without a result; ATOMS.ADD on sm_75.
struct SharedIncrement {
  static __device__ unsigned run(const Place& p) {
    atomicAdd(&at<unsigned>(p.shared), 1u);
    return 0;
  }
};
// ATOMS.CAS.
struct SharedCas {
  static __device__ unsigned run(const Place& p) {
    return atomicCAS(&at<unsigned>(p.shared), 5u, threadIdx.x);
  }
};
// ATOMS.CAS.64.
struct SharedCas64 {
  static __device__ unsigned run(const Place& p) {
    const unsigned long long value = threadIdx.x;
    return fold(atomicCAS(&at<unsigned long long>(p.shared), 5ull, value));
  }
};
// ATOMG.ADD with a result.
struct GlobalAdd {
  static __device__ unsigned run(const Place& p) { return atomicAdd(&at<unsigned>(p.global), 2u); }
};
// RED.ADD, which has no result.
struct GlobalReduceAdd {
  static __device__ unsigned run(const Place& p) {
    atomicAdd(&at<unsigned>(p.global), threadIdx.x);
    return 0;
  }
};
// RED.ADD.64.
struct GlobalReduceAdd64 {
  static __device__ unsigned run(const Place& p) {
    atomicAdd(&at<unsigned long long>(p.global), 2ull);
    return 0;
  }
};
// RED.ADD.F32.
struct GlobalReduceFloat {
  static __device__ unsigned run(const Place& p) {
    atomicAdd(&at<float>(p.global), 1.0f);
    return 0;
  }
};

inline __device__ unsigned window(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

struct LoadMatrix1 {
  static __device__ unsigned run(const Place& p) {
    unsigned v;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(v)
                 : "r"(window(p.shared)));
    return v;
  }
};
struct LoadMatrix2 {
  static __device__ unsigned run(const Place& p) {
    unsigned v, w;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(v), "=r"(w)
                 : "r"(window(p.shared)));
    return v ^ w;
  }
};
struct LoadMatrix4 {
  static __device__ unsigned run(const Place& p) {
    uint4 v;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(window(p.shared)));
    return fold(v);
  }
};
struct StoreMatrix1 {
  static __device__ unsigned run([[maybe_unused]] const Place& p) {
#if __CUDA_ARCH__ >= 900
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(window(p.shared)),
                 "r"(threadIdx.x));
#endif
    return 0;
  }
};
struct StoreMatrix4 {
  static __device__ unsigned run([[maybe_unused]] const Place& p) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(window(p.shared)),
        "r"(threadIdx.x));
#endif
    return 0;
  }
};

inline __device__ unsigned wait() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
  return 0;
}

template <int kBytes>  // 4, 8: cp.async.ca; 16: cp.async.cg
struct AsyncCopy {
  static __device__ unsigned run(const Place& p) {
    __pipeline_memcpy_async(p.shared, p.global, kBytes);
    return wait();
  }
};
struct AsyncCopyThroughL1 {
  static __device__ unsigned run([[maybe_unused]] const Place& p) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(window(p.shared)),
                 "l"(p.global));
#endif
    return wait();
  }
};

// Uses what an access returns, so that ptxas keeps it. The test leaves this line out.
constexpr int kKeepLine = __LINE__ + 1;
inline __device__ void keep(unsigned* out, unsigned value) { out[threadIdx.x] = value; }

template <typename Access>
__global__ void access(const __grid_constant__ Pattern pattern, unsigned char* buffer,
                       unsigned* out) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned lane = threadIdx.x;
  if ((pattern.mask >> lane & 1) == 0) return;
  const std::uint32_t offset = pattern.offsets[lane];
  const unsigned value =
      Access::run({shared + offset, buffer + pattern.global_offsets[lane], offset});
  keep(out, value);
}

// The load is predicated, not branched around, so that it is executed also if no lane is on.
__global__ void predicated_load(std::uint32_t mask, unsigned* out) {
  extern __shared__ __align__(1024) unsigned char shared[];
  unsigned value = threadIdx.x;
  if ((mask >> threadIdx.x & 1) != 0) value = at<unsigned>(shared + 4 * threadIdx.x);
  keep(out, value);
}

}  // namespace warpgauge::metrics::access_test
