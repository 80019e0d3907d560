// Canaries: kernels with a planted defect each, which must turn the gate red. A remark on the line
// to blame gives the expected metric and verdict:
//
//   // canary VARIANT: METRIC VERDICT
//
// (with "below" behind it: a line of the statement or function that follows). Without a line, the
// registration is to blame; on the emulator, of a fault, the line "fault of VARIANT".
// tests/cli/test_canaries.py reads these remarks and runs each variant on a GPU and on the
// emulator.
#include "warpgauge/warpgauge.h"

namespace canaries {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr int kElements = 1024;

struct Copy : warpgauge::Problem {
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;
  explicit Copy(const warpgauge::Size& size) : a(*this, size.count()), b(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override { comparison.equal(b, a.host()); }
};

// The control: nothing is wrong with it.
__global__ void healthy(float* b, const float* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i];
}

// A tile that is turned twice, as in a transposition: its rows need a word of padding.
__global__ void padding_removed(float* b, const float* a) {
  __shared__ float tile[kWarp][kWarp];
  const int i = threadIdx.x, j = threadIdx.y;
  tile[i][j] = a[j * kWarp + i];  // canary padding_removed: shared.bank_conflicts fail
  __syncthreads();
  b[j * kWarp + i] = tile[i][j];
}

// Neighbouring lanes were meant to read neighbouring words.
__global__ void stride_added(float* b, const float* a) {
  const int t = threadIdx.x;
  const int i = t * 8 % kElements + t / 128;
  const float value = a[i];  // canary stride_added: global.excess_sectors fail
  b[i] = value;
}

__global__ void shared_stride_added(float* b, const float* a) {
  __shared__ float s[2 * kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  s[2 * t] = a[i];  // canary shared_stride_added: shared.bank_conflicts fail
  b[i] = s[2 * t];
}

// The cap leaves 64 registers to a thread, which keeps 64 values alive across a barrier.
// canary registers_capped: spill.store_bytes fail below
__global__ void __launch_bounds__(1024) registers_capped(float* b, const float* a) {
  const int i = threadIdx.x;
  float values[64];
#pragma unroll
  for (int k = 0; k < 64; ++k) values[k] = a[(i + kWarp * k) % kElements] * (k + 1);
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 64; ++k) sum += values[k] * values[63 - k] * values[(k * 7) % 64];
  b[i] = sum == 12345.678f ? sum : a[i];
}

// Loops that are not unrolled leave the array no registers.
__global__ void local_array(float* b, const float* a) {
  float values[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < 32; ++k) values[k] = a[i];  // canary local_array: local.sectors fail
  float largest = values[0];
#pragma unroll 1
  for (int k = 1; k < 32; ++k) largest = fmaxf(largest, values[k]);
  b[i] = largest;
}

// Lanes of a warp that go different ways, through code too long for predicates.
__global__ void divergence_added(float* b, const float* a, int rounds, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = a[i];
  if (threadIdx.x % 2 == 0) {  // canary divergence_added: branches.divergent fail
    for (int k = 0; k < rounds; ++k) value *= factor;
  }
  b[i] = value;
}

// The bounds check is gone, and the last block reaches far behind the end.
__global__ void out_of_bounds(float* b, const float* a) {
  const long long i = blockIdx.x * (1LL << 40) + threadIdx.x;
  b[i] = a[i % kElements];  // fault of out_of_bounds
}

// The check reads the copy on the host, which is as before.
__global__ void input_overwritten(float* b, float* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i];
  a[i] = 0;  // fault of input_overwritten
}

// Reads words of shared memory of which only half were written.
__global__ void uninitialised(float* b, const float* a) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  if (t < kThreads / 2) s[t] = a[i];
  __syncthreads();
  b[i] = s[t];  // read of uninitialised
}

// The barrier between writing and reading is gone. Later warps are late on purpose, so that the
// race always has the same winner.
__global__ void race(float* b, const float* a) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x, first = blockIdx.x * kThreads;
  __nanosleep(t / kWarp * 20000);
  s[(t + 1) % kThreads] = a[first + (t + 1) % kThreads];  // race
  b[first + t] = s[t];                                    // race
}

// Reads what the next block writes, which nothing orders. The next block is late on purpose.
__global__ void race_of_blocks(float* b, const float* a) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  __nanosleep(blockIdx.x * 20000);
  b[i] = a[i];                                       // race_of_blocks
  const float next = b[(i + kThreads) % kElements];  // race_of_blocks
  if (next != next) b[i] = 0;                        // poisoned with NaN: race_of_blocks
}

// Warps read and write the mark at once: what they read is decided by their order, what they leave
// is not. A race that its author knows of, and waives.
__global__ void known_race(float* b, const float* a) {
  __shared__ int mark;
  const int i = blockIdx.x * kThreads + threadIdx.x;
  mark = 0;
  __syncthreads();
  mark = max(mark, 1);  // known_race
  __syncthreads();
  b[i] = mark * a[i];
}

// Half of the block comes to a barrier that is for all of it. The other half waits behind, at a
// barrier of another number: with the same one both would meet, and the kernel would end by chance.
__global__ void barrier_in_branch(float* b, const float* a) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  s[t] = a[i];
  if (t < kThreads / 2) __syncthreads();                           // fault of barrier_in_branch
  asm volatile("barrier.sync 1, %0;" ::"n"(kThreads) : "memory");  // fault of barrier_in_branch
  b[i] = s[t];
}

