// The operation of an instruction that can be compiled: the key that chose its handler.
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
  bool is_back = false;     ///< the branch goes back
  bool is_watched = false;  ///< the ways of warps at the branch are counted
};

}  // namespace warpgauge::emulator::machine::compile
