// A launch that fills and one that reads it, ordered in the way that the argument names, or not.
#include <cstdio>
#include <cstring>

__global__ void fill(float* data) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  data[i] = float(i);  // filled here
}

// `kByOne`: thread 0 waits for the launch before, and the block for thread 0.
template <bool kWaits, bool kByOne = false>
__global__ void twice(float* out, const float* data) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 900
  if (kWaits && (!kByOne || threadIdx.x == 0)) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  if (kByOne) __syncthreads();
  out[i] = 2 * data[i];  // read here
}

constexpr int kBlocks = 4, kThreads = 64, kCount = kBlocks * kThreads;

template <typename... Arguments>
void launch_dependent(cudaStream_t stream, void (*kernel)(Arguments...), Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, arguments...);
}

int main(int argc, char** argv) {
  const char* const chosen = argc > 1 ? argv[1] : "event";
  const auto way = [&](const char* name) { return std::strcmp(chosen, name) == 0; };
  float *data, *out;
  cudaMalloc(&data, kCount * sizeof(float));
  cudaMalloc(&out, kCount * sizeof(float));
  cudaStream_t streams[3];
  const unsigned flags = way("legacy") ? cudaStreamDefault : cudaStreamNonBlocking;
  for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, flags);
  cudaEvent_t filled, handed_on;
  cudaEventCreate(&filled);
  cudaEventCreate(&handed_on);

  cudaStream_t reader = streams[1];
  fill<<<kBlocks, kThreads, 0, streams[0]>>>(data);
  if (way("event") || way("events")) {
    cudaEventRecord(filled, streams[0]);
    cudaStreamWaitEvent(streams[way("event") ? 1 : 2], filled);
  }
  if (way("events")) {  // over a third stream
    cudaEventRecord(handed_on, streams[2]);
    cudaStreamWaitEvent(reader, handed_on);
  }
  if (way("late_event")) {  // the reader does not wait for it
    cudaEventRecord(filled, streams[0]);
    cudaStreamWaitEvent(streams[2], filled);
  }
  if (way("program")) cudaStreamSynchronize(streams[0]);
  if (way("query")) {
    while (cudaStreamQuery(streams[0]) != cudaSuccess) {
    }
  }
  if (way("one_stream") || std::strncmp(chosen, "dependent", 9) == 0) reader = streams[0];
  if (way("legacy")) reader = nullptr;

  if (way("dependent")) {
    launch_dependent(reader, twice<false>, out, static_cast<const float*>(data));
  } else if (way("dependent_waits")) {
    launch_dependent(reader, twice<true>, out, static_cast<const float*>(data));
  } else if (way("dependent_waits_by_one")) {
    launch_dependent(reader, twice<true, true>, out, static_cast<const float*>(data));
  } else if (way("dependent_behind_a_copy")) {
    cudaMemsetAsync(out, 0, kCount * sizeof(float), reader);
    launch_dependent(reader, twice<false>, out, static_cast<const float*>(data));
  } else {
    twice<false><<<kBlocks, kThreads, 0, reader>>>(out, data);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", error == cudaSuccess ? "PASSED" : cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
