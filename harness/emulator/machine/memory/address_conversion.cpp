// Instructions of the memory family that access no memory.
#include "harness/emulator/machine/memory/address_conversion.h"

#include <atomic>
#include <optional>

#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/core/window.h"
#include "harness/emulator/machine/memory/cluster_memory.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::memory {
namespace {

/// Constants have addresses of global memory, and a window of their own for isspacep.
Window asked_window_of(const Memory& memory, std::uint64_t address) {
  const Window window = window_of(address);
  if (window != Window::global) return window;
  const std::optional<Memory::Extent> extent = memory.extent(address);
  return extent && extent->rights == Memory::Rights::constant ? Window::constant : Window::global;
}

/// Tells the history, if there is one.
AsyncCopies::Made made_in(const Warp& warp) {
  const MemoryContext& context = *warp.memory;
  if (context.history == nullptr) return {};
  return [&context, &warp](const AsyncCopies::Copy& copy, std::size_t lane) {
    const auto offset = static_cast<std::uint64_t>(copy.to[lane] - context.shared);
    context.history->copied(warp.number, static_cast<int>(lane), offset, copy.bytes);
  };
}

}  // namespace

void execute_nothing(Warp&, const Instruction&) {}

void execute_fence(Warp& warp, const Instruction& instruction) {
  checks::History* const history = warp.memory->history;
  if (history != nullptr) {
    history->fence(warp.number, memory_flag::scope_in(instruction.flags));
    if ((instruction.flags & kOfProxy) != 0) history->fence_proxy(warp.number);
    if ((instruction.flags & kOfMbarriers) != 0) history->fence_mbarriers(warp.number);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void execute_add_offset(Warp& warp, const Instruction& instruction) {
  const auto* const from = source<std::uint64_t>(warp, instruction, 0);
  auto* const to = destination<std::uint64_t>(warp, instruction);
  const auto offset = static_cast<std::uint64_t>(instruction.offset);
  if (warp.active == kAllLanes) {
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = from[lane] + offset;
  } else {
    for_active_lanes(warp, [&](int lane) { to[lane] = from[lane] + offset; });
  }
}

void execute_zero(Warp& warp, const Instruction& instruction) {
  auto* const to = destination<std::uint64_t>(warp, instruction);
  for_active_lanes(warp, [&](int lane) { to[lane] = 0; });
}

void execute_is_in_window(Warp& warp, const Instruction& instruction) {
  const auto* const addresses = source<std::uint64_t>(warp, instruction, 0);
  const auto window = static_cast<Window>(instruction.flags & ~kOfBlock);
  const bool of_block = (instruction.flags & kOfBlock) != 0;
  const MemoryContext& context = *warp.memory;
  Mask inside = 0;
  for_active_lanes(warp, [&](int lane) {
    if (asked_window_of(*context.memory, addresses[lane]) != window) return;
    if (of_block && place_of_wide(context, addresses[lane]).rank != context.rank) return;
    inside |= Mask{1} << lane;
  });
  Mask& result = *destination<Mask>(warp, instruction);
  result = (result & ~warp.active) | inside;
}

void execute_commit_group(Warp& warp, const Instruction&) {
  warp.memory->copies.commit(warp.active);
}

void execute_wait_group(Warp& warp, const Instruction& instruction) {
  warp.memory->copies.wait_group(warp.active, static_cast<std::uint32_t>(instruction.offset),
                                 made_in(warp));
}

void execute_wait_all(Warp& warp, const Instruction&) {
  warp.memory->copies.wait_all(warp.active, made_in(warp));
}

}  // namespace warpgauge::emulator::machine::memory
