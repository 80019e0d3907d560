// Executes single arithmetic instructions.
#include "tests/emulator/alu_bench.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "harness/emulator/machine/compile/compiler.h"
#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/decode/families.h"
#include "harness/emulator/machine/memory/context.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine {

std::vector<const isa::Isa*> arithmetic_instruction_sets() {
  std::vector<const isa::Isa*> result;
  for (const char* const name : {"baseline", "avx2", "avx512", "compiled"}) {
    setenv("WARPGAUGE_ISA", name, 1);
    try {
      result.push_back(&isa::best_isa());
    } catch (const std::invalid_argument&) {
    }
  }
  unsetenv("WARPGAUGE_ISA");
  return result;
}

struct AluBench::Impl : decode::Decoder {
  Impl(const isa::Isa& isa, const std::string& registers, const std::string& text)
      : bytes_(new (std::align_val_t{64}) std::byte[kBytes]()),
        engine_(std::make_unique<control::WarpEngine>()) {
    const ptx::Module module = ptx::parse(
        ".version 9.0\n.target sm_100\n.address_size 64\n"
        ".visible .entry k() {\n" +
            registers + "\n" + text + "\n}\n",
        "test.ptx");
    for (const ptx::Register& one : module.functions.at(0).registers) types_[one.name] = one.type;
    const ptx::Instruction& instruction = module.functions.at(0).body.at(0);
    const bool known = decode_alu(instruction, *this, isa, &instruction_) ||
                       decode_convert(instruction, *this, isa, &instruction_) ||
                       decode_matrix(instruction, *this, isa, &instruction_) ||
                       decode_video(instruction, *this, isa, &instruction_);
    if (!known) throw decode::Unsupported("not of these families: " + instruction.opcode);
    if (isa.compiles) compile();
    engine_->live = kAllLanes;
    warp.engine = engine_.get();
    warp.memory = &memory_;
    warp.bases[OperandSlot::frame] = warp.bases[OperandSlot::constants] = bytes_.get();
    warp.bases[OperandSlot::specials] = nullptr;
  }

  OperandSlot source(const ptx::Operand& operand, ptx::Type type) override {
    using Kind = ptx::Operand::Kind;
    if (operand.kind == Kind::integer || operand.kind == Kind::real) {
      const int bytes = ptx::bytes_of(type);
      const OperandSlot slot = scratch(static_cast<std::uint32_t>(bytes * kLanes));
      for (int lane = 0; lane < kLanes; ++lane) {
        std::memcpy(bytes_.get() + slot.offset + lane * bytes, &operand.bits, bytes);
      }
      return slot;
    }
    check(operand, type);
    return register_slot(operand.name);
  }
  OperandSlot destination(const ptx::Operand& operand, ptx::Type type) override {
    if (operand.kind == ptx::Operand::Kind::sink) return scratch(16 * kLanes);
    check(operand, type);
    return register_slot(operand.name);
  }
  ptx::Type register_type(const ptx::Operand& operand) const override {
    const auto found = types_.find(operand.name);
    return found == types_.end() ? ptx::Type::none : found->second;
  }
  void note(const compile::Operation& operation) override { operations_[0] = operation; }
  void note_dependence() override {}
  /// What has no lowering keeps its handler.
  void compile() {
    compiled_ = compile::compile({.instructions = instructions_,
                                  .operations = operations_,
                                  .entries = {true},
                                  .lives = lives_,
                                  .shortest = 1});
  }
  OperandSlot scratch(std::uint32_t bytes) override {
    const std::uint32_t offset = used_;
    used_ += (bytes + 63) / 64 * 64;
    if (used_ > kBytes) throw std::length_error("too many registers");
    return {OperandSlot::frame, offset};
  }
  const void* keep(std::shared_ptr<const void> detail) override {
    kept_.push_back(detail);
    return detail.get();
  }
  std::optional<Location> place(std::string_view) const override { return std::nullopt; }
  std::uint32_t counter(const ptx::Instruction&) override { return 0; }
  AccessPlan access_plan(const ptx::Instruction&) const override { return {}; }
  const Architecture& architecture() const override { return architecture_; }
  const Options& options() const override { return options_; }
  bool decodes_kernel() const override { return true; }

  ptx::Type type(const std::string& name) const { return types_.at(name); }

  static constexpr std::uint32_t kBytes = 64 * 1024;

  void check(const ptx::Operand& operand, ptx::Type type) const {
    const auto found = types_.find(operand.name);
    if (found == types_.end()) throw decode::Unsupported(operand.name + " is not declared");
    if (ptx::bytes_of(found->second) != ptx::bytes_of(type)) {
      throw decode::Unsupported(operand.name + " has another width");
    }
  }
  OperandSlot register_slot(const std::string& name) {
    const auto found = slots_.find(name);
    if (found != slots_.end()) return found->second;
    return slots_[name] = scratch(16 * kLanes);
  }

  struct Free {
    void operator()(std::byte* bytes) const { operator delete[](bytes, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  std::unique_ptr<control::WarpEngine> engine_;
  memory::MemoryContext memory_;
  std::uint32_t used_ = 0;
  std::map<std::string, ptx::Type> types_;
  std::map<std::string, OperandSlot> slots_;
  std::vector<std::shared_ptr<const void>> kept_;
  Warp warp{};
  std::vector<Instruction> instructions_ = std::vector<Instruction>(1);
  Instruction& instruction_ = instructions_[0];
  std::vector<compile::Operation> operations_ = std::vector<compile::Operation>(1);
  std::vector<compile::SlotLife> lives_;
  std::shared_ptr<const void> compiled_;
  Architecture architecture_;
  Options options_;
};

AluBench::AluBench(const isa::Isa& isa, const std::string& registers, const std::string& text)
    : impl_(std::make_unique<Impl>(isa, registers, text)) {}
AluBench::~AluBench() = default;

std::byte* AluBench::bytes(const std::string& name) {
  return impl_->bytes_.get() + impl_->register_slot(name).offset;
}
Mask& AluBench::carry() { return impl_->warp.carry; }
std::uint64_t AluBench::get(const std::string& name, int lane) {
  const int bytes = ptx::bytes_of(impl_->type(name));
  std::uint64_t bits = 0;
  std::memcpy(&bits, reg<std::byte>(name) + lane * bytes, bytes);
  return bits;
}
void AluBench::set(const std::string& name, int lane, std::uint64_t bits) {
  const int bytes = ptx::bytes_of(impl_->type(name));
  std::memcpy(reg<std::byte>(name) + lane * bytes, &bits, bytes);
}
bool AluBench::has(const std::string& name) const { return impl_->types_.contains(name); }
bool AluBench::is_predicate(const std::string& name) const {
  return impl_->type(name) == ptx::Type::pred;
}
int AluBench::bits_of(const std::string& name) const {
  return 8 * ptx::bytes_of(impl_->type(name));
}
void AluBench::run(Mask active) {
  impl_->warp.active = impl_->warp.mask = active;
  impl_->instruction_.execute(impl_->warp, impl_->instruction_);
}

}  // namespace warpgauge::emulator::machine
