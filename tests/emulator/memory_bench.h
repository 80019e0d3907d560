// Executes single memory instructions, written in PTX, on a warp that was made by hand: no engine,
// no kernel. What the tests of the memory instructions stand on.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/decode/decoder.h"
#include "harness/emulator/machine/decode/families.h"
#include "harness/emulator/machine/fault.h"
#include "harness/emulator/machine/isa/isa.h"
#include "harness/emulator/machine/memory/context.h"
#include "harness/emulator/machine/memory/counters.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/machine/warp.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine {

/// The instruction set of that name, or nothing where this CPU has not got it.
inline const isa::Isa* instruction_set(const char* name) {
  setenv("WARPGAUGE_ISA", name, 1);
  const isa::Isa* found = nullptr;
  try {
    found = &isa::best_isa();
  } catch (const std::invalid_argument&) {
  }
  unsetenv("WARPGAUGE_ISA");
  return found;
}

/// Names are given by their beginning: %rd is of 64 bits, %rs of 16, %r of 32, %f a float, %fd a
/// double, %q of 128 bits, %p a predicate.
inline ptx::Type type_by_name(std::string_view name) {
  const auto starts = [&](std::string_view text) { return name.substr(0, text.size()) == text; };
  if (starts("%rd")) return ptx::Type::b64;
  if (starts("%rs")) return ptx::Type::b16;
  if (starts("%r")) return ptx::Type::b32;
  if (starts("%fd")) return ptx::Type::f64;
  if (starts("%f")) return ptx::Type::f32;
  if (starts("%q")) return ptx::Type::b128;
  if (starts("%p")) return ptx::Type::pred;
  return ptx::Type::none;
}

inline constexpr std::size_t kVectorBytes = 16 * kLanes;  ///< room for one of any type

/// Vectors by name.
class Vectors {
 public:
  Vectors() : bytes_(new (std::align_val_t{64}) std::byte[kMost * kVectorBytes]()) {}
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

class MemoryBench : public decode::Decoder {
 public:
  static constexpr std::uint32_t kSharedBytes = 8192;
  static constexpr std::uint64_t kLocalBytes = 256;
  static constexpr std::uint64_t kLocalStride = 320;

  memory::Memory memory;
  memory::MemoryContext context;
  memory::Counters counters{256};
  Warp warp;
  control::WarpEngine engine;           ///< of no block
  AccessPlan plan;                      ///< of what is decoded next
  std::map<std::string, Place> places;  ///< variables
  bool is_kernel = true;
  alignas(1024) std::byte shared[kSharedBytes] = {};
  alignas(64) std::byte local[kLanes * kLocalStride] = {};
  alignas(64) std::byte parameters[64] = {};

  explicit MemoryBench(const isa::Isa& isa) : isa_(isa) {
    context.memory = &memory;
    context.caches = counters.caches();
    context.shared = shared;
    context.shared_bytes = kSharedBytes;
    context.local = local;
    context.local_stride = kLocalStride;
    context.local_bytes = kLocalBytes;
    context.parameters = parameters;
    context.parameter_bytes = sizeof(parameters);
    warp.bases[Slot::frame] = registers_.data();
    warp.bases[Slot::constants] = warp.bases[Slot::specials] = constants_.data();
    engine.live = kAllLanes;
    warp.engine = &engine;
    warp.memory = &context;
  }

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
  /// Lane l points to base + stride * l bytes.
  void point(const std::string& name, const void* base, std::int64_t stride) {
    fill<std::uint64_t>(name, [&](int lane) {
      return reinterpret_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(stride * lane);
    });
  }

  const Instruction& decoded(const std::string& text) {
    const auto [found, is_new] = instructions_.try_emplace(text);
    if (!is_new) return found->second.instruction;
    Entry& entry = found->second;
    entry.parsed = parse(text);
    entry.first_counter = next_counter_;
    if (!decode_memory(entry.parsed, *this, isa_, &entry.instruction)) {
      throw std::logic_error("not of the memory family: " + text);
    }
    return entry.instruction;
  }
  void run(const std::string& text, Mask active = kAllLanes) {
    const Instruction& instruction = decoded(text);
    if (instruction.execute == nullptr) throw decode::Unsupported("no handler: " + text);
    warp.active = warp.mask = active;
    instruction.execute(warp, instruction);
  }
  /// What the n-th counter of an instruction has counted.
  AccessTotals totals(const std::string& text, std::uint32_t n = 0) {
    return counters.totals(instructions_.at(text).first_counter + n);
  }
  /// The fault that the instruction ends in: "KIND: message".
  Fault fault_of(const std::string& text, Mask active = kAllLanes) {
    try {
      run(text, active);
    } catch (const Fault& fault) {
      return fault;
    }
    throw std::logic_error("no fault: " + text);
  }

  Slot source(const ptx::Operand& operand, ptx::Type type) override {
    if (operand.kind == ptx::Operand::Kind::integer) return constant(operand.bits, type);
    if (register_type(operand) != ptx::Type::none) {
      return {Slot::frame, registers_.offset(operand.name)};
    }
    return constant(places.at(operand.name).address + static_cast<std::uint64_t>(operand.offset),
                    type);
  }
  Slot destination(const ptx::Operand& operand, ptx::Type) override {
    return {Slot::frame, registers_.offset(operand.name)};
  }
  ptx::Type register_type(const ptx::Operand& operand) const override {
    return operand.kind == ptx::Operand::Kind::name ? type_by_name(operand.name) : ptx::Type::none;
  }
  Slot scratch(std::uint32_t) override { return {Slot::frame, registers_.offset("scratch")}; }
  const void* keep(std::shared_ptr<const void> detail) override {
    return kept_.emplace_back(std::move(detail)).get();
  }
  std::optional<Place> place(std::string_view name) const override {
    const auto found = places.find(std::string(name));
    return found == places.end() ? std::nullopt : std::optional(found->second);
  }
  std::uint32_t counter(const ptx::Instruction&) override { return next_counter_++; }
  AccessPlan access_plan(const ptx::Instruction&) const override { return plan; }
  const Architecture& architecture() const override { return architecture_; }
  const Options& options() const override { return options_; }
  bool decodes_kernel() const override { return is_kernel; }

 private:
  struct Entry {
    ptx::Instruction parsed;
    Instruction instruction;
    std::uint32_t first_counter = 0;
  };

  static ptx::Instruction parse(const std::string& text) {
    const std::string module =
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n" + text + "\n}\n";
    return ptx::parse(module, "test.ptx").functions.at(0).body.at(0);
  }
  Slot constant(std::uint64_t bits, ptx::Type type) {
    const int bytes = ptx::bytes_of(type);
    const std::string name = std::to_string(bits) + ":" + std::to_string(bytes);
    for (int lane = 0; lane < kLanes; ++lane) {
      std::memcpy(constants_.at(name) + lane * bytes, &bits, static_cast<std::size_t>(bytes));
    }
    return {Slot::constants, constants_.offset(name)};
  }

  const isa::Isa& isa_;
  Vectors registers_, constants_;
  Architecture architecture_;
  Options options_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::map<std::string, Entry> instructions_;
  std::uint32_t next_counter_ = 0;
};

/// A test for each instruction set of this CPU.
class MemoryInstructions : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const isa::Isa* const isa = instruction_set(GetParam());
    if (isa == nullptr) GTEST_SKIP() << "this CPU has no " << GetParam();
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
