// The video instructions: arithmetic on words, on two half-words or on four bytes, with a second
// operation or a merge after it.
#pragma once

#include <array>
#include <cstdint>

#include "harness/emulator/machine/core/execute.h"

namespace warpgauge::emulator::machine::control {

/// One video instruction.
struct Video {
  enum class Op { add, sub, absdiff, min, max, average, shl, shr, mad, eq, ne, lt, le, gt, ge };
  enum class Then { nothing, add, min, max, merge };

  /// Part of a word.
  struct Part {
    int shift = 0, bits = 32;
  };

  Op op = Op::add;
  Then then = Then::nothing;
  int elements = 1;  ///< 1, 2 or 4
  bool is_signed = false, a_is_signed = false, b_is_signed = false;
  bool saturates = false;
  bool wraps = false;  ///< shifts: by b mod 32, else by at most 32

  // With one element: the parts of the operands, and of the result, which is merged into c.
  Part a, b, to;
  // With several: the bytes or half-words of b:a that the operands are, and a mask of the elements
  // of the result that are not c's.
  std::array<int, 4> a_elements{}, b_elements{};
  unsigned mask = 0;

  // For mad.
  bool product_negated = false, c_negated = false, plus_one = false;
  int scale = 0;  ///< bits that the result is shifted to the right

  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
};

/// Instruction::detail is the Video.
void execute_video(Warp& warp, const Instruction& instruction);

}  // namespace warpgauge::emulator::machine::control
