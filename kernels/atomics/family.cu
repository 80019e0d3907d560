// Atomic operations: counting with one counter for all threads, and every operation by itself.
//
// What it teaches: a warp that updates one word atomically makes one request of one sector, however
// many lanes take part. (For a constant such as 1 the compiler has one lane add the number of
// lanes.) So what makes atomics rare is to add up before, and the more threads do so, the rarer
// they are (global.atomic.requests):
//   global_counter  each thread that counts adds 1
//   warp_ballot     one lane of a warp adds the number of its votes: the same number of requests,
//                   now by the code, as it must be where the compiler does not see what is added
//   shared_counter  the block counts in shared memory, and one thread adds its sum: with 32 warps
//                   a block 32 times fewer
//   block_vote      the barrier counts, without any memory
// Each operation by itself (`add` ... `exclusive_or`): lanes with a word each make as many sectors
// as plain stores (global.atomic.sectors_per_request).
#include <cstdint>
#include <type_traits>

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

// An operation: `update` on the device, and what `after` it becomes of a cell that held `before`.
// Threads come in any order, so the last value must not depend on it. Where it would, all threads
// of a cell bring the same value (kSameValue) or limit.
struct Operation {
  static constexpr bool kSameValue = false;
};

struct Add : Operation {
  template <typename T>
  static __device__ void update(T* cell, T value) {
    atomicAdd(cell, value);
  }
  template <typename T>
  static T after(T before, T value) {
    return before + value;
  }
};

// Atomic only to threads of the block: cells are the block's own, so that is enough.
struct AddBlock : Add {
  template <typename T>
  static __device__ void update(T* cell, T value) {
    atomicAdd_block(cell, value);
  }
};

// Atomic to other GPUs and the CPU as well.
struct AddSystem : Add {
  template <typename T>
  static __device__ void update(T* cell, T value) {
    atomicAdd_system(cell, value);
  }
};

struct Subtract : Operation {
  template <typename T>
  static __device__ void update(T* cell, T value) {
    atomicSub(cell, value);
  }
  template <typename T>
  static T after(T before, T value) {
    return before - value;
  }
};

struct Exchange : Operation {
  static constexpr bool kSameValue = true;
  template <typename T>
  static __device__ void update(T* cell, T value) {
    atomicExch(cell, value);
  }
  template <typename T>
  static T after(T, T value) {
    return value;
  }
};

// Claims cells that are empty: one thread succeeds, and the others do not try again.
struct CompareAndSwap : Operation {
  static constexpr bool kSameValue = true;
  template <typename T>
  static __device__ void update(T* cell, T value) {
    atomicCAS(cell, T{0}, value);
  }
  template <typename T>
  static T after(T before, T value) {
    return before == 0 ? value : before;
  }
};

struct Minimum : Operation {
  template <typename T>
  static __device__ void update(T* cell, T value) {
    atomicMin(cell, value);
  }
  template <typename T>
  static T after(T before, T value) {
    return before < value ? before : value;
  }
};

struct Maximum : Operation {
  template <typename T>
  static __device__ void update(T* cell, T value) {
    atomicMax(cell, value);
  }
  template <typename T>
  static T after(T before, T value) {
    return before > value ? before : value;
  }
};

constexpr unsigned kLimit = 5;  // where increments and decrements begin again

struct Increment : Operation {
  static __device__ void update(unsigned* cell, unsigned) { atomicInc(cell, kLimit); }
  static unsigned after(unsigned before, unsigned) { return before >= kLimit ? 0 : before + 1; }
};

struct Decrement : Operation {
  static __device__ void update(unsigned* cell, unsigned) { atomicDec(cell, kLimit); }
  static unsigned after(unsigned before, unsigned) {
    return before == 0 || before > kLimit ? kLimit : before - 1;
  }
};

struct And : Operation {
  template <typename T>
  static __device__ void update(T* cell, T value) {
    atomicAnd(cell, value);
  }
  template <typename T>
  static T after(T before, T value) {
    return before & value;
  }
};

