// Kernels whose result depends on how blocks interrupt each other, and one whose result does not.
#include <cstdio>
#include <cstring>

/// Each block adds 1. The other words are 0.
__global__ void add(int* sum) {
  if (threadIdx.x == 0) atomicAdd(sum, 1 + sum[3]);
}

/// The same, without an atomic.
__global__ void lose(int* sum) {
  if (threadIdx.x != 0) return;
  const int before = *sum;  // read of lose
  *sum = before + 1;        // write of lose
}

/// Block 0 sets the flag and then the data, which block 1 takes when it sees the flag.
__global__ void flag_first(volatile int* words) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    words[1] = 1;  // flag of flag_first
    words[2] = 7;
  } else {
    while (words[1] == 0) {
    }
    words[0] = words[2];  // data of flag_first
  }
}

/// Block 1 waits for a flag that block 0 sets if it came first.
__global__ void hang(int* words) {
  if (threadIdx.x != 0) return;
  const int place = atomicAdd(words, 1);
  volatile int* const flag = words + 1;
  if (blockIdx.x == 0) {
    if (place == 0) *flag = 1;
  } else {
    while (*flag == 0) {  // wait of hang
    }
  }
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "add";
  int* words = nullptr;
  int result = 0;
  cudaMalloc(&words, 4 * sizeof(int));
  for (int n = 0; n < 2; ++n) {
    cudaMemset(words, 0, 4 * sizeof(int));
    if (std::strcmp(way, "lose") == 0) {
      lose<<<2, 32>>>(words);
    } else if (std::strcmp(way, "flag_first") == 0) {
      flag_first<<<2, 32>>>(words);
    } else if (std::strcmp(way, "hang") == 0) {
      hang<<<2, 32>>>(words);
    } else {
      add<<<2, 32>>>(words);
    }
  }
  cudaMemcpy(&result, words, sizeof result, cudaMemcpyDeviceToHost);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%d %s\n", result, error == cudaSuccess ? "PASSED" : cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
