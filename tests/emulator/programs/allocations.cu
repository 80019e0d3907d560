// Memory that is allocated, used and freed, in the way that the argument names, right or wrong.
#include <cstdio>
#include <cstring>

__global__ void fill(float* data) { data[threadIdx.x] = float(threadIdx.x); }  // filled here
__global__ void add_one(float* data) { data[threadIdx.x] += 1; }               // added here

constexpr int kCount = 64;
constexpr std::size_t kBytes = kCount * sizeof(float);

void leak(bool frees) {
  float *data[3], *managed;
  cudaArray_t array;
  for (float*& each : data) cudaMalloc(&each, kBytes);
  cudaMallocManaged(&managed, 2 * kBytes);
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &channels, kCount);
  fill<<<1, kCount>>>(data[1]);
  cudaFree(data[1]);
  if (!frees) return;
  cudaFree(data[0]);
  cudaFree(data[2]);
  cudaFree(managed);
  cudaFreeArray(array);
}

int main(int argc, char** argv) {
  const char* const chosen = argc > 1 ? argv[1] : "ordered";
  const auto way = [&](const char* name) { return std::strcmp(chosen, name) == 0; };
  leak(!way("leaks") && !way("reset"));
  if (way("twice") || way("inside")) {
    float* data;
    cudaMalloc(&data, kBytes);
    fill<<<1, kCount>>>(data);
    if (way("inside")) cudaFree(data + 1);
    cudaFree(data);
    if (way("twice")) cudaFree(data);
  }

  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEvent_t allocated, used;
  cudaEventCreate(&allocated);
  cudaEventCreate(&used);
  float* data;
  cudaMallocAsync(&data, kBytes, first);
  if (way("waits")) {
    cudaStreamSynchronize(first);
  } else if (!way("early") && !way("early_fill")) {
    cudaEventRecord(allocated, first);
    cudaStreamWaitEvent(second, allocated);
  }
  if (way("early_fill")) {
    cudaMemsetAsync(data, 0, kBytes, second);
  } else {
    fill<<<1, kCount, 0, second>>>(data);
    add_one<<<1, kCount, 0, second>>>(data);
  }
  if (way("waits")) {
    cudaStreamSynchronize(second);
  } else if (!way("late")) {
    cudaEventRecord(used, second);
    cudaStreamWaitEvent(first, used);
  }
  cudaFreeAsync(data, first);

  const cudaError_t error = cudaDeviceSynchronize();
  if (way("reset")) cudaDeviceReset();
  std::printf("%s\n", error == cudaSuccess ? "PASSED" : cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
