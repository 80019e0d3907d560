// The order of the warps and blocks of a launch.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/emulator/machine/core/act.h"

namespace warpgauge::emulator::machine {

/// A warp of a launch.
struct WarpId {
  std::uint64_t block = 0;  ///< linear in the grid
  std::uint32_t warp = 0;   ///< in the block
  auto operator<=>(const WarpId&) const = default;
};

/// A warp that has executed so many instructions does not go on, or another one than usual goes on
/// in its place.
struct Switch {
  WarpId from;
  std::uint64_t after = 0;  ///< instructions
  WarpId to;
  auto operator<=>(const Switch&) const = default;
};

/// An order, by what it does otherwise than the usual one. In that, a warp goes on until it waits,
/// polls or ends, and then the lowest one that can go on and that others have gone before if it
/// polls; the next block begins when no other warp is left to go on.
struct Order {
  std::vector<Switch> switches;
  /// Asynchronous stores are made when their thread waits for them, not at once.
  bool late_stores = false;
};

/// Where the warps of a switch were: at accesses to memory, where they had made some.
struct SwitchPlaces {
  Act from;  ///< the last one that `from` had made; none: it had not begun
  Act to;    ///< the last one that `to` then makes in its turn
};

/// Switches that are kept of an order that is drawn, at most.
inline constexpr std::size_t kMostSwitches = std::size_t{1} << 20;

/// How one thread runs the warps of a launch in turn.
struct Interleaving {
  Order order;                          ///< to be kept to
  std::uint64_t seed = 0;               ///< if not 0, the switches are drawn instead
  unsigned longest = 10;                ///< turn that is drawn: less than 2^longest instructions
  std::vector<Switch>* made = nullptr;  ///< gets the first ones that were made
  std::vector<SwitchPlaces>* places = nullptr;  ///< and their places
};

}  // namespace warpgauge::emulator::machine
