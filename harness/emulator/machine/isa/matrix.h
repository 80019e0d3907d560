// Products of matrices that lie in the registers of a warp (mma, wmma.mma), and their movement
// between lanes: what the decoder asks the instruction sets' handlers by.
//
// With g = lane / 4 and t = lane % 4, and E elements in a register: register r of A (m x k) has
// row g + 8 (r mod (m / 8)) and columns 4 E (r / (m / 8)) + t E and the next ones; register r of B
// (k x n) has column g and rows 4 E r + t E and the next ones; the accumulators C and D (m x n)
// have columns 2 t and 2 t + 1 of row g, then of row g + 8 (PTX ISA, fragments of mma.m16n8k16 and
// its kin: all of them follow this).
#pragma once

#include <cstdint>

#include "harness/emulator/machine/core/operand_slot.h"
#include "harness/emulator/ptx/type.h"

namespace warpgauge::emulator::machine::isa {

enum class MatrixElement : std::uint8_t {
  f16,
  bf16,
  tf32,
  f64,
  s8,
  u8,
  s4,
  u4,
  b1,
  e4m3,
  e5m2,
  e2m3,          ///< in the lower six bits of a byte
  e3m2,          ///< likewise
  e2m1,          ///< has four bits
  e2m1_in_byte,  ///< in bits 2 to 5
};

struct MatrixKey {
  enum class Op : std::uint8_t {
    multiply,
    exclusive_or,  ///< combines bits by xor instead of their product
    transpose,
    multiply_tiles,   ///< wgmma: the rest of the key is in its WarpgroupProduct (wgmma_product.h)
    multiply_narrow,  ///< mma with a .kind: a and b are in its NarrowProduct; c and d are equal
  };
  Op op = Op::multiply;
  MatrixElement a = MatrixElement::f16, b = MatrixElement::f16;
  /// f16, f32, f64 or s32. Sums are of the wider of the two.
  ptx::Type c = ptx::Type::none, d = ptx::Type::none;
};

/// Instruction::detail of a product: of one with n = 8, or of two that share A or B and make a
/// larger one. The instruction's source 3 is a constant: the member masks of a warp-level
/// instruction of all lanes (see warp_ops.h).
struct MatrixProduct {
  int m = 0, k = 0;            ///< 8 or 16; up to 128
  int step = 0;                ///< sums are rounded after so many elements along k
  int parts = 1;               ///< 1 or 2
  int next_a = 0, next_b = 0;  ///< where the second one's registers of A and B begin
  bool saturate = false;       ///< .satfinite of integers
  OperandSlot a[8]{}, b[4]{}, c[8]{}, d[8]{};
};

/// The scales of A or B, of a byte each. Of a row of A or a column of B, g + 8 i, lane 4 g + i plus
/// what `thread` says has them: for A 2 `thread`, for B `thread` itself. They are the bytes from
/// number `byte` on, one for each block along k (PTX ISA, block scaling of mma).
struct MatrixScales {
  OperandSlot bytes, byte, thread;
};

/// Instruction::detail of mma with a .kind, whose sums are rounded once.
struct NarrowProduct : MatrixProduct {
  MatrixElement elements[2]{};  ///< those of A and B
  int blocks = 0;               ///< along k that have scales of their own: 0 (none), 1, 2 or 4
  bool e4m3_scales = false;     ///< ue4m3, not ue8m0
  MatrixScales scales[2]{};
};

/// The element whose bits are the lowest of a register comes first.
constexpr int bits_of(MatrixElement element) {
  switch (element) {
    case MatrixElement::f64:
      return 64;
    case MatrixElement::tf32:
      return 32;
    case MatrixElement::f16:
    case MatrixElement::bf16:
      return 16;
    case MatrixElement::s4:
    case MatrixElement::u4:
    case MatrixElement::e2m1:
      return 4;
    case MatrixElement::b1:
      return 1;
    default:
      return 8;
  }
}
constexpr int elements_per_register(MatrixElement element) {
  return element == MatrixElement::f64 ? 1 : 32 / bits_of(element);
}

}  // namespace warpgauge::emulator::machine::isa
