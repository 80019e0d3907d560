// The families of instructions and their decoding functions. Control flow (bra, call, barriers,
// clocks, mbarriers, clusters) needs a FunctionDecoder: see control.h.
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
using Family = bool(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                    Instruction* result);

Family decode_warp_op;  ///< shfl, vote, match, redux, activemask, elect
Family decode_memory;   ///< ld, st, ldu, prefetch, fences, cvta, isspacep, atom, red, cp.async, ...
Family decode_alu;      ///< integer, logic, floating point, comparison, selection, mov
Family decode_convert;  ///< cvt
Family decode_matrix;   ///< mma, and the movement of matrices between registers
Family decode_warpgroup;  ///< wgmma, setmaxnreg
Family decode_texture;    ///< tex, tld4, txq, suld, sust, suq
Family decode_video;      ///< vadd, vadd2, vadd4, vabsdiff4, vmad, vset, ...

}  // namespace warpgauge::emulator::machine::decode
