// Messages of faults: the thread and the place.
#include "harness/emulator/machine/fault.h"

#include <array>
#include <bit>
#include <string>

#include "harness/emulator/machine/code.h"
#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/engine.h"

namespace warpgauge::emulator::machine {

std::string place_of(const Warp& warp, const Instruction& instruction, Mask lanes) {
  const control::Block& block = *warp.engine->block;
  std::string text =
      "kernel " + block.launch.code.display + ", block " + control::index_text(block.index);
  if (lanes != 0)
    text += ", thread " + control::index_text(control::thread_index(warp, std::countr_zero(lanes)));
  return text + ", " + source_place(*warp.engine->frame->code, instruction.index);
}

void fault(const Warp& warp, const Instruction& instruction, Mask lanes, Fault::Kind kind,
           const char* what) {
  // A warp that belongs to no block has no place to name.
  if (warp.engine == nullptr || warp.engine->block == nullptr) throw Fault(kind, what);
  throw Fault(kind, place_of(warp, instruction, lanes) + ": " + what,
              warp.engine->block->launch.code.name,
              source_line(*warp.engine->frame->code, instruction.index));
}

}  // namespace warpgauge::emulator::machine
