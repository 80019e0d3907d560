// Which registers an instruction of machine code reads and writes.
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

/// Whether a predicate holds, or does not, as a number. 0: always.
using Condition = unsigned;

/// Whether `condition` is, or may be, about `predicate`.
bool is_about(Condition condition, Register predicate);

struct RegisterUse {
  std::vector<Register> reads;      ///< without the address and the guard
  std::vector<Register> address;    ///< of an access to memory
  std::vector<Register> guard;      ///< the predicate that it executes under; none: always
  Condition condition = 0;          ///< under which it executes
  Condition otherwise = 0;          ///< under which it does not; 0: not known
  std::vector<Condition> never;     ///< of no thread behind it: it sets predicates to constants
  std::vector<Register> writes;     ///< where the guard holds
  std::vector<Register> may_write;  ///< perhaps not, or not all lanes
};

/// Of machine code for `sm`. Of an instruction that is not known here, all that its fields may
/// mean.
RegisterUse registers_of(const SassWord& word, int sm);

}  // namespace warpgauge::metrics
