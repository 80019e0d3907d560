// One arithmetic instruction while it is decoded: its modifiers, key, operands.
#pragma once

#include <string_view>

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/decode/decoder.h"
#include "harness/emulator/machine/decode/modifiers.h"
#include "harness/emulator/machine/isa/alu.h"
#include "harness/emulator/machine/isa/isa.h"

namespace warpgauge::emulator::machine::decode {

using isa::AluKey;
using isa::AluOp;
using isa::Comparison;
using isa::Rounding;
namespace alu_flag = isa::alu_flag;
namespace alu_option = isa::alu_option;

struct AluForm {
  AluForm(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
          Instruction* result)
      : modifiers(instruction),
        instruction(instruction),
        decoder(decoder),
        isa(isa),
        result(*result) {}

  Modifiers modifiers;
  AluKey key{};
  const ptx::Instruction& instruction;
  Decoder& decoder;
  const isa::Isa& isa;
  Instruction& result;

  /// A type among the modifiers, in order: bits as unsigned integers. Of f16x2 and its like it is
  /// the element's, and sets the option kPacked. Throws Unsupported if there is none.
  ptx::Type take_type();
  /// Sets an option if there is such a modifier.
  void take_option(std::string_view modifier, std::uint16_t option);
  void take_rounding();
  /// Whether operands of f32 are narrower, as of add.f32.f16: sets `op` and the key's `from`.
  bool take_mixed(AluOp op);
  bool is_integer() const;

  /// Operand n, counted with the destination. Throws Unsupported if there are too few.
  const ptx::Operand& operand(std::size_t n) const;
  /// The type of registers for the key's type: of two elements if packed.
  ptx::Type register_type() const;

  void destination(const ptx::Operand& operand, ptx::Type type);
  void second_destination(const ptx::Operand& operand, ptx::Type type);
  /// Source n of the decoded instruction. Notes whether it is a negated predicate.
  void source(int n, const ptx::Operand& operand, ptx::Type type);
  /// Destination and sources of the types, in the instruction's order. Throws Unsupported if it has
  /// another number of operands.
  void operands(ptx::Type to, std::initializer_list<ptx::Type> from);
  void count_operands(std::size_t count) const;

  /// All modifiers must have been taken. Throws Unsupported if the key has no handler.
  void finish();
};

/// The type of values of so many bytes that are only passed on. Throws Unsupported.
ptx::Type unsigned_of(int bytes);

// By groups of opcodes: false if it is not of the group.
bool decode_integer(AluForm& form);
bool decode_bits(AluForm& form);
bool decode_float(AluForm& form);
bool decode_comparison(AluForm& form);
bool decode_move(AluForm& form);

}  // namespace warpgauge::emulator::machine::decode
