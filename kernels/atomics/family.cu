// Atomic operations: counting with one counter for all threads, and every operation by itself.
//
// A warp that updates one word atomically makes one request of one sector, for any number of active
// lanes. (For a constant such as 1 the compiler has one lane add the number of lanes.) So atomics
// become rare by adding up before, and the rarer, the more threads do so
// (global.atomic.requests):
//   lane_by_lane    the lanes of a warp take turns: a request each, as if the warp did not combine
//                   them
//   global_counter  each thread that counts adds 1: up to 32 times fewer
//   warp_ballot     one lane of a warp adds the number of its votes: the same number of requests,
//                   now by the code, as it must be where the compiler does not see what is added
//   shared_counter  the block counts in shared memory, and one thread adds its sum: with 32 warps
//                   a block 32 times fewer
//   block_vote      the barrier counts, without any memory
// Each operation by itself (`add` ... `exclusive_or`): lanes with a word each make as many sectors
// as plain stores (global.atomic.sectors_per_request).
#include <cstdint>

#include "kernels/atomics/operations.h"
#include "warpgauge/warpgauge.h"

namespace atomics {

constexpr int kWarp = 32;  // also the rows and columns that a block counts

// How many pairs (i, j) with i < rows and j < columns satisfy i >= j.
struct Count : warpgauge::Problem {
  const int rows, columns;
  warpgauge::InOut<unsigned> count;

  explicit Count(const warpgauge::Size& size)
      : rows(static_cast<int>(size[0])),
        columns(static_cast<int>(size[1])),
        count(*this, std::vector<unsigned>{0}) {}
  void check(warpgauge::Comparison& comparison) const override {
    unsigned expected = 0;
    for (int i = 0; i < rows; ++i) expected += i < columns ? i + 1 : columns;
    comparison.equal(count, std::vector<unsigned>{expected});
  }
};

// True if the pair of this thread exists and satisfies i >= j. A warp has one i and 32 j.
__device__ bool counts(int rows, int columns) {
  const int i = blockIdx.y * kWarp + threadIdx.y, j = blockIdx.x * kWarp + threadIdx.x;
  return i < rows && j < columns && i >= j;
}

__global__ void lane_by_lane(unsigned* count, int rows, int columns) {
  const bool mine = counts(rows, columns);
  for (int turn = 0; turn < kWarp; ++turn) {
    if (mine && threadIdx.x == turn) atomicAdd(count, 1);
  }
}

__global__ void global_counter(unsigned* count, int rows, int columns) {
  if (counts(rows, columns)) atomicAdd(count, 1);
}

__global__ void warp_ballot(unsigned* count, int rows, int columns) {
  const unsigned votes = __ballot_sync(0xffffffff, counts(rows, columns));
  if (threadIdx.x == 0 && votes != 0) atomicAdd(count, __popc(votes));
}

// The counter in shared memory is touched by as many warps, but that is near and quick, and one
// wavefront each: counting lanes is all that this kind of shared atomic has to do.
__global__ void shared_counter(unsigned* count, int rows, int columns) {
  __shared__ unsigned of_block;
  const bool first = threadIdx.x == 0 && threadIdx.y == 0;
  if (first) of_block = 0;
  __syncthreads();
  if (counts(rows, columns)) atomicAdd(&of_block, 1);
  __syncthreads();
  if (first && of_block != 0) atomicAdd(count, of_block);
}

__global__ void block_vote(unsigned* count, int rows, int columns) {
  const int of_block = __syncthreads_count(counts(rows, columns));
  if (threadIdx.x == 0 && threadIdx.y == 0 && of_block != 0) atomicAdd(count, of_block);
}

// Each kernel takes (count, rows, columns): one launch for all.
void launch_count(Count& p, void (*kernel)(unsigned*, int, int)) {
  const dim3 blocks((p.columns + kWarp - 1) / kWarp, (p.rows + kWarp - 1) / kWarp);
  kernel<<<blocks, dim3(kWarp, kWarp)>>>(p.count, p.rows, p.columns);
}

template <typename T, typename Op>
__global__ void update(T* cells, const T* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  const int cell = blockIdx.x * kCells + threadIdx.x % kCells;
  const Word<T> value = a[Op::kSameValue ? cell : i];
  Op::update(reinterpret_cast<Word<T>*>(cells + cell), value);
}

template <typename T, typename Op>
void add_operation(const warpgauge::Family& family, const char* type, const char* name) {
  updated<T, Op>(family, type).variant(name, [](Updated<T, Op>& p) {
    update<T, Op><<<p.blocks, kThreads>>>(p.cells, p.a, p.n);
  });
}

// The operations for both 32 and 64 bits.
template <typename T>
void add_operations(const warpgauge::Family& family, const char* type) {
  add_operation<T, Add>(family, type, "add");
  add_operation<T, AddBlock>(family, type, "add_block");
  add_operation<T, AddSystem>(family, type, "add_system");
  add_operation<T, Exchange>(family, type, "exchange");
  add_operation<T, CompareAndSwap>(family, type, "compare_and_swap");
  add_operation<T, Minimum>(family, type, "minimum");
  add_operation<T, Maximum>(family, type, "maximum");
  add_operation<T, And>(family, type, "and");
  add_operation<T, Or>(family, type, "or");
  add_operation<T, ExclusiveOr>(family, type, "exclusive_or");
}

WARPGAUGE_FAMILY(atomics) {
  const auto u32 =
      family.problem<Count>("u32", {{256, 256}, {300, 500}, warpgauge::large({16384, 16384})})
          .sizes_between({1, 1}, {16384, 16384});
  u32.variant("lane_by_lane", [](Count& p) { launch_count(p, lane_by_lane); });
  u32.variant("global_counter", [](Count& p) { launch_count(p, global_counter); });
  u32.variant("warp_ballot", [](Count& p) { launch_count(p, warp_ballot); });
  u32.variant("shared_counter", [](Count& p) { launch_count(p, shared_counter); });
  u32.variant("block_vote", [](Count& p) { launch_count(p, block_vote); });

  add_operations<std::uint32_t>(family, "u32");
  add_operations<std::uint64_t>(family, "u64");
  add_operation<std::uint32_t, Subtract>(family, "u32", "subtract");
  add_operation<std::uint32_t, Increment>(family, "u32", "increment");
  add_operation<std::uint32_t, Decrement>(family, "u32", "decrement");
  // Signed words are compared otherwise than unsigned ones. The rest is the same for both.
  add_operation<std::int32_t, Minimum>(family, "i32", "minimum");
  add_operation<std::int32_t, Maximum>(family, "i32", "maximum");
  add_operation<std::int64_t, Minimum>(family, "i64", "minimum");
  add_operation<std::int64_t, Maximum>(family, "i64", "maximum");
  add_operation<float, Add>(family, "f32", "add");
  add_operation<float, Exchange>(family, "f32", "exchange");
  add_operation<double, Add>(family, "f64", "add");
}

}  // namespace atomics
