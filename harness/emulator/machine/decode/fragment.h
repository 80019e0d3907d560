// Matrices in the registers of a warp: what the decoders of mma, wmma, ldmatrix and their kin
// share.
#pragma once

#include <string_view>
#include <vector>

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/decode/decoder.h"
#include "harness/emulator/machine/decode/modifiers.h"
#include "harness/emulator/machine/isa/isa.h"
#include "harness/emulator/machine/isa/matrix.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::decode {

/// All lanes take part: the handler waits for them as for those of a shuffle.
void wait_for_all_lanes(Decoder& decoder, Instruction* result);

/// The operand's registers: a vector, or one alone. Throws Unsupported if there are not so many.
std::vector<ptx::Operand> registers_of(const ptx::Operand& operand, int expected);

/// Throws Unsupported for a type that no product has.
isa::MatrixElement matrix_element(std::string_view name);

/// m x n x k of wmma.
struct WmmaShape {
  int m = 0, n = 0, k = 0;
  /// Where A has fewer lines than B, the machine code multiplies their transposes: A is in the
  /// registers as B is in those of other shapes, and B as A.
  bool transposed() const { return m < n; }
  bool operator==(const WmmaShape&) const = default;
};
WmmaShape take_wmma_shape(Modifiers& modifiers);
/// Whether wmma has the shape with these elements of A and B.
bool exists(const WmmaShape& shape, isa::MatrixElement element);

/// How many registers wmma lists at least for A or B: with f16 some of them are copies.
constexpr int fewest_registers(isa::MatrixElement element) {
  return element == isa::MatrixElement::f16 ? 8 : 1;
}

bool decode_fragment_move(const ptx::Instruction&, Decoder&, const isa::Isa&,
                          Instruction*);  ///< wmma.load, wmma.store

}  // namespace warpgauge::emulator::machine::decode
