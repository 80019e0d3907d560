// Kernels for the test of OrderOfThreads. Accesses whose counts can depend on the order of
// threads are marked "depends"; all others are a property of code and input.
extern "C" {

// The compiler makes a loop of compare and swap, which runs again if another warp came first.
__global__ void swap_until_done(unsigned long long* out, const unsigned long long* in) {
  __shared__ unsigned long long least;
  if (threadIdx.x == 0) least = ~0ull;
  __syncthreads();
  atomicMin(&least, in[threadIdx.x]);  // depends
  __syncthreads();
  out[threadIdx.x] = least;
}

__global__ void swap_in_global(int* word) {
  int old = *word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, 3 * seen);  // depends
  } while (old != seen);
  word[threadIdx.x + 1] = seen;  // depends
}

__global__ void swap_once_each(int* out, int n) {
#pragma unroll 1
  for (int i = 0; i < n; ++i) atomicCAS(&out[i], int(threadIdx.x), i);
}

__global__ void result_stored(int* out, int* n) { out[threadIdx.x] = atomicAdd(n, 1); }

__global__ void histogram(unsigned* bins, const unsigned char* in, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[in[i]], 1u);
}

// Exactly one block is the last, but machine code does not say so.
__global__ void last_block(float* sums, const float* in, unsigned* done) {
  __shared__ bool last;
  sums[blockIdx.x] = in[blockIdx.x];
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  float sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < gridDim.x; ++i) {
    sum += __ldcg(&sums[i]);  // depends
  }
  sums[0] = sum;  // depends
}

__global__ void tickets(int* out, int* next, int tiles, const int* in) {
  __shared__ int tile;
  for (;;) {
    if (threadIdx.x == 0) {
      const int mine = atomicAdd(next, 1);  // depends
      tile = mine;  // depends
    }
    __syncthreads();
    const int i = tile;  // depends
    if (i >= tiles) return;
    out[i * 128 + threadIdx.x] = in[i * 128 + threadIdx.x];  // depends
    __syncthreads();
  }
}

__global__ void spin(volatile int* flag, int* out) {
  while (*flag == 0) {  // depends
  }
  out[threadIdx.x] = 1;
}

__global__ void spin_acquire(int* flag, int* out) {
  int value;
  do {
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");  // depends
  } while (value == 0);
  out[threadIdx.x] = 1;
}

__global__ void spin_relaxed(int* flag, int* out) {
  int value;
  do {
    asm volatile("ld.relaxed.cta.global.s32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");  // depends
  } while (value == 0);
  out[threadIdx.x] = 1;
}

// Values that are volatile, but decide nothing. ptxas computes the address of `sums` under the
// predicate that guards the store.
__global__ void volatile_sum(const volatile int* in, int* out, int n) {
  __shared__ int sums[32];
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  out[threadIdx.x] = sums[threadIdx.x % 32];
}

__global__ void compaction(int* out, int* n, const int* in) {
  const int x = in[threadIdx.x];
  if (x > 0) {
    const int at = atomicAdd(n, 1);
    out[at] = x;  // depends
  }
}

// The result goes through shared memory.
__global__ void one_atomic_a_block(int* out, int* n, const int* in) {
  __shared__ int first;
  if (threadIdx.x == 0) first = atomicAdd(n, 256);
  __syncthreads();
  const int at = first + threadIdx.x;
  out[at] = in[threadIdx.x];  // depends
}

// The values are those of the input, but their places are not.
__global__ void places_in_shared(int* out, const int* in) {
  __shared__ int n, values[256];
  if (threadIdx.x == 0) n = 0;
  __syncthreads();
  const int x = in[threadIdx.x];
  const int at = atomicAdd(&n, 1);
  values[at] = x;  // depends
  __syncthreads();
  const int mine = values[threadIdx.x];
  out[mine] = 1;  // depends
}

// Whichever case it is, all go on with the store.
__global__ void switched(int* out, int* n) {
  int x = threadIdx.x;
  const int mine = atomicAdd(n, 1);
  switch (mine) {
    case 0: x = out[1]; break;              // depends
    case 1: x = out[2] * 7; break;          // depends
    case 2: x = out[3] / 5; break;          // depends
    case 3: x = __popc(out[4]); break;      // depends
    case 4: x = out[5] ^ out[9]; break;     // depends
    case 5: x = __clz(out[6]); break;       // depends
    case 6: x = __ffs(out[7]); break;       // depends
    case 7: x = __brev(out[8]); break;      // depends
  }
  out[threadIdx.x] = x;
}

__global__ void votes(int* out, int* n) {
  const int mine = atomicAdd(n, 1);
  if (__syncthreads_or(mine == 77)) {
    out[threadIdx.x] = 5;  // depends
  }
}

__device__ __noinline__ int taken(int* n) { return atomicAdd(n, 1); }
__global__ void called(int* out, int* n) {
  const int at = taken(n);
  out[at] = 1;  // depends
}

__global__ void allocated(int** out) {
  int* own = static_cast<int*>(malloc(64));
  own[threadIdx.x % 16] = 3;  // depends
  out[threadIdx.x] = own;
}

// Machine code does not show that the load is volatile; the PTX beside it does.
__global__ void spin_in_shared(int* out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) flag = 1;
  while (flag == 0) {  // depends
  }
  out[threadIdx.x] = 1;
}

#if __CUDA_ARCH__ >= 900
// The rounds of the wait are a matter of time.
__global__ void waits(int* out, unsigned barrier) {
  int done;
#pragma unroll 1
  do {
    asm volatile("{ .reg .pred p;"
                 "mbarrier.try_wait.parity.shared.b64 p, [%1], 0;"
                 "selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(barrier) : "memory");  // counted nowhere
    out[0] = done;  // depends
  } while (!done);
  out[threadIdx.x + 1] = 1;
}
#endif

}
