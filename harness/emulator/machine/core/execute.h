// The function that executes an instruction.
#pragma once

namespace warpgauge::emulator::machine {

struct Warp;
struct Instruction;
using Execute = void (*)(Warp&, const Instruction&);

}  // namespace warpgauge::emulator::machine
