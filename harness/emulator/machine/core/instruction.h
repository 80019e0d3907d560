// Instructions as the machine executes them: decoded once, one function call each.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/core/execute.h"
#include "harness/emulator/machine/core/lanes.h"
#include "harness/emulator/machine/core/operand_slot.h"

namespace warpgauge::emulator::machine {

/// One instruction of a function's decoded code.
struct Instruction {
  Execute execute = nullptr;
  OperandSlot destination{};
  OperandSlot
      second_destination{};  ///< q of p|q; shfl's predicate; further results where `detail` says
  OperandSlot sources[4]{};
  OperandSlot guard{};  ///< a predicate; means something only if `guarded` or `sees_to_guard`
  bool guarded = false;
  bool sees_to_guard = false;  ///< is executed also where the guard holds for no lane
  bool guard_negated = false;
  std::uint16_t flags = 0;  ///< their meaning is that of the family of `execute`
  /// If not 0: `execute` does as many instructions from here on; `detail` is the one that stood
  /// here.
  std::uint16_t fused = 0;
  std::uint32_t index = 0;  ///< position in ptx::Function::body: source line, counters, messages
  std::int64_t offset = 0;  ///< added to an address; or a number that the family needs
  const void* detail = nullptr;  ///< more that the family needs; lives as long as the code
};

}  // namespace warpgauge::emulator::machine
