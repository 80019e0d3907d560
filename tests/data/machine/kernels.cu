// Kernels of the machine's test of compiled code (tests/emulator/compiled_test.cpp): one for each
// construct that control flow and warps have to get right. All take (output, input, n).

using Word = unsigned;

__device__ Word warp_sum(Word value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);
  return value;
}

// Sum of each block of 256.
extern "C" __global__ void reduce(Word* output, const Word* input, int n) {
  __shared__ Word sums[8];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Word of_warp = warp_sum(i < n ? input[i] : 0);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = of_warp;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const Word of_block = warp_sum(threadIdx.x < 8 ? sums[threadIdx.x] : 0);
  if (threadIdx.x == 0) output[blockIdx.x] = of_block;
}

// Columns to rows, 32 x 32 tiles; n columns and rows.
extern "C" __global__ void transpose(Word* output, const Word* input, int n) {
  __shared__ Word tile[32][33];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32, i = threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += blockDim.y) {
    if (x + i < n && y + j < n) tile[j][i] = input[(y + j) * n + x + i];
  }
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += blockDim.y) {
    if (x + j < n && y + i < n) output[(x + j) * n + y + i] = tile[i][j];
  }
}

// Counts of the lowest byte.
extern "C" __global__ void histogram(Word* output, const Word* input, int n) {
  __shared__ Word counts[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&counts[input[i] & 255], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&output[i], counts[i]);
}

// Steps of the 3n+1 sequence: lanes leave the loop at different times.
extern "C" __global__ void collatz(Word* output, const Word* input, int n) {
  Word value = input[threadIdx.x] % 1000 + 1, steps = 0;
  while (value != 1) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    ++steps;
  }
  output[threadIdx.x] = steps;
}

extern "C" __global__ void choose(Word* output, const Word* input, int n) {
  const Word i = threadIdx.x;
  Word result;
  switch (input[i] % 9) {
    case 0: result = i * 3; break;
    case 1: result = i + 77; break;
    case 2: result = i ^ 5; break;
    case 3: result = i / 3; break;
    case 4: result = __popc(i); break;
    case 5: result = __clz(i); break;
    case 6: result = i * i; break;
    case 7: result = i << 3; break;
    default: result = 12345;
  }
  output[i] = result;
}

__device__ __noinline__ void sort(Word* values, int low, int high) {
  if (low >= high) return;
  const Word pivot = values[high];
  int middle = low;
  for (int i = low; i < high; ++i) {
    if (values[i] >= pivot) continue;
    const Word other = values[middle];
    values[middle++] = values[i];
    values[i] = other;
  }
  values[high] = values[middle];
  values[middle] = pivot;
  sort(values, low, middle - 1);
  sort(values, middle + 1, high);
}

// Each thread sorts 16 values of its own: recursion, and local memory behind pointers.
extern "C" __global__ void quicksort(Word* output, const Word* input, int n) {
  Word values[16];
  for (int i = 0; i < 16; ++i) values[i] = input[threadIdx.x * 16 + i];
  sort(values, 0, 15);
  for (int i = 0; i < 16; ++i) output[threadIdx.x * 16 + i] = values[i];
}

struct Shape {
  __device__ virtual Word area(Word x) const = 0;
};
struct Square : Shape {
  Word factor;
  __device__ explicit Square(Word factor) : factor(factor) {}
  __device__ Word area(Word x) const override { return factor * x * x; }
};
struct Frame : Shape {
  Word rest;
  __device__ explicit Frame(Word rest) : rest(rest) {}
  __device__ Word area(Word x) const override { return rest + 4 * x; }
};

// Virtual functions of objects on the heap.
extern "C" __global__ void shapes(Word* output, const Word* input, int n) {
  const Word i = threadIdx.x;
  const Shape* shape;
  if (input[i] % 3 == 0) {
    shape = new Square(i);
  } else {
    shape = new Frame(i);
  }
  output[i] = shape->area(5);
  delete shape;
}

__device__ int lock = 0;

// Each thread takes a ticket under a lock, within a loop that lanes leave one by one.
extern "C" __global__ void tickets(Word* output, const Word* input, int n) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      const Word ticket = *reinterpret_cast<volatile Word*>(output);
      *reinterpret_cast<volatile Word*>(output) = ticket + 1;
      output[1 + blockIdx.x * blockDim.x + threadIdx.x] = ticket;
      __threadfence();
      atomicExch(&lock, 0);
      done = true;
    }
  }
}

__device__ Word arrived = 0;

// All blocks wait for each other in n rounds; then each adds up what the others have written.
extern "C" __global__ void rounds(Word* output, const Word* input, int n) {
  for (int round = 1; round <= n; ++round) {
    if (threadIdx.x == 0) {
      output[blockIdx.x] += round;
      __threadfence();
      atomicAdd(&arrived, 1);
      while (*reinterpret_cast<volatile Word*>(&arrived) < round * gridDim.x) __nanosleep(100);
    }
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  Word sum = 0;
  for (int block = 0; block < gridDim.x; ++block) {
    sum += reinterpret_cast<volatile Word*>(output)[block];
  }
  output[gridDim.x + blockIdx.x] = sum;
}
