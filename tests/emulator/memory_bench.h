// Executes single memory instructions, written in PTX, on a warp that was made by hand: no engine,
// no kernel. The tests of the memory instructions stand on it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "harness/emulator/machine/core/access_plan.h"
#include "harness/emulator/machine/core/fault.h"
#include "harness/emulator/machine/core/lanes.h"
#include "harness/emulator/machine/decode/decoder.h"
#include "harness/emulator/machine/isa/isa.h"
#include "harness/emulator/machine/memory/context.h"
#include "harness/emulator/machine/memory/counters.h"
#include "harness/emulator/machine/memory/memory.h"

namespace warpgauge::emulator::machine {

/// The instruction set of that name; nullptr where this CPU lacks it.
const isa::Isa* instruction_set(const char* name);

inline constexpr std::size_t kVectorBytes = 16 * kLanes;  ///< room for one of any type

/// Vectors by name.
class Vectors {
 public:
  Vectors() : bytes_(new(std::align_val_t{64}) std::byte[kMost * kVectorBytes]()) {}
  std::byte* data() { return bytes_.get(); }
  std::uint32_t offset(const std::string& name) {
    const auto [found, is_new] = offsets_.try_emplace(name, offsets_.size() * kVectorBytes);
    if (offsets_.size() > kMost) throw std::length_error("too many vectors");
    return static_cast<std::uint32_t>(found->second);
  }
  std::byte* at(const std::string& name) { return data() + offset(name); }

 private:
  static constexpr std::size_t kMost = 256;
  struct Free {
    void operator()(std::byte* bytes) const { operator delete[](bytes, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  std::map<std::string, std::size_t> offsets_;
};

class MemoryBench {
 public:
  static constexpr std::uint32_t kSharedBytes = 8192;
  static constexpr std::uint64_t kLocalBytes = 256;
  static constexpr std::uint64_t kLocalStride = 320;

  memory::Memory memory;
  memory::MemoryContext context;
  memory::Counters counters{256};
  AccessPlan plan;                         ///< of the next instruction to be decoded
  std::map<std::string, Location> places;  ///< variables
  bool is_kernel = true;
  alignas(1024) std::byte shared[kSharedBytes] = {};
  alignas(64) std::byte local[kLanes * kLocalStride] = {};
  alignas(64) std::byte parameters[64] = {};

  explicit MemoryBench(const isa::Isa& isa);
  ~MemoryBench();

  /// One value for each lane.
  template <typename T>
  T* reg(const std::string& name) {
    return reinterpret_cast<T*>(registers_.at(name));
  }
  Mask& predicate(const std::string& name) { return *reg<Mask>(name); }
  /// Gives lane l the value function(l).
  template <typename T, typename Function>
  void fill(const std::string& name, Function function) {
    for (int lane = 0; lane < kLanes; ++lane) reg<T>(name)[lane] = static_cast<T>(function(lane));
  }
  /// Memory of a device allocation, zeroed.
  template <typename T>
  T* allocate(std::uint64_t count, const std::string& name = "cudaMalloc #1") {
    return reinterpret_cast<T*>(
        memory.allocate(count * sizeof(T), memory::Memory::Kind::device, name));
  }
  void make_constant(void* begin) {
    memory.make_read_only(static_cast<std::byte*>(begin), memory::Memory::Rights::constant,
                          "which is constant");
  }
  /// Lane l points to base + stride * l bytes.
  void point(const std::string& name, const void* base, std::int64_t stride) {
    fill<std::uint64_t>(name, [&](int lane) {
      return reinterpret_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(stride * lane);
    });
  }

  /// Decodes the instruction unless it is known.
  void decode(const std::string& text);
  void run(const std::string& text, Mask active = kAllLanes);
  /// The sums of the n-th counter of an instruction.
  AccessTotals totals(const std::string& text, std::uint32_t n = 0);
  /// The fault that the instruction ends in. Throws std::logic_error if there is none.
  Fault fault_of(const std::string& text, Mask active = kAllLanes);

 private:
  struct Impl;
  Vectors registers_;
  std::unique_ptr<Impl> impl_;
};

/// A test for each instruction set of this CPU.
class MemoryInstructions : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const isa::Isa* const isa = instruction_set(GetParam());
    if (isa == nullptr) GTEST_SKIP() << "not on this CPU or not in this build: " << GetParam();
    bench_ = std::make_unique<MemoryBench>(*isa);
  }
  MemoryBench& bench() { return *bench_; }

 private:
  std::unique_ptr<MemoryBench> bench_;
};

#define WARPGAUGE_FOR_ALL_INSTRUCTION_SETS(suite)                                     \
  INSTANTIATE_TEST_SUITE_P(Isa, suite, testing::Values("baseline", "avx2", "avx512"), \
                           [](const auto& info) { return std::string(info.param); })

}  // namespace warpgauge::emulator::machine
