// Atomics: one handler for all of them. It finds the lanes' addresses; what is done there is in
// AtomicDetail::operation, which does not gain from vectors.
#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/isa/isa.h"
#include "harness/emulator/machine/isa/memory_lanes.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

template <typename Index>
WARPGAUGE_INLINE void write_pointers(const Checked<Index>& checked, u64* pointers) {
  for (int lane = 0; lane < kLanes; ++lane) {
    pointers[lane] = checked.base + static_cast<u64>(static_cast<s64>(checked.index[lane]));
  }
}

/// Fills the pointers of the active lanes and gives those that are in global memory.
WARPGAUGE_INLINE Mask find_pointers(const Warp& warp, const Instruction& instruction,
                                    const Access& access, u64* pointers) {
  AddressBuffers buffers;
  if (access.space == AccessSpace::shared) {
    write_pointers(shared_lanes(warp, instruction, access, buffers), pointers);
    return 0;
  }
  if (access.space == AccessSpace::global) {
    write_pointers(global_lanes(warp, instruction, access, buffers), pointers);
    return warp.active;
  }
  write_pointers(other_lanes(warp, instruction, access, buffers), pointers);
  const u64* const addresses = wide_addresses(warp, instruction, access, buffers.wide);
  return warp.active & lanes_in(Window::global, addresses, instruction.offset);
}

WARPGAUGE_INLINE const std::byte* vector(const Warp& warp, OperandSlot slot) {
  return warp.bases[slot.base] + slot.offset;
}

void execute_atomic(Warp& warp, const Instruction& instruction) {
  const AtomicDetail& detail = *static_cast<const AtomicDetail*>(instruction.detail);
  alignas(64) u64 pointers[kLanes];
  const Mask global = find_pointers(warp, instruction, detail.access, pointers);
  const Mask others = warp.active & ~global;
  const std::byte* const c = detail.has_c ? vector(warp, detail.c) : nullptr;
  for (int n = 0; n < detail.elements; ++n) {
    const std::byte* const b = vector(warp, detail.b[n]);
    std::byte* const result =
        detail.returns ? warp.bases[OperandSlot::frame] + detail.results[n].offset : nullptr;
    if (global != 0) detail.operation(pointers, global, true, b, c, result);
    if (others != 0) detail.operation(pointers, others, false, b, c, result);
    for (int lane = 0; lane < kLanes; ++lane) pointers[lane] += detail.element_bytes;
  }
}

}  // namespace

Execute atomic_handler() { return execute_atomic; }

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
