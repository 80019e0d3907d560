// The registers that an instruction of machine code reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "metrics/machine_code/sass_code.h"

namespace warpgauge::metrics {

/// A register of a thread or a warp: R0 to R254, UR0 to UR254, P0 to P6, UP0 to UP6, and the result
/// of a barrier that votes. RZ, PT and their like are constants and none.
using Register = std::uint16_t;
inline constexpr Register kUniform = 256, kPredicate = 512, kUniformPredicate = 520,
                          kBarrierResult = 528;
inline constexpr std::size_t kRegisters = 529;

/// A condition, as a number: a predicate holds, or it does not. 0: always.
using Condition = unsigned;

/// True if `condition` is, or may be, about `predicate`.
bool is_about(Condition condition, Register predicate);

struct RegisterUse {
  std::vector<Register> reads;    ///< without the address and the guard
  std::vector<Register> address;  ///< the address of an access to memory
  std::vector<Register> guard;    ///< the predicate that it executes under; none: always
  Condition condition = 0;        ///< the condition under which it executes
  Condition otherwise = 0;        ///< the condition under which it does not; 0: not known
  std::vector<Condition> never;   ///< hold for no thread behind it: it sets predicates to constants
  std::vector<Register> writes;   ///< written where the guard holds
  std::vector<Register> may_write;  ///< perhaps written, or only in some lanes
};

/// The registers of an instruction for `sm`. For an unknown instruction, all registers that its
/// fields can mean.
RegisterUse registers_of(const SassWord& word, int sm);

}  // namespace warpgauge::metrics
