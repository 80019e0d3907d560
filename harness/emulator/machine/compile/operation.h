// What an instruction computes, as far as it can be compiled: the key that chose its handler.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/isa/alu.h"
#include "harness/emulator/machine/isa/convert.h"

namespace warpgauge::emulator::machine::compile {

struct Operation {
  enum class Kind : std::uint8_t {
    other,    ///< nothing that is known here
    nothing,  ///< does nothing: its result lies where its source does
    alu,
    convert,
    branch,  ///< to one place: Instruction::detail
  };
  Kind kind = Kind::other;
  isa::AluKey alu{};
  isa::ConvertKey convert{};
  bool is_back = false;     ///< of a branch
  bool is_watched = false;  ///< likewise: the ways of warps are counted
};

}  // namespace warpgauge::emulator::machine::compile
