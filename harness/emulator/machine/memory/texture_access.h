// Handlers of textures and surfaces: tex, tld4, txq, suld, sust, suq. They are rare and expensive
// in themselves, so they go lane by lane and are the same for all instruction sets. No counter has
// their traffic: it does not go through the path of global memory.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/texture.h"

namespace warpgauge::emulator::machine::memory {

/// The coordinates that an instruction gives.
struct Geometry {
  int dimensions = 1;
  bool layered = false;  ///< the layer comes first
  bool cubemap = false;
};

/// The behaviour of surface accesses outside of the surface.
enum class Outside { trap, clamp, zero };

/// Detail of all instructions here; each uses a part of it.
struct ImageAccess {
  Geometry geometry;
  OperandSlot handle{};
  OperandSlot layer{};
  OperandSlot coordinates[3]{};
  bool integer_coordinates = false;
  bool wants_float = false;  ///< tex: values are to be floats
  int channel = -1;          ///< tld4: which one is gathered
  int count = 4;             ///< values that are read or written
  OperandSlot values[4]{};
  int value_bytes[4]{};   ///< sizes of their registers
  int element_bytes = 4;  ///< suld, sust: of each value in memory
  Outside outside = Outside::trap;
  std::uint64_t (*query)(const Texels&) = nullptr;
};

void execute_tex(Warp& warp, const Instruction& instruction);  ///< tld4 too
void execute_txq(Warp& warp, const Instruction& instruction);
void execute_suq(Warp& warp, const Instruction& instruction);
void execute_suld(Warp& warp, const Instruction& instruction);
void execute_sust(Warp& warp, const Instruction& instruction);

}  // namespace warpgauge::emulator::machine::memory
