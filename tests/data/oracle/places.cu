// Kernels for the test of where accesses stand. Each has one access that ptxas puts elsewhere or has
// several of, as the names of the kernels say.
extern "C" {

// A loop that ptxas unrolls, with a rest: lanes leave it at different times.
__global__ void copies_of_a_loop(float* out, const float* in, int n) {
  float most = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < n; i += 32u) {
    const float x = in[i];
    const float larger = most > x ? most : x;
    sum = (most > x ? sum : 1) * __expf((most > x ? x : most) - larger) + (most > x ? 1 : sum);
    most = larger;
  }
  out[threadIdx.x] = sum;
}

// So many values that ptxas loads them again in each round of the loop.
__global__ void __launch_bounds__(1024) loaded_again(double* out, const double* __restrict__ in,
                                                     int n) {
  double values[40];
#pragma unroll
  for (int i = 0; i < 40; ++i) values[i] = in[i];
  float sum = 0;
#pragma unroll 1
  for (int round = 0; round < n; ++round) {
#pragma unroll
    for (int i = 0; i < 40; ++i) sum = sum * values[i] + round;
    out[round] = sum;
  }
}

// The pointer is loaded where the loop needs it.
__global__ void needed_later(float* sums, const float* const* rows, int n) {
  const float* row = rows[threadIdx.x];
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += row[i];
  sums[threadIdx.x] = sum;
}

// Lanes come to the same access by several ways, and wait for each other before it.
__global__ void meet_before(float* out, const float* in, const int* keys, int n) {
  int key = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    key = keys[threadIdx.x + 32 * i];
    if (key == i) goto found;
    if (key < 0) return;
  }
  if (keys[threadIdx.x] != 5) return;
found:
  out[threadIdx.x] = in[key];
}

// Lanes come to the same access by several ways, and wait for each other only behind it.
__global__ void meet_behind(int* out, const int* in, const int* keys, int n) {
  int key = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    key = keys[threadIdx.x + 32 * i];
    if (key == i) goto found;
    if (key < 0) goto end;
  }
  if (keys[threadIdx.x] != 5) goto end;
found:
  key = in[key];
end:
  out[threadIdx.x] = key;
}

// A switch with a table of targets.
__global__ void one_of_many(float* out, const float* in, const int* keys) {
  float x = in[threadIdx.x];
  switch (keys[threadIdx.x]) {
    case 0: x = x * 3; break;
    case 1: x = __expf(x); break;
    case 2: x = x + in[40]; break;
    case 3: x = __logf(x); break;
    case 4: x = in[int(x)]; break;
    case 5: x = __sinf(x); break;
    case 6: x = in[threadIdx.x + 100] - x; break;
    case 7: x = 1 / x; break;
    default: break;
  }
  out[threadIdx.x] = x;
}

// A branch that becomes a condition of the load.
__global__ void load_on_condition(float* out, const int* keys) {
  __shared__ float tile[256];
  tile[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  float x = 1;
  if (keys[threadIdx.x] > 0) x = tile[threadIdx.x ^ 1];
  out[threadIdx.x] = x;
}

// Two conditions that become one branch, before a load from shared memory and a store.
__global__ void conditions_in_one(float* out, const float* in, int n, int m) {
  __shared__ float tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (int(threadIdx.x) >= n) goto end;
  asm volatile("");  // keeps nvcc, but not ptxas, from making one of both
  if (int(threadIdx.x) <= m) goto end;
  {
    float x = tile[threadIdx.x ^ 1];
    out[threadIdx.x] = x;
#pragma unroll 1
    for (int i = 1; i < n; ++i) out[threadIdx.x + 256 * i] = x = x * in[i];
  }
end:
  out[m] = 3;
}

// Nothing of the kind.
__global__ void as_written(float* out, const float* in, int n) {
  __shared__ float tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (int(threadIdx.x) < n) out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

// The branch around the loop has the line of where it leads.
__global__ void loop_or_nothing(float* out, const float* in, int begin, int n) {
  __shared__ float values[32];
  float sum = 0;
  for (int i = begin; i <= begin + n - 1; i += 32) {
    values[threadIdx.x] = in[i];
    __syncthreads();
    sum += values[0] * in[0] + values[threadIdx.x ^ 1] * in[1];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

// Predicates stand for one way of the branch, which has the line of what they set.
__global__ void one_way_by_predicates(float* __restrict__ out, const float* __restrict__ in,
                                      const float* __restrict__ factors, int n) {
  float a = 0, b = 0, c = 0;
  if (n > 0) {
    a = factors[threadIdx.x], b = factors[threadIdx.x + 100], c = factors[threadIdx.x + 200];
#pragma unroll
    for (int i = 1; i < 12; ++i) {
      a = a * factors[threadIdx.x + i] + b;
      b = b * factors[threadIdx.x + 100 + i] + c;
    }
    out[0] = in[0], out[1] = in[1];
  } else {
    out[0] = in[4], out[1] = in[5];
  }
  out[threadIdx.x + 4] = a * b + c;
}

// The same two conditions before a load alone, which ptxas could make early.
__global__ void load_alone(float* out, const float* in, int n, int m) {
  __shared__ float tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (int(threadIdx.x) >= n) goto end;
  asm volatile("");
  if (int(threadIdx.x) <= m) goto end;
  {
    float x = tile[threadIdx.x ^ 1];
    if (x > 5) {
#pragma unroll 1
      for (int i = 1; i < n; ++i) out[threadIdx.x + 256 * i] = x = x * in[i];
    }
  }
end:
  out[m] = 3;
}
}
