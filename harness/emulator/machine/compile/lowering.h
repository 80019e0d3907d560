// From instructions to the host's, by families.
#pragma once

#include "harness/emulator/machine/compile/emitter.h"

namespace warpgauge::emulator::machine::compile {

/// The function that writes the code of an instruction; nullptr if it cannot be compiled.
Lowering lowering(const Instruction& instruction, const Operation& operation);

inline bool is_signed(ptx::Type type) {
  using ptx::Type;
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
/// The lower half of a register.
inline Xbyak::Ymm half_of(const Xbyak::Zmm& value) { return Xbyak::Ymm(value.getIdx()); }

/// A source that is a predicate, negated where the instruction says so.
inline Xbyak::Opmask source_predicate(Emitter& e, const Instruction& instruction, int n) {
  return e.read_predicate(instruction.sources[n],
                          (instruction.flags >> n & isa::alu_flag::kNegatedSource0) != 0);
}

/// 32-bit values extended to 64 bits, by their sign or by zeros.
Lanes widened(Emitter& e, const Lanes& value, bool by_sign);

/// Whether an instruction needs the host's arithmetic to keep or to flush subnormal numbers.
enum class Subnormals : std::uint8_t { any, kept, flushed };
Subnormals subnormals_of(const Operation& operation);

// The same for each family; nullptr for the instructions of others.
Lowering lower_lanewise(const isa::AluKey& key);
Lowering lower_product(const isa::AluKey& key);
Lowering lower_approximation(const isa::AluKey& key);
Lowering lower_comparison(const Instruction& instruction, const isa::AluKey& key);
Lowering lower_move(const isa::AluKey& key);
Lowering lower_conversion(const Instruction& instruction, const isa::ConvertKey& key);

}  // namespace warpgauge::emulator::machine::compile
