// A program of the driver alone, as compilers at run time write them: it loads PTX, looks for its
// kernel and launches that. With an argument it swallows the error of loading what cannot run.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>

// Shared memory is read with a stride of two words: two lanes meet in each bank.
constexpr char kPtx[] = R"(.version 7.8
.target sm_70
.address_size 64
.visible .entry strided(.param .u64 out)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 words[256];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 3;
  mov.u32 %r3, words;
  add.u32 %r2, %r3, %r2;
  st.shared.u32 [%r2], %r1;
  bar.sync 0;
  ld.shared.u32 %r4, [%r2];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;
  ret;
}
)";

/// Prints and ends where it is not right.
void require(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("FAILED: %s\n", what);
  std::exit(EXIT_FAILURE);
}
#define REQUIRE(condition) require(condition, #condition)

int main(int argc, char** argv) {
  CUcontext context = nullptr;
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
  REQUIRE(cuCtxSetCurrent(context) == CUDA_SUCCESS);
  CUmodule module = nullptr;
  if (argc > 1) cuModuleLoad(&module, argv[1]);
  REQUIRE(cuModuleLoadData(&module, kPtx) == CUDA_SUCCESS);
  CUfunction strided = nullptr;
  REQUIRE(cuModuleGetFunction(&strided, module, "strided") == CUDA_SUCCESS);
  CUdeviceptr out = 0;
  REQUIRE(cuMemAlloc(&out, 32 * sizeof(unsigned)) == CUDA_SUCCESS);
  void* arguments[] = {&out};
  REQUIRE(cuLaunchKernel(strided, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) ==
          CUDA_SUCCESS);
  unsigned words[32] = {};
  REQUIRE(cuMemcpyDtoH(words, out, sizeof words) == CUDA_SUCCESS);
  for (unsigned i = 0; i < 32; ++i) REQUIRE(words[i] == i);
  REQUIRE(cuModuleUnload(module) == CUDA_SUCCESS);
  REQUIRE(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
  std::puts("PASSED");
}