struct Or : Operation {
  template <typename T>
  static __device__ void update(T* cell, T value) {
    atomicOr(cell, value);
  }
  template <typename T>
  static T after(T before, T value) {
    return before | value;
  }
};

struct ExclusiveOr : Operation {
  template <typename T>
  static __device__ void update(T* cell, T value) {
    atomicXor(cell, value);
  }
  template <typename T>
  static T after(T before, T value) {
    return before ^ value;
  }
};

constexpr int kThreads = 256;
constexpr int kCells = kWarp;  // of each block, one a lane: 8 warps share them

// Values that use all bits of T, whose random values have only 15.
template <typename T>
std::vector<T> wide_values(std::size_t count, std::uint32_t seed) {
  std::vector<T> values = warpgauge::random_values<T>(count, seed);
  for (T& value : values) value |= value << (sizeof(T) * 4);
  return values;
}

template <typename T>
std::vector<T> half_empty_cells(std::size_t count) {
  std::vector<T> cells = wide_values<T>(count, 2);
  for (std::size_t i = 0; i < count; i += 2) cells[i] = 0;
  return cells;
}

// Each thread brings a value to the cell of its lane in its block. The size is the number of
// threads.
template <typename T>
struct Cells : warpgauge::Problem {
  const int n, blocks;
  warpgauge::Input<T> a;
  warpgauge::InOut<T> cells;

  explicit Cells(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        blocks((n + kThreads - 1) / kThreads),
        a(*this, wide_values<T>(n, 1)),
        cells(*this, half_empty_cells<T>(blocks * kCells)) {}
};

// Cells with the CPU reference of one operation: thread after thread.
template <typename T, typename Op>
struct Updated : Cells<T> {
  using Cells<T>::Cells;
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<T> expected = this->cells.initial();
    for (int i = 0; i < this->n; ++i) {
      const int cell = i / kThreads * kCells + i % kCells;
      expected[cell] = Op::after(expected[cell], this->a.host()[Op::kSameValue ? cell : i]);
    }
    comparison.equal(this->cells, expected);
  }
};

// CUDA's atomics of 64 bits take `unsigned long long`.
template <typename T>
using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;

template <typename T, typename Op>
__global__ void update(T* cells, const T* a, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  const int cell = blockIdx.x * kCells + threadIdx.x % kCells;
  const Word<T> value = a[Op::kSameValue ? cell : i];
  Op::update(reinterpret_cast<Word<T>*>(cells + cell), value);
}

template <typename T, typename Op>
void add_operation(const warpgauge::Family& family, std::string_view type, std::string_view name) {
  family.problem<Updated<T, Op>>(type, {{4096}, {1000}}).variant(name, [](Updated<T, Op>& p) {
    update<T, Op><<<p.blocks, kThreads>>>(p.cells, p.a, p.n);
  });
}

// The operations for both 32 and 64 bits.
template <typename T>
void add_operations(const warpgauge::Family& family, std::string_view type) {
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
      family.problem<Count>("u32", {{256, 256}, {300, 500}, warpgauge::large({16384, 16384})});
  u32.variant("global_counter", [](Count& p) { launch_count(p, global_counter); });
  u32.variant("warp_ballot", [](Count& p) { launch_count(p, warp_ballot); });
  u32.variant("shared_counter", [](Count& p) { launch_count(p, shared_counter); });
  u32.variant("block_vote", [](Count& p) { launch_count(p, block_vote); });

  add_operations<std::uint32_t>(family, "u32");
  add_operations<std::uint64_t>(family, "u64");
  add_operation<std::uint32_t, Subtract>(family, "u32", "subtract");
  add_operation<std::uint32_t, Increment>(family, "u32", "increment");
  add_operation<std::uint32_t, Decrement>(family, "u32", "decrement");
}

}  // namespace atomics
