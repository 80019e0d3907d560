// Known lines for the test of SourceLines: lines_sm90.cubin is this file, compiled with CUDA 13.0
// in /tmp/warpgauge by nvcc -arch=sm_90 -cubin -lineinfo lines.cu -o lines_sm90.cubin, and
// no_lines_sm90.cubin is the same without -lineinfo.

extern "C" __global__ void copy(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x];
}

extern "C" __global__ void count(int* counter) {
  atomicAdd(counter, 1);
}
