// Frames of device functions.
#include "harness/emulator/machine/control/frames.h"

#include <algorithm>

#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::control {
namespace {

constexpr std::uint64_t kFrameAlignment = 64;
// A GPU keeps this much of the caller (return address, saved registers), so that endless recursion
// of functions without local variables fills the stack too.
constexpr std::uint64_t kLinkage = 64;

}  // namespace

Frame& FrameStore::take(const Code& code) {
  if (code.number >= spare_.size()) spare_.resize(code.number + 1);
  std::vector<Frame*>& spare = spare_[code.number];
  if (!spare.empty()) {
    Frame& frame = *spare.back();
    spare.pop_back();
    return frame;
  }
  Owned& made = *all_.emplace_back(std::make_unique<Owned>());
  made.registers = AlignedBytes(code.register_bytes);
  made.frame.code = &code;
  made.frame.registers = made.registers.data();
  return made.frame;
}

void FrameStore::give_back(Frame& frame) { spare_[frame.code->number].push_back(&frame); }

std::uint64_t next_frame(std::uint64_t caller_begin, const Code& caller) {
  return round_up(caller_begin + caller.local_bytes + kLinkage, kFrameAlignment);
}

void write_local_addresses(const Frame& frame) {
  for (const Code::LocalAddress& address : frame.code->local_addresses) {
    const std::uint64_t value = frame.local + address.offset;
    std::byte* const to = frame.registers + address.slot.offset;
    if (address.bytes == 4) {
      std::fill_n(reinterpret_cast<std::uint32_t*>(to), kLanes, static_cast<std::uint32_t>(value));
    } else {
      std::fill_n(reinterpret_cast<std::uint64_t*>(to), kLanes, value);
    }
  }
}

PassedValues passed_values(const Warp& warp, const Frame& frame, const Passed& passed) {
  if (!passed.in_register) {
    const memory::MemoryContext& memory = *warp.memory;
    return {memory.local + frame.local + passed.offset, memory.local_stride};
  }
  std::byte* const base =
      passed.slot.base == OperandSlot::frame ? frame.registers : warp.bases[passed.slot.base];
  return {base + passed.slot.offset, passed.bytes};
}

}  // namespace warpgauge::emulator::machine::control
