// The addresses of the lanes in one execution of a memory instruction.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "harness/emulator/machine/core/lanes.h"

namespace warpgauge::emulator::machine {

/// The addresses of one execution: lane l's is addresses[l] + offset, in the window's own space
/// (global: a pointer; shared, local: an offset).
template <typename Address>
struct LaneAddresses {
  const Address* addresses;
  std::int64_t offset;
  Mask lanes;  ///< not 0
};

/// The pattern of the active lanes' addresses. Distances are from the first active lane's
/// address, 0 of lanes that are off.
template <typename Address>
struct LaneDistances {
  using Signed = std::make_signed_t<Address>;
  alignas(64) Signed of[kLanes];
  Signed lowest = 0, highest = 0;
  Address low_bits = 0;     ///< bits that are set in any lane's address
  Address steps = 0;        ///< bits that are set in any distance
  std::uint32_t hash = 0;   ///< hash of the distances of 32-bit addresses
  bool contiguous = false;  ///< each lane's is as many widths away as the lane is
  bool apart = false;       ///< each lane's is that of the lane before, or behind it by a line
};

/// How the addresses of the active lanes lie to each other.
enum class Pattern : std::uint8_t {
  general,
  uniform,     ///< all the same
  contiguous,  ///< in the order of the lanes, without gaps (lanes that are off leave theirs)
};

template <typename Address>
std::uint64_t address_of(const LaneAddresses<Address>& lanes, int lane) {
  return static_cast<Address>(lanes.addresses[lane] + static_cast<Address>(lanes.offset));
}

/// The first lane for which `test(address)` holds; there is one.
template <typename Address, typename Test>
int first_lane(const LaneAddresses<Address>& lanes, Test test) {
  for (Mask rest = lanes.lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (test(address_of(lanes, lane))) return lane;
  }
  return std::countr_zero(lanes.lanes);
}

}  // namespace warpgauge::emulator::machine
