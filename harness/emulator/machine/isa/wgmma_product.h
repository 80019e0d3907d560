// Products of matrices that a warpgroup makes of tiles in shared memory (wgmma): what the decoder
// hands to the instruction sets' handler.
//
// A (64 x k) and B (k x n) are read and the sums are written when a warp executes the instruction:
// warp w of the four makes rows 16 w to 16 w + 15. With g = lane / 4 and t = lane % 4, the
// accumulators of a lane are columns 2 t and 2 t + 1 of row g, then of row g + 8, of each 8 columns
// in turn; registers of A are those of mma.m16n8k16 and its kin (see matrix.h).
#pragma once

#include <cstdint>
#include <vector>

#include "harness/emulator/machine/isa/matrix.h"

namespace warpgauge::emulator::machine::isa {

/// Instruction::detail of wgmma.mma_async. The instruction's source 3 is a constant: the member
/// masks of a warp-level instruction of all lanes (see warp_ops.h).
struct WarpgroupProduct {
  static constexpr int kRows = 64;        ///< the warpgroup's
  static constexpr int kBytesOfRow = 32;  ///< A's, along k; B's has twice as many if A is sparse

  MatrixElement a_element = MatrixElement::f16, b_element = MatrixElement::f16;
  ptx::Type sum = ptx::Type::f32;  ///< f16, f32 or s32
  int n = 0;
  bool sparse = false;    ///< A has half of the elements; which, is in `metadata`
  bool saturate = false;  ///< .satfinite of integers
  bool negated = false;   ///< the product is, by its imm-scale-a or imm-scale-b
  bool a_is_in_registers = false;
  bool a_is_m_major = false, b_is_n_major = false;
  bool scale_negated = false;
  std::uint8_t selector = 0;  ///< selects the lanes whose metadata count: 0 or 1
  OperandSlot a[4]{};         ///< registers, or in a[0] the descriptor
  OperandSlot b{};            ///< descriptor
  OperandSlot scale{};        ///< predicate: whether D is added to
  OperandSlot metadata{};
  std::vector<OperandSlot> d;
  /// The bytes that the four warps together read of shared memory.
  std::uint32_t a_bytes = 0, b_bytes = 0;
  std::uint32_t counter = 0;

  int bytes_of_column() const { return sparse ? 2 * kBytesOfRow : kBytesOfRow; }
};

}  // namespace warpgauge::emulator::machine::isa
