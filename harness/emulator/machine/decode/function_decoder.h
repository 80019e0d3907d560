// Decodes the functions of a kernel: gives registers their places, resolves names, and asks the
// families of instructions for what executes them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "harness/emulator/machine/compile/compiler.h"
#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/decode/decoder.h"
#include "harness/emulator/machine/decode/early_reads.h"
#include "harness/emulator/machine/decode/register_lives.h"
#include "harness/emulator/machine/isa/isa.h"
#include "harness/emulator/machine/program.h"

namespace warpgauge::emulator::machine::decode {

/// Bytes of a value of this type in one lane; 0 for a predicate.
inline int lane_bytes(ptx::Type type) { return ptx::bytes_of(type); }

/// Vectors of immediates, each value once.
class ConstantPool {
 public:
  OperandSlot vector(std::uint64_t bits, int bytes);
  OperandSlot mask(bool value);  ///< an immediate predicate
  AlignedBytes take() const;

 private:
  std::map<std::pair<std::uint64_t, int>, OperandSlot> known_;
  std::vector<std::byte> bytes_;
};

/// Decodes a kernel with all the functions that it may reach.
class KernelDecoder {
 public:
  KernelDecoder(const Kernel& kernel, const Architecture& architecture, const Options& options);
  std::unique_ptr<KernelCode> decode();

  const Kernel& kernel;
  const Architecture& architecture;
  const Options& options;
  const isa::Isa& isa;
  ConstantPool constants;
  std::unique_ptr<KernelCode> result;

  /// nullptr if the kernel does not reach it, or it has no body.
  Code* code(const ptx::Function* function) const;
};

/// Decodes one function.
class FunctionDecoder final : public Decoder {
 public:
  FunctionDecoder(KernelDecoder& kernel, Code& code);
  /// Places parameters, results, local variables and the code, which callers need.
  void lay_out();
  void decode();
  /// Fuses instructions that only compute; after decode().
  void compile();

  OperandSlot source(const ptx::Operand& operand, ptx::Type type) override;
  OperandSlot destination(const ptx::Operand& operand, ptx::Type type) override;
  ptx::Type register_type(const ptx::Operand& operand) const override;
  OperandSlot scratch(std::uint32_t bytes) override;
  void note(const compile::Operation& operation) override { operations_[place_] = operation; }
  void note_dependence() override { kernel_.result->warps_depend = true; }
  const void* keep(std::shared_ptr<const void> detail) override;
  std::optional<Location> place(std::string_view name) const override;
  std::uint32_t counter(const ptx::Instruction& instruction) override;
  AccessPlan access_plan(const ptx::Instruction& instruction) const override;
  bool is_watched(const ptx::Instruction& branch) const;
  /// The place in KernelCode::branches that the present instruction gets.
  std::int64_t branch_number();
  const Architecture& architecture() const override { return kernel_.architecture; }
  const Options& options() const override { return kernel_.options; }
  bool decodes_kernel() const override { return function().is_kernel; }

  // For control flow.
  /// As it is decoded: see with_parameters_in_registers().
  const ptx::Function& function() const {
    return rewritten_ != nullptr ? *rewritten_ : *code_.function;
  }
  /// Where the instruction of a label is. Throws Unsupported if there is no such label.
  const Instruction* label(std::string_view name) const;
  /// The code of a function that is called by name; nullptr if it has no body.
  const Code* code(std::string_view function) const;
  bool is_function(std::string_view name) const;
  void note_call(const CallSite& site) {
    code_.calls.push_back(&site);
    kernel_.result->prints |= site.builtin != nullptr;
  }
  /// An argument or result as a call lists it.
  Passed passed(const ptx::Operand& operand);
  /// Does `target` lie behind the present instruction?
  bool is_ahead(const Instruction* target) const;
  /// The positions in the body of the loop from `target` to the present instruction.
  std::vector<std::uint32_t> loop_from(const Instruction* target) const;
  /// Is the loop from `target` to the present instruction left when memory says so?
  bool is_polling_loop(const Instruction* target) const;
  /// Its accesses that look at memory are as many as it waits; the warps of a block depend on it.
  void note_polling_loop(const Instruction* target);

 private:
  struct Local {
    std::uint64_t offset = 0;
    const ptx::Variable* variable = nullptr;
  };
  /// An instruction of the code: that of the body at this position; in front of it, a check or the
  /// place where the warps of a warpgroup meet; or a jump to it, where a block has been moved away
  /// from the one that it falls through to.
  struct Placed {
    enum class Kind : std::uint8_t { instruction, check, meeting, jump };
    std::uint32_t position;
    Kind kind;
  };
  /// The instructions in front of the one at this position of the body.
  std::vector<Placed::Kind> in_front(std::uint32_t position) const;
  /// The place of the instruction at this position of the body, or of the first in front of it.
  std::uint32_t first_place(std::size_t position) const {
    const auto size = in_front(static_cast<std::uint32_t>(position)).size();
    return places_[position] - static_cast<std::uint32_t>(size);
  }
  void place_code();
  void place_fixed_registers();
  std::optional<OperandSlot> fixed_source(const ptx::Instruction& instruction, ptx::Type type);
  std::optional<OperandSlot> fixed_parameter(const ptx::Instruction& instruction, ptx::Type type);
  void place_registers(const std::vector<RegisterLife>& lives);
  Instruction decode_check(const ptx::Instruction& instruction);
  Instruction decode_meeting(const ptx::Instruction& instruction);
  void take_guard(const ptx::Instruction& instruction, Instruction& result);
  Instruction decode_one(const ptx::Instruction& instruction);
  OperandSlot register_slot(std::string_view name, ptx::Type type);
  OperandSlot new_register(ptx::Type type);
  OperandSlot immediate(const ptx::Operand& operand, ptx::Type type);
  OperandSlot address(const ptx::Operand& operand, ptx::Type type);
  OperandSlot local_address(std::uint64_t offset, int bytes);
  void place_local(const ptx::Variable& variable);
  Passed place_parameter(const ptx::Variable& variable);

  KernelDecoder& kernel_;
  Code& code_;
  std::unique_ptr<const ptx::Function> rewritten_;  ///< nullptr: the function is as in the module
  std::unordered_map<std::string_view, ptx::Type> types_;
  std::unordered_map<std::string_view, OperandSlot> slots_;
  std::unordered_set<std::uint32_t>
      fixed_;  ///< positions of what writes registers once and for all
  std::unordered_map<std::string_view, Local> locals_;
  std::unordered_map<std::string_view, std::size_t> labels_;
  std::optional<OperandSlot> sink_;    ///< takes results that are never read
  std::uint32_t predicates_left_ = 0;  ///< free places in the last vector of predicates
  std::uint32_t next_predicate_ = 0;
  EarlyReads early_reads_;
  std::vector<Placed> placed_;
  std::vector<std::uint32_t> places_;  ///< in placed_, by position in the body; of its end too
  std::vector<compile::Operation> operations_;  ///< by place in placed_
  std::vector<bool> entries_;                   ///< likewise: a block begins there
  std::vector<compile::SlotLife> lives_;
  std::uint32_t position_ = 0;  ///< where the decoded instruction is in the body
  std::uint32_t place_ = 0;     ///< and in placed_
};

}  // namespace warpgauge::emulator::machine::decode
