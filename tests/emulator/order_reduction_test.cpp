// What is left of an order when parts of it are left out.
#include "harness/emulator/machine/order_reduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace warpgauge::emulator::machine::order_reduction_test {
namespace {

/// Switches with these numbers.
Order order_of(const std::vector<std::uint64_t>& numbers, bool late_stores = true) {
  Order order{.switches = {}, .late_stores = late_stores};
  for (const std::uint64_t number : numbers) {
    order.switches.push_back({{number, 0}, number, {number + 1, 0}});
  }
  return order;
}

std::vector<std::uint64_t> numbers_of(const Order& order) {
  std::vector<std::uint64_t> numbers;
  for (const Switch& each : order.switches) numbers.push_back(each.after);
  return numbers;
}

std::vector<std::uint64_t> first(std::uint64_t count) {
  std::vector<std::uint64_t> numbers(count);
  for (std::uint64_t n = 0; n < count; ++n) numbers[n] = n;
  return numbers;
}

/// Reduces 1,000 switches of which these are needed.
Reduction reduced(const std::set<std::uint64_t>& needed, bool needs_late_stores, int most) {
  return reduce(
      order_of(first(1000)), [&](const Reduction& so_far) { return so_far.launches < most; },
      [&](const Order& tried) -> std::optional<Order> {
        const auto numbers = numbers_of(tried);
        const bool breaks =
            std::ranges::includes(numbers, needed) && (tried.late_stores || !needs_late_stores);
        return breaks ? std::optional(tried) : std::nullopt;
      });
}

TEST(OrderReduction, LeavesWhatIsNeeded) {
  for (const std::set<std::uint64_t>& needed :
       {std::set<std::uint64_t>{}, {0}, {999}, {17, 400, 401, 998}}) {
    const Reduction reduction = reduced(needed, false, 300);
    EXPECT_THAT(numbers_of(reduction.order), testing::ElementsAreArray(needed));
    EXPECT_FALSE(reduction.order.late_stores);
    EXPECT_TRUE(reduction.is_least);
    EXPECT_LT(reduction.launches, 150);
  }
  EXPECT_TRUE(reduced({}, true, 300).order.late_stores);
  EXPECT_LE(reduced({}, false, 300).launches, 2) << "no switch is tried first";
}

TEST(OrderReduction, PutsWarpsInEachOthersPlaces) {
  // Block 1 is to be interrupted by block 0, or block 0 by block 1.
  const Order order{.switches = {{{0, 0}, 0, {1, 0}}, {{1, 0}, 5, {0, 0}}}};
  const Order other{.switches = {{{0, 0}, 5, {1, 0}}}};
  const Reduction reduction = reduce(
      order, [](const Reduction&) { return true; },
      [&](const Order& tried) -> std::optional<Order> {
        const bool breaks = tried.switches == order.switches || tried.switches == other.switches;
        return breaks ? std::optional(tried) : std::nullopt;
      });
  EXPECT_EQ(reduction.order.switches, other.switches);
}

TEST(OrderReduction, EndsEarlierWhereItMust) {
  const Reduction reduction = reduced({17, 400}, false, 8);
  EXPECT_EQ(reduction.launches, 8);
  EXPECT_FALSE(reduction.is_least);
  const auto left = numbers_of(reduction.order);
  EXPECT_TRUE(std::ranges::includes(left, std::vector<std::uint64_t>{17, 400}));
  EXPECT_LT(left.size(), 1000u);
}

TEST(OrderReduction, KeepsOnlySwitchesThatTheLaunchCameTo) {
  int launches = 0;
  const Reduction reduction = reduce(
      order_of(first(100), false), [](const Reduction&) { return true; },
      [&](const Order& tried) -> std::optional<Order> {
        ++launches;
        if (!std::ranges::count(numbers_of(tried), 50u)) return std::nullopt;
        return order_of({50}, false);
      });
  EXPECT_THAT(numbers_of(reduction.order), testing::ElementsAre(50));
  EXPECT_LE(launches, 5);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::order_reduction_test
