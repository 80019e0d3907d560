// The parts of wmma.load and wmma.store, by their text alone: how the fragment lies in registers
// and in memory, and the accesses that ptxas makes of it for sm_90. Asked by the decoder and by the
// oracle.
//
// A fragment has lines along which the elements that are multiplied lie (rows of A, columns of B)
// or, of C and D, rows; of transposed products (see WmmaShape) the other way round. It consists of
// blocks of 8 lines, in each of which a lane has a run of neighbouring elements: of the factors as
// many as fill a register, of C and D two. Lane l has run l mod 4 of line l / 4.
#pragma once

#include <algorithm>
#include <string>

#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/decode/fragment.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::decode {

/// A wmma.load or wmma.store.
struct FragmentMove {
  bool store = false;
  char matrix = 'a';  ///< a, b, c or d
  bool row_major = true;
  WmmaShape shape;
  AccessSpace space = AccessSpace::generic;
  std::string type;
};
/// Throws Unsupported for a form that is not emulated.
FragmentMove take_fragment_move(const ptx::Instruction& instruction);

/// How a fragment lies in registers and in memory.
struct Fragment {
  bool is_factor = true;  ///< A or B
  int bits = 16;          ///< an element's
  int lines = 0, depth = 0;
  bool along = true;  ///< lines lie in memory with their elements next to each other
  int height = 16;    ///< so many lines have their registers before those of the next ones

  int run() const { return is_factor ? std::max(1, 32 / bits) : 2; }
  int line_blocks() const { return lines / 8; }
  int depth_blocks() const { return depth / (4 * run()); }
  /// The registers of a block.
  int registers() const { return is_factor || bits == 16 ? 1 : 2; }
  /// Place of a block among the registers.
  int place(int line_block, int depth_block) const {
    const int high = std::min(height, lines) / 8;
    return line_block / high * high * depth_blocks() + depth_block * high + line_block % high;
  }
};
/// Throws Unsupported for a shape that the type does not have.
Fragment fragment_of(const FragmentMove& move);

/// The accesses that a fragment is moved by, all alike.
struct FragmentParts {
  using Form = FragmentDetail::Part::Form;

  Form form = Form::values;
  int count = 0;      ///< so many accesses
  int in_block = 1;   ///< accesses in a block; each of LDSM's is of two blocks of lines
  int width = 4;      ///< bytes that a lane accesses; LDSM: a row of a matrix
  int registers = 1;  ///< each lane's

  bool is_by_rows() const { return form == Form::rows || form == Form::transposed_rows; }  ///< LDSM
};
FragmentParts parts_of(const FragmentMove& move, const Fragment& fragment);

}  // namespace warpgauge::emulator::machine::decode
