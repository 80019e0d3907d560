// Compiles what lies between accesses to memory and branches: instructions that follow each other
// and only compute become one function of machine code, in which values stay in the host's
// registers. It does to a warp what the handlers do one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/emulator/machine/compile/operation.h"
#include "harness/emulator/machine/core/instruction.h"

namespace warpgauge::emulator::machine::compile {

/// The value in a place of the frame is needed between two places in the code, both included.
struct SlotLife {
  std::uint32_t offset;  ///< where the slot begins
  std::uint32_t first, last;
};

/// The code of a function, decoded, and what is known of it.
struct Input {
  std::vector<Instruction>& instructions;
  const std::vector<Operation>& operations;  ///< by place
  const std::vector<bool>& entries;          ///< by place: lanes may come there from elsewhere
  const std::vector<SlotLife>& lives;        ///< by offset, then by place
  std::size_t shortest = 2;                  ///< sequence that is worth it
};

/// Compiles what can be compiled. The first instruction of each sequence then executes all of it
/// (see Instruction::fused); the others stay what they are. The code lives as long as what this
/// returns: nullptr if there is none, or the host lets no memory hold code. The host must have
/// AVX-512 (F, BW, DQ, VL).
std::shared_ptr<const void> compile(const Input& input);

}  // namespace warpgauge::emulator::machine::compile
