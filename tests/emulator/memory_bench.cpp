// Executes single memory instructions.
#include "tests/emulator/memory_bench.h"

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/decode/families.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine {

const isa::Isa* instruction_set(const char* name) {
  setenv("WARPGAUGE_ISA", name, 1);
  const isa::Isa* found = nullptr;
  try {
    found = &isa::best_isa();
  } catch (const std::invalid_argument&) {
  }
  unsetenv("WARPGAUGE_ISA");
  return found;
}

namespace {

/// Names are given by their beginning: %rd is of 64 bits, %rs of 16, %r of 32, %f a float, %fd a
/// double, %q of 128 bits, %p a predicate.
ptx::Type type_by_name(std::string_view name) {
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

}  // namespace

struct MemoryBench::Impl : decode::Decoder {
  MemoryBench& bench;
  const isa::Isa& isa_;
  Warp warp;
  control::WarpEngine engine;  ///< belongs to no block

  Impl(MemoryBench& bench, const isa::Isa& isa) : bench(bench), isa_(isa) {
    warp.bases[OperandSlot::frame] = bench.registers_.data();
    warp.bases[OperandSlot::constants] = warp.bases[OperandSlot::specials] = constants_.data();
    engine.live = kAllLanes;
    warp.engine = &engine;
    warp.memory = &bench.context;
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
  OperandSlot source(const ptx::Operand& operand, ptx::Type type) override {
    if (operand.kind == ptx::Operand::Kind::integer) return constant(operand.bits, type);
    if (register_type(operand) != ptx::Type::none) {
      return {OperandSlot::frame, bench.registers_.offset(operand.name)};
    }
    return constant(
        bench.places.at(operand.name).address + static_cast<std::uint64_t>(operand.offset), type);
  }
  OperandSlot destination(const ptx::Operand& operand, ptx::Type) override {
    return {OperandSlot::frame, bench.registers_.offset(operand.name)};
  }
  ptx::Type register_type(const ptx::Operand& operand) const override {
    return operand.kind == ptx::Operand::Kind::name ? type_by_name(operand.name) : ptx::Type::none;
  }
  void note(const compile::Operation&) override {}
  void note_dependence() override {}
  OperandSlot scratch(std::uint32_t) override {
    return {OperandSlot::frame, bench.registers_.offset("scratch")};
  }
  const void* keep(std::shared_ptr<const void> detail) override {
    return kept_.emplace_back(std::move(detail)).get();
  }
  std::optional<Location> place(std::string_view name) const override {
    const auto found = bench.places.find(std::string(name));
    return found == bench.places.end() ? std::nullopt : std::optional(found->second);
  }
  std::uint32_t counter(const ptx::Instruction&) override { return next_counter_++; }
  AccessPlan access_plan(const ptx::Instruction&) const override { return bench.plan; }
  const Architecture& architecture() const override { return architecture_; }
  const Options& options() const override { return options_; }
  bool decodes_kernel() const override { return bench.is_kernel; }

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
  OperandSlot constant(std::uint64_t bits, ptx::Type type) {
    const int bytes = ptx::bytes_of(type);
    const std::string name = std::to_string(bits) + ":" + std::to_string(bytes);
    for (int lane = 0; lane < kLanes; ++lane) {
      std::memcpy(constants_.at(name) + lane * bytes, &bits, static_cast<std::size_t>(bytes));
    }
    return {OperandSlot::constants, constants_.offset(name)};
  }

  Vectors constants_;
  Architecture architecture_;
  Options options_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::map<std::string, Entry> instructions_;
  std::uint32_t next_counter_ = 0;
};

MemoryBench::MemoryBench(const isa::Isa& isa) : impl_(std::make_unique<Impl>(*this, isa)) {
  context.memory = &memory;
  context.caches = counters.caches();
  context.records = counters.records();
  context.shared = shared;
  context.shared_bytes = kSharedBytes;
  context.local = local;
  context.local_stride = kLocalStride;
  context.local_bytes = kLocalBytes;
  context.parameters = parameters;
  context.parameter_bytes = sizeof(parameters);
}
MemoryBench::~MemoryBench() = default;

void MemoryBench::decode(const std::string& text) { impl_->decoded(text); }

void MemoryBench::run(const std::string& text, Mask active) {
  const Instruction& instruction = impl_->decoded(text);
  if (instruction.execute == nullptr) throw decode::Unsupported("no handler: " + text);
  impl_->warp.active = impl_->warp.mask = active;
  instruction.execute(impl_->warp, instruction);
}

AccessTotals MemoryBench::totals(const std::string& text, std::uint32_t n) {
  return counters.totals(impl_->instructions_.at(text).first_counter + n);
}

Fault MemoryBench::fault_of(const std::string& text, Mask active) {
  try {
    run(text, active);
  } catch (const Fault& fault) {
    return fault;
  }
  throw std::logic_error("no fault: " + text);
}

}  // namespace warpgauge::emulator::machine
