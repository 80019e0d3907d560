// The operations of atom and red.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::memory {

enum class AtomicOp : std::uint8_t {
  add,
  min,
  max,
  increment,  ///< inc: to 0 above b
  decrement,  ///< dec: to b at 0 and above b
  exchange,
  compare_and_swap,
  bit_and,
  bit_or,
  bit_xor,
};

/// nullptr if PTX has no such operation on the type (or only on 128 bits).
AtomicOperation atomic_operation(AtomicOp op, ptx::Type type);

}  // namespace warpgauge::emulator::machine::memory
