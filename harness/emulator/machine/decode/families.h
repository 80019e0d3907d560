// The families of instructions and their decoding functions.
#pragma once

#include "harness/emulator/machine/decode/decoder.h"
#include "harness/emulator/machine/isa/isa.h"

namespace warpgauge::emulator::machine {
struct Instruction;
}

namespace warpgauge::emulator::machine::decode {

/// Fills `result` (execute, slots, flags, offset, detail; guard and index are filled by the caller)
/// and returns true, or returns false if the opcode is not of the family. Throws Unsupported for a
/// form it cannot do: an unknown modifier is never ignored.
using Decode = bool(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                    Instruction* result);

Decode decode_control;  ///< bra, brx, call, ret, exit, trap, barriers, nanosleep, clocks
Decode decode_warp_op;  ///< shfl, vote, match, redux, activemask, elect
Decode decode_memory;   ///< ld, st, ldu, prefetch, fences, cvta, isspacep, atom, red, cp.async, ...
Decode decode_alu;      ///< integer, logic, floating point, comparison, selection, mov
Decode decode_convert;  ///< cvt
Decode decode_matrix;   ///< mma, and the movement of matrices between registers
Decode decode_warpgroup;  ///< wgmma, setmaxnreg
Decode decode_texture;    ///< tex, tld4, txq, suld, sust, suq
Decode decode_video;      ///< vadd, vadd2, vadd4, vabsdiff4, vmad, vset, ...

}  // namespace warpgauge::emulator::machine::decode
