// Keys of arithmetic instructions, by which decoders select the instruction sets' handlers.
#pragma once

#include <cstdint>

#include "harness/emulator/ptx/type.h"

namespace warpgauge::emulator::machine::isa {

enum class AluOp : std::uint8_t {
  // Integer (type u8 .. s64), most of them floating point as well
  add,
  sub,
  mul,
  mul_hi,
  mul_wide,
  mad,
  mad_hi,
  mad_wide,
  fma,
  mul24_lo,
  mul24_hi,
  mad24_lo,
  mad24_hi,
  div,
  rem,
  abs,
  neg,
  min,
  max,
  min3,
  max3,
  sad,
  dp4a,
  dp2a_lo,
  dp2a_hi,
  // Bits (type u8 .. u64; s.. where the sign matters)
  logic_and,
  logic_or,
  logic_xor,
  logic_not,
  cnot,
  lop3,
  shl,
  shr,
  shf_left,
  shf_right,
  prmt,
  prmt_f4e,
  prmt_b4e,
  prmt_rc8,
  prmt_ecl,
  prmt_ecr,
  prmt_rc16,
  popc,
  clz,
  bfind,
  fns,
  brev,
  bfe,
  bfi,
  szext,
  bmsk,
  // Predicates
  pred_mov,
  pred_and,
  pred_or,
  pred_xor,
  pred_lop3,
  // Floating point only. Mixed: f32 whose first operand, of fma the first two, is of type `from`
  add_mixed,
  sub_mixed,
  fma_mixed,
  rcp,
  sqrt,
  rsqrt,
  copysign,
  testp,
  ex2,
  lg2,
  sin,
  cos,
  tanh,
  // Comparison and selection
  setp,
  set,
  selp,
  slct,
  // Data movement
  mov,
  pack,
  unpack,
};

enum class Rounding : std::uint8_t { none, rn, rz, rm, rp };

enum class Comparison : std::uint8_t {
  none,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan,
  // The tests of testp.
  finite,
  infinite,
  number,
  notanumber,
  normal,
  subnormal,
};

namespace alu_option {
inline constexpr std::uint16_t kFtz = 1 << 0;
inline constexpr std::uint16_t kSat = 1 << 1;
inline constexpr std::uint16_t kRelu = 1 << 2;
inline constexpr std::uint16_t kNan = 1 << 3;  ///< min, max: NaN wins
inline constexpr std::uint16_t kXorsignAbs = 1 << 4;
inline constexpr std::uint16_t kCarryIn = 1 << 5;
inline constexpr std::uint16_t kCarryOut = 1 << 6;
inline constexpr std::uint16_t kApprox = 1 << 7;
inline constexpr std::uint16_t kWrap = 1 << 8;           ///< shf, szext, bmsk: else .clamp
inline constexpr std::uint16_t kShiftAmount = 1 << 9;    ///< bfind.shiftamt
inline constexpr std::uint16_t kPacked = 1 << 10;        ///< two values of the type in one register
inline constexpr std::uint16_t kSecondSigned = 1 << 11;  ///< dp4a, dp2a: b is signed
inline constexpr std::uint16_t kFull = 1 << 12;          ///< div: a better approximation
}  // namespace alu_option

/// Names a handler: one function for each key that there is.
struct AluKey {
  AluOp op;
  ptx::Type type = ptx::Type::none;  ///< the operation's; b8 .. b64 are not used: say u8 .. u64
  ptx::Type from = ptx::Type::none;  ///< the type that set compares, of slct's c, or of mixed ones
  Rounding rounding = Rounding::none;
  Comparison comparison = Comparison::none;
  std::uint16_t options = 0;  ///< alu_option
};

/// Instruction::flags of these families: choices that are cheap to make during execution.
namespace alu_flag {
/// A source that is a negated predicate: bit n for source n.
inline constexpr std::uint16_t kNegatedSource0 = 1 << 0;
/// setp and set: how the comparison is combined with predicate c.
inline constexpr std::uint16_t kCombineShift = 4;
inline constexpr std::uint16_t kCombineMask = 3 << kCombineShift;
enum Combine : std::uint16_t { kPlain, kAnd, kOr, kXor };
/// There is a second destination.
inline constexpr std::uint16_t kSecondDestination = 1 << 6;
}  // namespace alu_flag

}  // namespace warpgauge::emulator::machine::isa
