// A whole program whose host talks to a kernel that runs: questions and answers in mapped memory, a
// word that is copied in another stream, an end that is awaited with an event. With an argument it
// ends without an answer.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <thread>

constexpr int kQuestions = 20;

__global__ void answer(volatile int* question, volatile int* reply, volatile int* word, int* sum) {
  for (int n = 1; n <= kQuestions; ++n) {
    while (*question < n) {
    }
    *reply = *question * 3;
    __threadfence_system();
  }
  while (*word == 0) {
  }
  *sum = *sum + *word;
}

__global__ void twice(int* sum) { *sum *= 2; }

int main(int count, char**) {
  int *question = nullptr, *reply = nullptr, *word = nullptr, *sum = nullptr;
  cudaHostAlloc(&question, sizeof(int), cudaHostAllocMapped);
  cudaHostAlloc(&reply, sizeof(int), cudaHostAllocMapped);
  cudaMalloc(&word, sizeof(int));
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(word, 0, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  *question = *reply = 0;
  cudaStream_t kernels, copies;
  cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
  cudaEvent_t before, end;
  cudaEventCreate(&before);
  cudaEventCreate(&end);

  int wrong = 0;
  int* result = nullptr;
  cudaMallocHost(&result, sizeof(int));
  *result = 0;
  cudaEventRecord(before, kernels);
  answer<<<1, 1, 0, kernels>>>(question, reply, word, sum);
  if (count > 1) return 0;
  twice<<<1, 1, 0, kernels>>>(sum);
  cudaMemcpyAsync(result, sum, sizeof(int), cudaMemcpyDeviceToHost, kernels);
  cudaEventRecord(end, kernels);
  volatile int* const said = question;
  volatile int* const heard = reply;
  for (int n = 1; n <= kQuestions; ++n) {
    *said = n;
    while (*heard != 3 * n) std::this_thread::yield();
  }
  wrong += cudaStreamQuery(kernels) != cudaErrorNotReady;
  wrong += cudaEventQuery(end) != cudaErrorNotReady;
  wrong += cudaEventQuery(before) != cudaSuccess;
  wrong += cudaStreamQuery(copies) != cudaSuccess;
  const int last = 21;
  cudaMemcpyAsync(word, &last, sizeof(int), cudaMemcpyHostToDevice, copies);
  wrong += cudaStreamSynchronize(copies) != cudaSuccess;
  wrong += cudaEventSynchronize(end) != cudaSuccess;
  wrong += cudaStreamQuery(kernels) != cudaSuccess;
  wrong += *result != 42;
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  std::printf("%d wrong, result %d\n%s\n", wrong, *result, wrong == 0 ? "PASSED" : "FAILED");
  return wrong == 0 ? 0 : 1;
}
