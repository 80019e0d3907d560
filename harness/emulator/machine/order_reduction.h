// Finds the fewest switches with which a launch still breaks.
#pragma once

#include <functional>
#include <optional>

#include "harness/emulator/machine/core/order.h"

namespace warpgauge::emulator::machine {

/// An order of which parts were left out.
struct Reduction {
  Order order;
  int launches = 0;       ///< that were run
  bool is_least = false;  ///< without any one part the launch breaks no more
};

/// Leaves out switches, and that stores are late, as long as `goes_on` says yes before each launch.
/// `breaks` runs the launch in an order, and returns it with the switches that it came to; nothing
/// if the launch does not break so.
Reduction reduce(Order order, const std::function<bool(const Reduction&)>& goes_on,
                 const std::function<std::optional<Order>(const Order&)>& breaks);

}  // namespace warpgauge::emulator::machine
