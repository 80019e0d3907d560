// Messages of faults: the thread and the place.
#include "harness/emulator/machine/fault.h"

#include <array>
#include <bit>
#include <string>

#include "harness/emulator/machine/code.h"
#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/engine.h"

namespace warpgauge::emulator::machine {
void fault(const Warp& warp, const Instruction& instruction, Mask lanes, Fault::Kind kind,
           const char* what) {
  // A warp that belongs to no block has no place to name.
  if (warp.engine == nullptr || warp.engine->block == nullptr) throw Fault(kind, what);
  const control::Block& block = *warp.engine->block;
  std::string text =
      "kernel " + block.launch.code.display + ", block " + control::index_text(block.index);
  if (lanes != 0)
    text += ", thread " + control::index_text(control::thread_index(warp, std::countr_zero(lanes)));
  const Code& code = *warp.engine->frame->code;
  text += ", " + source_place(code, instruction.index) + ": " + what;
  throw Fault(kind, text, block.launch.code.name, source_line(code, instruction.index));
}

}  // namespace warpgauge::emulator::machine
