// Throws faults of instructions, and puts their places in front of their messages.
#include "harness/emulator/machine/core/fault.h"

#include <bit>

#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/core/wrapped_product.h"

namespace warpgauge::emulator::machine {

void fault(const Warp& warp, const Instruction& instruction, Mask lanes, Fault::Kind kind,
           const char* what) {
  if (warp.code == nullptr) throw Fault(kind, what);  // its warp belongs to no block
  const int first = lanes == 0 ? 0 : std::countr_zero(lanes);
  throw Fault(kind, what, {act_of(warp, instruction, first), lanes != 0});
}

Fault with_place(const Fault& fault, const KernelCode& kernel, const Launch& launch) {
  if (!fault.site()) return fault;
  const auto& [act, has_thread] = *fault.site();
  std::string text = "kernel " + kernel.display + ", " + block_text(launch, act.block);
  if (has_thread) text += ", " + thread_text(launch, act.thread);
  text += ", " + place_of(act) + ": " + fault.what();
  if (has_thread && fault.kind() == Fault::Kind::illegal_address) {
    text += wrapped_product_text(act, launch);
  }
  return Fault(fault.kind(), text, kernel.name, source_line(*act.code, act.instruction));
}

}  // namespace warpgauge::emulator::machine
