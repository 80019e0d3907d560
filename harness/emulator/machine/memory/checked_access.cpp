// Shows accesses to the checks of the launch; the check that needs no history.
#include "harness/emulator/machine/memory/checked_access.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "harness/emulator/machine/checks/access_findings.h"
#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::memory {
namespace {

/// Lanes of the warp that store different values to one word.
template <typename Address>
void check_store(const Warp& warp, const Instruction& instruction, const Access& access,
                 const LaneAddresses<Address>& lanes) {
  if (!access.is_store) return;
  const auto& detail = *static_cast<const MoveDetail*>(instruction.detail);
  const auto differ = [&](int a, int b) {
    for (int n = 0; n * detail.element_bytes < access.width; ++n) {
      const OperandSlot slot = detail.elements[n];
      const std::byte* const values = warp.bases[slot.base] + slot.offset;
      if (std::memcmp(values + a * detail.register_bytes, values + b * detail.register_bytes,
                      detail.element_bytes) != 0) {
        return true;
      }
    }
    return false;
  };
  for (Mask rest = lanes.lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    for (Mask others = rest & (rest - 1); others != 0; others &= others - 1) {
      const int other = std::countr_zero(others);
      if (address_of(lanes, lane) != address_of(lanes, other) || !differ(lane, other)) continue;
      const Window window = sizeof(Address) == 4 ? Window::shared : Window::global;
      return report_stores(
          *warp.memory->findings,
          {act_of(warp, instruction, lane), access, window, address_of(lanes, lane)},
          warp.number * kLanes + static_cast<std::uint32_t>(other));
    }
  }
}

Pattern pattern_of(const Warp& warp, const Access& access, Window window) {
  return warp.memory->caches[access.counters[static_cast<int>(window)]].now.pattern;
}

Mask without_lowest(Mask lanes) { return lanes & (lanes - 1); }

/// Lanes that read the same words leave the same traces: one of them is enough, and two where lanes
/// are held against each other, as one of them may have written the words.
template <typename Address>
LaneAddresses<Address> that_matter(const Warp& warp, const Access& access, Window window,
                                   LaneAddresses<Address> lanes) {
  if (access.effect == AccessEffect::read && pattern_of(warp, access, window) == Pattern::uniform) {
    const Mask others = without_lowest(lanes.lanes);
    lanes.lanes &= ~(warp.memory->history->looks_at_lanes() ? without_lowest(others) : others);
  }
  return lanes;
}

/// Shows an access of which only some bytes matter as accesses to these: `observe` takes an access
/// and its lanes.
template <typename Address, typename Observe>
void observe_parts(const Access& access, LaneAddresses<Address> lanes, Observe observe) {
  const std::int64_t begin = lanes.offset;
  Access part = access;
  for (int from = access.used_from; from < access.used_to; from += part.width) {
    const unsigned left = static_cast<unsigned>(access.used_to - from);
    const unsigned aligned = from == 0 ? access.width : static_cast<unsigned>(from & -from);
    part.width = static_cast<std::uint8_t>(std::min(aligned, std::bit_floor(left)));
    part.used_from = 0;
    part.used_to = part.width;
    lanes.offset = begin + from;
    observe(part, lanes);
  }
}

}  // namespace

void observe_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                    const LaneAddresses<std::uint32_t>& lanes, checks::LookAtRun look_at_run) {
  const MemoryContext& context = *warp.memory;
  if (access.is_used_in_part()) {
    return observe_parts(access, lanes, [&](const Access& part, const auto& of_part) {
      observe_shared(warp, instruction, part, of_part, look_at_run);
    });
  }
  if (context.history != nullptr) {
    context.history->observe_shared(warp, instruction, access,
                                    that_matter(warp, access, Window::shared, lanes),
                                    pattern_of(warp, access, Window::shared), look_at_run);
  }
  if (context.checks_stores) check_store(warp, instruction, access, lanes);
}

void observe_copy(const Warp& warp, const Instruction& instruction, const CopyDetail& copy,
                  const LaneAddresses<std::uint32_t>& to,
                  const LaneAddresses<std::uint64_t>& from) {
  checks::History* const history = warp.memory->history;
  if (history == nullptr) return;
  history->observe_async(warp, instruction, copy.to, to);
  if (from.lanes == 0) return;
  history->observe_global(warp, instruction, copy.from, from,
                          pattern_of(warp, copy.from, Window::global));
}

void observe_global(const Warp& warp, const Instruction& instruction, const Access& access,
                    const LaneAddresses<std::uint64_t>& lanes) {
  const MemoryContext& context = *warp.memory;
  if (access.is_used_in_part()) {
    return observe_parts(access, lanes, [&](const Access& part, const auto& of_part) {
      observe_global(warp, instruction, part, of_part);
    });
  }
  if (context.history != nullptr) {
    context.history->observe_global(warp, instruction, access,
                                    that_matter(warp, access, Window::global, lanes),
                                    pattern_of(warp, access, Window::global));
  }
  if (context.checks_stores) check_store(warp, instruction, access, lanes);
}

}  // namespace warpgauge::emulator::machine::memory
