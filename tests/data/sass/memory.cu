// One access of each kind and width, for the test of memory_instructions().
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T>
__device__ void plain(char* global, const char* __restrict__ constant, char* generic, int lane) {
  __shared__ T shared[64];
  const T* source = reinterpret_cast<const T*>(constant);
  shared[lane] = source[lane];
  __syncthreads();
  reinterpret_cast<T*>(global)[lane] = shared[lane ^ 1];
  T* either = lane > 40 ? reinterpret_cast<T*>(generic) : shared;
  either[lane] = either[lane + 3];
  __syncthreads();
  reinterpret_cast<T*>(global)[lane + 99] = shared[lane ^ 2];
}

template <typename T>
__device__ void atomics(T* global, T* generic, int lane, T value) {
  __shared__ T shared[64];
  shared[lane] = value;
  __syncthreads();
  global[lane] = atomicAdd(&shared[lane / 2], value) + atomicExch(&shared[lane / 3], value);
  global[lane + 7] += atomicAdd(&global[lane / 2], value);
  atomicAdd(&global[3], value);
  global[9] += atomicAdd(&generic[lane], value);
}

template <typename T>
__device__ void integer_atomics(T* global, T* generic, int lane, T value) {
  __shared__ T shared[64];
  shared[lane] = value;
  __syncthreads();
  atomicMax(&global[4], value);
  atomicMin(&shared[lane / 4], value);
  global[5] += atomicCAS(&shared[lane / 5], value, T(lane));
  global[6] += atomicCAS(&global[lane / 6], value, T(lane));
  global[7] += atomicCAS(&generic[lane / 7], value, T(lane));
}

extern "C" __global__ void memory(char* global, const char* __restrict__ constant, char* generic,
                                  const int* indices, cudaTextureObject_t texture,
                                  cudaSurfaceObject_t surface) {
  const int lane = threadIdx.x;
  if (lane > 32) generic = nullptr;
  plain<signed char>(global, constant, generic, lane);
  plain<unsigned char>(global, constant, generic, lane);
  plain<short>(global, constant, generic, lane);
  plain<unsigned short>(global, constant, generic, lane);
  plain<int>(global, constant, generic, lane);
  plain<int2>(global, constant, generic, lane);
  plain<int4>(global, constant, generic, lane);

  double local[20];
  int4 wide_local[20];
  for (int i = 0; i < 20; ++i) local[indices[i]] = wide_local[indices[i + 4]].x = indices[i];
  reinterpret_cast<double*>(global)[7] = local[indices[21]] + wide_local[indices[25]].x;

  atomics(reinterpret_cast<unsigned*>(global), reinterpret_cast<unsigned*>(generic), lane,
          3u + lane);
  atomics(reinterpret_cast<float*>(global), reinterpret_cast<float*>(generic), lane, 3.f);
  atomics(reinterpret_cast<unsigned long long*>(global),
          reinterpret_cast<unsigned long long*>(generic), lane, 3ull + lane);
  integer_atomics(reinterpret_cast<int*>(global), reinterpret_cast<int*>(generic), lane, lane + 2);
  integer_atomics(reinterpret_cast<unsigned long long*>(global),
                  reinterpret_cast<unsigned long long*>(generic), lane, lane + 2ull);
  atomicAdd(reinterpret_cast<double*>(global), 2.0);
  reinterpret_cast<double*>(global)[3] += atomicAdd(reinterpret_cast<double*>(global), 2.0);
  atomicAdd(reinterpret_cast<__half2*>(global), __half2{});

  __shared__ alignas(16) unsigned shared[1024];
  atomicAdd(&shared[lane / 4], 1u);
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(shared + 4 * lane));
  unsigned a, b, c, d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(address));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(b), "=r"(c)
               : "r"(address + a));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(address + b + c));
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(global));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(address), "l"(global));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(address), "l"(global));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(global));
  asm volatile("cp.async.wait_all;");
#endif
#if __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(address), "r"(a));
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(a),
               "r"(b));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(a), "r"(b), "r"(c), "r"(d));
  asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(global), "f"(1.f));
  float x, y;
  asm volatile("atom.global.add.v2.f32 {%0, %1}, [%2], {%3, %3};"
               : "=f"(x), "=f"(y)
               : "l"(global), "f"(1.f));
  reinterpret_cast<float*>(global)[55] = x + y;
  asm volatile(
      "{\n.reg .b128 v;\nmov.b128 v, {%1, %1};\natom.global.exch.b128 v, [%0], v;\n}" ::"l"(global),
      "l"(5ull));
#endif
#if __CUDA_ARCH__ >= 1000
  float v[8];
  asm volatile("ld.global.v8.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
               : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]),
                 "=f"(v[7])
               : "l"(constant));
  asm volatile("st.global.v8.f32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7};" ::"f"(v[0]), "f"(v[1]),
               "f"(v[2]), "f"(v[3]), "f"(v[4]), "f"(v[5]), "f"(v[6]), "f"(v[7]), "l"(global));
#endif
  float texel = tex2D<float>(texture, 1.f, a) + tex1Dfetch<float>(texture, lane);
  surf2Dwrite(texel + a + b + c + d + shared[lane], surface, 4, 5);
  surf2Dread(&texel, surface, 8, 5);
  reinterpret_cast<float*>(global)[66] = texel;
}