// A control, too: of each warp every second lane comes to the barrier, which an H100 takes for the
// whole warp. The result is right, but the language does not promise it; synccheck objects. Of
// warps that end without the barrier, or of lanes that ended before it, synccheck says nothing.
__global__ void barrier_of_odd_lanes(float* b, const float* a) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  s[t] = a[i];
  if (t % 2 == 1) __syncthreads();  // missed
  b[i] = s[t];
}

// Counts until a sign comes, which never does: b is poisoned with NaN.
__global__ void endless(float* b, volatile float* sign) {
  for (unsigned n = 0; sign[0] != 1; ++n) sign[1] = __uint_as_float(n);  // fault of endless
  b[threadIdx.x] = 1;
}

__global__ void off_by_one(float* b, const float* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[(i + 1) % kElements];
}

// 48 KiB of shared memory is what a launch gets without asking for more.
__global__ void too_much_shared_memory(float* b, const float* a) {
  extern __shared__ float s[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = a[i];
  b[i] = s[threadIdx.x];
}

// So is the sum of static and dynamic shared memory: 40 KiB and 16 KiB.
__global__ void static_and_dynamic_too_much(float* b, const float* a) {
  __shared__ float fixed[10 * 1024];
  extern __shared__ float s[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = a[i];
  fixed[threadIdx.x] = s[threadIdx.x];
  b[i] = fixed[threadIdx.x];
}

// A grid has up to 65,535 blocks in y.
__global__ void grid_too_high(float* b, const float* a) {
  const int i = blockIdx.y * blockDim.x + threadIdx.x;
  if (i < kElements) b[i] = a[i];
}

// Blocks of 640 threads leave a part of 1024, 1536 and 2048 unused.
__global__ void block_too_large(float* b, const float* a) {
  for (int i = threadIdx.x; i < kElements; i += blockDim.x) b[i] = a[i];
}

// A control, too: its memory is never freed, and where the mark in it is set there is no work left.
__global__ void cached(float* b, const float* a, const int* mark) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (*mark == 0) b[i] = a[i];
}

__global__ void set(int* mark) { *mark = 1; }

using Kernel = void (*)(float*, const float*);

template <Kernel kKernel>
void launch(Copy& p) {
  kKernel<<<kElements / kThreads, kThreads>>>(p.b, p.a);
}

WARPGAUGE_FAMILY(canaries) {
  const auto f32 = family.problem<Copy>("f32", {{kElements}});
  const dim3 tile(kWarp, kWarp);
  f32.variant("healthy", launch<healthy>);
  f32.variant("padding_removed", [=](Copy& p) { padding_removed<<<1, tile>>>(p.b, p.a); });
  f32.variant("stride_added", [](Copy& p) { stride_added<<<1, kElements>>>(p.b, p.a); });
  f32.variant("shared_stride_added", launch<shared_stride_added>);
  f32.variant("registers_capped", [](Copy& p) { registers_capped<<<1, 1024>>>(p.b, p.a); });
  f32.variant("local_array", launch<local_array>);
  f32.variant("divergence_added",
              [](Copy& p) { divergence_added<<<4, kThreads>>>(p.b, p.a, 9, 1); });
  // canary out_of_bounds: result.correct error below
  f32.variant("out_of_bounds", launch<out_of_bounds>);
  // canary input_overwritten: result.correct error below
  f32.variant("input_overwritten", [](Copy& p) {
    input_overwritten<<<4, kThreads>>>(p.b, const_cast<float*>(static_cast<const float*>(p.a)));
  });
  // canary uninitialised: result.correct error below
  f32.variant("uninitialised", launch<uninitialised>);
  // canary race: result.correct error below
  f32.variant("race", launch<race>);
  // canary race_of_blocks: result.correct error below
  f32.variant("race_of_blocks", launch<race_of_blocks>);
  f32.variant("known_race", launch<known_race>);
  f32.variant("cached", [](Copy& p) {
    int* mark = nullptr;
    cudaMalloc(&mark, sizeof(int));
    cudaMemset(mark, 0, sizeof(int));
    cached<<<kElements / kThreads, kThreads>>>(p.b, p.a, mark);
    set<<<1, kThreads>>>(mark);
    cached<<<kElements / kThreads, kThreads>>>(p.b, p.a, mark);
  });
  // canary barrier_in_branch: result.correct error below
  f32.variant("barrier_in_branch", launch<barrier_in_branch>);
  f32.variant("barrier_of_odd_lanes", launch<barrier_of_odd_lanes>);
  // canary endless: result.correct error below
  f32.variant("endless", [](Copy& p) { endless<<<1, 1>>>(p.b, p.b); });
  // canary off_by_one: result.correct error below
  f32.variant("off_by_one", launch<off_by_one>);
  // canary too_much_shared_memory: result.correct error below
  f32.variant("too_much_shared_memory",
              [](Copy& p) { too_much_shared_memory<<<4, kThreads, 64 * 1024>>>(p.b, p.a); });
  // canary static_and_dynamic_too_much: result.correct error below
  f32.variant("static_and_dynamic_too_much",
              [](Copy& p) { static_and_dynamic_too_much<<<4, kThreads, 16 * 1024>>>(p.b, p.a); });
  // canary grid_too_high: result.correct error below
  f32.variant("grid_too_high",
              [](Copy& p) { grid_too_high<<<dim3(1, 65536), kThreads>>>(p.b, p.a); });
  // canary block_too_large: occupancy.theoretical fail below
  f32.variant("block_too_large", [](Copy& p) { block_too_large<<<1, 640>>>(p.b, p.a); });
}

}  // namespace canaries
