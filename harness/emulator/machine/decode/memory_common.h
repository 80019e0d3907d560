// Shared by the decoders of memory instructions: addresses, spaces, and how accesses count.
#pragma once

#include <optional>
#include <span>

#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/scope.h"
#include "harness/emulator/machine/decode/decoder.h"
#include "harness/emulator/machine/decode/modifiers.h"
#include "harness/emulator/machine/isa/isa.h"
#include "harness/emulator/machine/memory/atomic_operations.h"
#include "harness/emulator/machine/memory/whole_requests.h"

namespace warpgauge::emulator::machine::decode {

/// Takes the state space of an instruction; generic if it names none. Parameters come out as
/// `parameter`, whosever they are.
AccessSpace take_space(Modifiers& modifiers);

/// The scope that its modifiers name, or Scope::grid.
Scope scope_of(const ptx::Instruction& instruction);
/// Takes what does not change results here: scopes, and hints to caches. True if there is the hint
/// that comes with an operand, the cache policy.
bool take_hints(Modifiers& modifiers);

/// Takes the operation of an atomic or of a reduction; nothing if it is none of `add`, `min`,
/// `max`, `inc`, `dec`, `and`, `or`, `xor`, `exch` and `cas`.
std::optional<memory::AtomicOp> take_atomic_op(Modifiers& modifiers);
/// The same of an asynchronous reduction, which neither exchanges nor compares. Throws Unsupported.
memory::AtomicOp take_reduction_op(Modifiers& modifiers);

/// An address operand.
struct Address {
  OperandSlot slot{};
  bool is_short = false;  ///< 32 bits a lane
  std::int64_t offset = 0;
};
/// Throws Unsupported if the operand is none, or has 32 bits where the space needs 64.
Address decode_address(const ptx::Operand& operand, AccessSpace space, Decoder& decoder);

/// Where the copies of a bulk copy count, as its plan says.
memory::BulkCounter bulk_counter(const ptx::Instruction& instruction, Decoder& decoder);

/// How an instruction accesses memory and counts, with counters for all spaces that it may access.
Access decode_access(const ptx::Instruction& instruction, Decoder& decoder, AccessEffect effect,
                     AccessSpace space, int width);

/// The registers of an operand, a vector or one alone. Throws Unsupported if there are not so many.
std::span<const ptx::Operand> elements_of(const ptx::Operand& operand, int count);

/// Operand `n`; throws Unsupported if there are fewer.
const ptx::Operand& operand_at(const ptx::Instruction& instruction, std::size_t n);
/// The same of a number; throws Unsupported if it is none.
std::uint64_t integer_at(const ptx::Instruction& instruction, std::size_t n);

bool decode_move(const ptx::Instruction&, Decoder&, const isa::Isa&,
                 Instruction*);  ///< ld, ldu, st
bool decode_atomic(const ptx::Instruction&, Decoder&, const isa::Isa&,
                   Instruction*);  ///< atom, red
bool decode_async(const ptx::Instruction&, Decoder&, const isa::Isa&,
                  Instruction*);  ///< cp.async, ldmatrix, stmatrix
bool decode_bulk_copy(const ptx::Instruction&, Decoder&, const isa::Isa&,
                      Instruction*);  ///< cp.async.bulk, cp.reduce.async.bulk, st.async, red.async
bool decode_tensor_copy(const ptx::Instruction&, Decoder&, const isa::Isa&,
                        Instruction*);  ///< cp.async.bulk.tensor, tensormap, their prefetches
bool decode_address_op(const ptx::Instruction&, Decoder&, const isa::Isa&,
                       Instruction*);  ///< cvta, isspacep, fences, prefetches

}  // namespace warpgauge::emulator::machine::decode
