// Bounds and rights of accesses to global memory.
#include "harness/emulator/machine/memory/access_bounds.h"

#include <bit>
#include <optional>
#include <string>

#include "harness/emulator/machine/checks/findings.h"
#include "harness/emulator/machine/core/access_text.h"
#include "harness/emulator/machine/core/act.h"
#include "harness/emulator/machine/memory/access_cache.h"
#include "harness/emulator/machine/memory/access_faults.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::memory {
namespace {

bool has_right(const Access& access, Memory::Rights rights) {
  if (access.space == AccessSpace::constant) return rights == Memory::Rights::constant;
  return rights == Memory::Rights::write || access.effect == AccessEffect::read;
}

/// Whether all of the bytes lie in the extent. The sum of address and bytes may wrap around.
bool holds(const Memory::Extent& extent, std::uint64_t address, std::uint64_t bytes) {
  return address >= extent.begin && address < extent.end && bytes <= extent.end - address;
}

/// Bytes that a lane is to access.
struct Wanted {
  const Warp& warp;
  const Instruction& instruction;
  const Access& access;
  int lane;
  std::uint64_t address, bytes;
  const char* range = nullptr;  ///< "destination of cp.async.bulk"; nullptr: an access of a lane
};

/// Why the bytes must not be accessed; `found` is the live allocation at their first one.
std::string objection(const Wanted& wanted, const std::optional<Memory::Extent>& found) {
  const Memory& memory = *wanted.warp.memory->memory;
  const auto* const pointer = reinterpret_cast<const void*>(wanted.address);
  const std::string place = memory.describe(pointer, wanted.bytes);
  if (!found || !holds(*found, wanted.address, wanted.bytes)) return place;
  const bool wants_constant = wanted.access.space == AccessSpace::constant;
  return place + ", " +
         (wants_constant ? "which is not constant memory" : memory.find(pointer)->why_read_only);
}

/// "global read of 4 bytes at 0x7f...", "destination of cp.async.bulk, 64 bytes"
std::string name_of(const Wanted& wanted) {
  if (wanted.range == nullptr) return title(wanted.access, Window::global, wanted.address);
  return std::string(wanted.range) + ", " + std::to_string(wanted.bytes) + " bytes";
}

void note_use(const Wanted& wanted, const Memory::Extent& used) {
  const std::string name = name_of(wanted);
  wanted.warp.memory->findings->note_use(
      act_of(wanted.warp, wanted.instruction, wanted.lane), name.substr(0, name.rfind(" at 0x")),
      reinterpret_cast<const std::byte*>(used.allocation), wanted.address, wanted.bytes);
}

/// The live allocation that the bytes lie in. Throws the fault of the lane if there is none, or if
/// it has not the right to be there.
Memory::Extent admitted(const Wanted& wanted) {
  Memory& memory = *wanted.warp.memory->memory;
  const std::optional<Memory::Extent> found =
      wanted.access.effect == AccessEffect::read
          ? memory.extent(wanted.address)
          : memory.extent_to_write(wanted.address, wanted.bytes);
  if (found && holds(*found, wanted.address, wanted.bytes) &&
      has_right(wanted.access, found->rights)) {
    if (found->tells_uses) note_use(wanted, *found);
    return *found;
  }
  const std::string invalid = wanted.range == nullptr ? "invalid " : "";
  refuse(wanted.warp, wanted.instruction, wanted.lane, Fault::Kind::illegal_address,
         invalid + name_of(wanted) + ": " + objection(wanted, found));
}

}  // namespace

Memory::Extent admit_lane(const Warp& warp, const Instruction& instruction, const Access& access,
                          int lane, std::uint64_t address, std::uint64_t bytes) {
  return admitted({warp, instruction, access, lane, address, bytes});
}

void admit_range(const Warp& warp, const Instruction& instruction, AccessEffect effect, int lane,
                 std::uint64_t address, std::uint64_t bytes, const char* what) {
  const Access access = {.effect = effect, .space = AccessSpace::global};
  admitted({warp, instruction, access, lane, address, bytes, what});
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
    if (holds(extent, address, access.used_to)) continue;
    extent = admitted({warp, instruction, access, lane, address, access.used_to});
  }
  cache.begin = extent.begin;
  cache.end = extent.end;
  cache.generation = generation;
}

}  // namespace warpgauge::emulator::machine::memory
