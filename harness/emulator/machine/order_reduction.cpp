// Delta debugging: leaves out ever smaller parts of an order, until none can be left out.
#include "harness/emulator/machine/order_reduction.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace warpgauge::emulator::machine {
namespace {

/// The order without its n-th switch, but with its two warps in each other's places: warps that do
/// the same need no switch from the one to the other before anything else happens.
Order with_exchanged(Order order, std::size_t n) {
  const auto [a, after, b] = order.switches[n];
  order.switches.erase(order.switches.begin() + static_cast<std::ptrdiff_t>(n));
  const auto exchanged = [&](const WarpId& id) { return id == a ? b : id == b ? a : id; };
  for (Switch& each : order.switches) {
    each.from = exchanged(each.from);
    each.to = exchanged(each.to);
  }
  return order;
}

}  // namespace

Reduction reduce(Order order, const std::function<bool(const Reduction&)>& goes_on,
                 const std::function<std::optional<Order>(const Order&)>& breaks) {
  Reduction so_far{std::move(order)};
  bool ends = false;
  const auto accepts = [&](const Order& tried) {
    ends = ends || !goes_on(so_far);
    if (ends) return false;
    ++so_far.launches;
    auto kept_to = breaks(tried);
    if (kept_to) so_far.order = *std::move(kept_to);
    return kept_to.has_value();
  };
  accepts({{}, so_far.order.late_stores});
  if (so_far.order.late_stores) accepts({so_far.order.switches, false});
  std::size_t part = so_far.order.switches.size();
  while (!so_far.order.switches.empty() && !ends) {
    part = std::max<std::size_t>(1, std::min(part, so_far.order.switches.size()) / 2);
    bool any_left_out = false;
    // From behind: what comes after the launch has gone wrong goes at once.
    for (std::size_t end = so_far.order.switches.size(); end > 0 && !ends;) {
      const std::size_t begin = end - std::min(part, end);
      Order tried = so_far.order;
      const auto first = tried.switches.begin();
      tried.switches.erase(first + static_cast<std::ptrdiff_t>(begin),
                           first + static_cast<std::ptrdiff_t>(end));
      any_left_out |= accepts(tried);
      end = std::min(begin, so_far.order.switches.size());
    }
    if (part != 1 || any_left_out) continue;
    any_left_out = false;
    for (std::size_t n = 0; n < so_far.order.switches.size() && !any_left_out; ++n) {
      any_left_out = accepts(with_exchanged(so_far.order, n));
    }
    if (!any_left_out) break;
  }
  so_far.is_least = !ends;
  return so_far;
}

}  // namespace warpgauge::emulator::machine
