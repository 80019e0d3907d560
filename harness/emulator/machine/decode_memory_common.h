// What the decoders of memory instructions share: addresses, spaces, and how accesses count.
#pragma once

#include <optional>

#include "harness/emulator/machine/decoder.h"
#include "harness/emulator/machine/instruction.h"
#include "harness/emulator/machine/isa.h"
#include "harness/emulator/machine/memory_access.h"
#include "harness/emulator/machine/modifiers.h"

namespace warpgauge::machine {

/// Takes the state space of an instruction; generic if it names none. Parameters come out as
/// `parameter`, whosever they are.
AccessSpace take_space(Modifiers& modifiers);

/// Takes what does not change results here: scopes, and hints to caches. True if there is the hint
/// that comes with an operand, the cache policy.
bool take_hints(Modifiers& modifiers);

/// An address operand.
struct Address {
  Slot slot{};
  bool is_short = false;  ///< 32 bits a lane
  std::int64_t offset = 0;
};
/// Throws Unsupported if the operand is none, or has 32 bits where the space needs 64.
Address decode_address(const ptx::Operand& operand, AccessSpace space, Decoder& decoder);

/// How an instruction accesses memory and counts, with counters for all spaces that it may access.
Access decode_access(const ptx::Instruction& instruction, Decoder& decoder, AccessEffect effect,
                     AccessSpace space, int width);

/// Operand `n`; throws Unsupported if there are fewer.
const ptx::Operand& operand_at(const ptx::Instruction& instruction, std::size_t n);

bool decode_move(const ptx::Instruction&, Decoder&, const Isa&, Instruction*);    ///< ld, ldu, st
bool decode_atomic(const ptx::Instruction&, Decoder&, const Isa&, Instruction*);  ///< atom, red
bool decode_async(const ptx::Instruction&, Decoder&, const Isa&,
                  Instruction*);  ///< cp.async, ldmatrix, stmatrix
bool decode_address_op(const ptx::Instruction&, Decoder&, const Isa&,
                       Instruction*);  ///< cvta, isspacep, fences, prefetches

}  // namespace warpgauge::machine
