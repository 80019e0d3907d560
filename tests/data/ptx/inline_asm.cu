// Typical inline asm: blocks with their own names, labels, copies, matrices.
#include <cuda_fp16.h>

#include <cstdint>

__device__ uint32_t address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__global__ void blocks(int* p) {
  int x = p[0], y;
  asm volatile(
      "{\n\t.reg .pred p;\n\t.reg .b32 t<3>, u;\n\tsetp.gt.s32 p, %1, 0;\n\t"
      "@p add.s32 %0, %1, 0x10;\n\t@!p mov.u32 %0, -1;\n\tmov.b32 t1, 1;\n\t"
      "add.s32 %0, %0, t1;\n\t}"
      : "=r"(y)
      : "r"(x));
  asm volatile(
      "{ .reg .pred p; WAIT: setp.eq.s32 p, %0, 0U;"
      "{ .reg .pred p; setp.ne.u32 p, %0, 3; @p bra DONE; } @p bra WAIT; DONE: }" ::"r"(y));
  asm volatile("{ .reg .pred p; WAIT: setp.eq.s32 p, %0, 1; @p bra.uni WAIT; }" ::"r"(y));
  asm("{ .reg .pred p,q; setp.lt.and.s32 p|q, %1, 5, 1; selp.b32 %0, 1, 0, q; }"
      : "=r"(y)
      : "r"(x));
  asm("mul.lo.s32 %0, %0, 077; // octal\n add.s32 %0, %0, 0b101; /* */ add.s32 %0, %0, (1<<4)|3;"
      : "+r"(y));
  asm volatile("st.global.v2.b32 [%0+8], {%1, %2};" ::"l"(p), "r"(x), "r"(y) : "memory");
}

__global__ void matrices(const __half* a, float* c, __half2* h, uint64_t* g) {
  __shared__ alignas(16) __half tile[256];
  __shared__ uint64_t barrier;
  uint32_t r[4];
  float acc[4] = {};
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.wait_all;" ::"r"(
                   address(tile + threadIdx.x * 8)),
               "l"(a));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address(tile)));
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(r[0]), "r"(r[1]), "r"(r[2]));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(&barrier)),
               "r"(64));
  asm volatile(
      "{\n.reg .pred P1;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1 bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(address(&barrier)),
      "r"(0));
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%2, %3}], [%4];" ::"r"(address(tile)),
      "l"(g), "r"(0), "r"(1), "r"(address(&barrier))
      : "memory");
  h[0] = __hfma2(h[1], h[2], h[3]);
  for (int i = 0; i < 4; ++i) c[threadIdx.x * 4 + i] = acc[i];
}
