// Bounds and rights of accesses to global memory.
#include "harness/emulator/machine/memory/access_bounds.h"

#include <bit>
#include <optional>
#include <string>

#include "harness/emulator/machine/core/access_text.h"
#include "harness/emulator/machine/memory/access_cache.h"
#include "harness/emulator/machine/memory/access_faults.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::memory {
namespace {

bool has_right(const Access& access, Memory::Rights rights) {
  if (access.space == AccessSpace::constant) return rights == Memory::Rights::constant;
  return rights == Memory::Rights::write || access.effect == AccessEffect::read;
}

/// Null if the access is inside of a live allocation and has the right to be; else why not.
std::optional<std::string> objection(const Memory& memory, const Access& access,
                                     std::uint64_t address, std::uint64_t bytes,
                                     Memory::Extent* extent) {
  const std::optional<Memory::Extent> found = memory.extent(address);
  const auto* const pointer = reinterpret_cast<const void*>(address);
  if (!found || address + bytes > found->end) return memory.describe(pointer, bytes);
  if (!has_right(access, found->rights)) {
    const bool wants_constant = access.space == AccessSpace::constant;
    return memory.describe(pointer, bytes) + ", " +
           (wants_constant ? "which is not constant memory" : memory.find(pointer)->why_read_only);
  }
  *extent = *found;
  return std::nullopt;
}

}  // namespace

void admit_lane(const Warp& warp, const Instruction& instruction, const Access& access, int lane,
                std::uint64_t address, std::uint64_t bytes) {
  Memory::Extent extent;
  const auto why = objection(*warp.memory->memory, access, address, bytes, &extent);
  if (!why) return;
  refuse(warp, instruction, lane, Fault::Kind::illegal_address,
         "invalid " + title(access, Window::global, address) + ": " + *why);
}

void admit_range(const Warp& warp, const Instruction& instruction, AccessEffect effect, int lane,
                 std::uint64_t address, std::uint64_t bytes, const char* what) {
  Memory::Extent extent;
  const Access access = {.effect = effect, .space = AccessSpace::global};
  const auto why = objection(*warp.memory->memory, access, address, bytes, &extent);
  if (!why) return;
  refuse(warp, instruction, lane, Fault::Kind::illegal_address,
         std::string(what) + ", " + std::to_string(bytes) + " bytes: " + *why);
}

void admit(const Warp& warp, const Instruction& instruction, const Access& access,
           const LaneAddresses<std::uint64_t>& lanes) {
  const Memory& memory = *warp.memory->memory;
  AccessCache& cache =
      warp.memory->caches[access.counters[static_cast<std::size_t>(Window::global)]];
  // Asked for before the bounds: if an allocation goes in between, they are looked up again.
  const std::uint64_t generation = memory.generation();
  Memory::Extent extent;
  for (Mask rest = lanes.lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t address = address_of(lanes, lane);
    if (address >= extent.begin && address + access.used_to <= extent.end) continue;
    const auto why = objection(memory, access, address, access.used_to, &extent);
    if (why) {
      refuse(warp, instruction, lane, Fault::Kind::illegal_address,
             "invalid " + title(access, Window::global, address) + ": " + *why);
    }
  }
  cache.begin = extent.begin;
  cache.end = extent.end;
  cache.generation = generation;
}

}  // namespace warpgauge::emulator::machine::memory
