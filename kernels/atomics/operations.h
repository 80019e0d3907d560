// Every atomic operation, with what it makes of a cell, and cells for them to update. Shared by the
// families atomics (cells in global memory) and shared_atomics.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "warpgauge/warpgauge.h"

namespace atomics {

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
constexpr int kCells = 32;  // of each block, one a lane: 8 warps share them

// CUDA's atomics of 64 bits take `long long`.
template <typename T>
using Word =
    std::conditional_t<std::is_integral_v<T> && sizeof(T) == 8,
                       std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>, T>;

// Integers that use all bits, of both signs where T has them, and whole numbers in floating point,
// whose sums are exact in any order. The warps that share a cell bring either sign.
template <typename T>
std::vector<T> wide_values(std::size_t count, std::uint32_t seed) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const std::vector<Bits> small = warpgauge::random_values<Bits>(count, seed);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool negative = i / kCells % 2 != 0;
    if constexpr (std::is_floating_point_v<T>) {
      values[i] = negative ? -static_cast<T>(small[i]) : static_cast<T>(small[i]);
    } else {
      const Bits wide = small[i] | small[i] << (sizeof(T) * 4);
      values[i] = static_cast<T>(negative ? Bits{0} - wide : wide);
    }
  }
  return values;
}

template <typename T>
std::vector<T> half_empty_cells(std::size_t count) {
  std::vector<T> cells = wide_values<T>(count, 2);
  for (std::size_t i = 0; i < count; i += 2) cells[i] = 0;
  return cells;
}

template <typename Op>
constexpr bool kTakesValue = !std::is_same_v<Op, Increment> && !std::is_same_v<Op, Decrement>;

// Each thread brings a value to the cell of its lane in its block. The size is the number of
// threads. The CPU reference updates thread after thread.
template <typename T, typename Op>
struct Updated : warpgauge::Problem {
  const int n, blocks;
  warpgauge::Input<T> a;
  warpgauge::InOut<T> cells;

  explicit Updated(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        blocks((n + kThreads - 1) / kThreads),
        a(*this, wide_values<T>(n, 1)),
        cells(*this, half_empty_cells<T>(blocks * kCells)) {}
  /// Where all bring the same value to a cell, the first values are enough. In a last block with
  /// fewer threads than cells the others stay as they are.
  double bytes() const override {
    const int last = n - (blocks - 1) * kThreads;  // threads of the last block
    const int touched = (blocks - 1) * kCells + (last < kCells ? last : kCells);
    const int values = !kTakesValue<Op> ? 0 : Op::kSameValue ? touched : n;
    return static_cast<double>(sizeof(T)) * (values + 2 * touched);
  }
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<T> expected = cells.initial();
    for (int i = 0; i < n; ++i) {
      const int cell = i / kThreads * kCells + i % kCells;
      expected[cell] = Op::after(expected[cell], a.host()[Op::kSameValue ? cell : i]);
    }
    comparison.equal(cells, expected);
  }
};

template <typename T, typename Op>
warpgauge::Variants<Updated<T, Op>> updated(const warpgauge::Family& family, const char* type) {
  return family.problem<Updated<T, Op>>(type, {{4096}, {1000}}).sizes_between({1}, {65536});
}

}  // namespace atomics
