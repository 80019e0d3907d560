// Kernels of which the cubin says what Hopper brought: clusters and setmaxnreg.
__global__ void __cluster_dims__(4, 2, 1) in_cluster(float* out) { out[threadIdx.x] = 1; }

__global__ void __launch_bounds__(384, 1) specialised(float* out) {
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    out[threadIdx.x] = 1;
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    out[threadIdx.x] = out[threadIdx.x + 1024];
  }
}
