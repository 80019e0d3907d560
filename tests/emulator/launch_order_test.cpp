// The order of launches by streams, events and waits.
#include "harness/emulator/runtime/launch_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace warpgauge::emulator::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

cudaStream_t stream(int number) {
  return reinterpret_cast<cudaStream_t>(std::uintptr_t{0x100} * static_cast<unsigned>(number));
}

const LaunchOrder::WaitsFor kForNone = [](cudaStream_t, cudaStream_t) { return false; };

std::vector<std::uint64_t> concurrent(const LaunchOrder::Place& place) {
  std::vector<std::uint64_t> numbers;
  for (const auto& other : place.concurrent) numbers.push_back(other.number);
  return numbers;
}

TEST(LaunchOrder, AStreamIsInOrder) {
  LaunchOrder order;
  EXPECT_EQ(order.launch(stream(1), false, kForNone).number, 1U);
  const LaunchOrder::Place second = order.launch(stream(1), false, kForNone);
  EXPECT_EQ(second.number, 2U);
  EXPECT_THAT(second.concurrent, IsEmpty());
}

TEST(LaunchOrder, StreamsAreNotOrdered) {
  LaunchOrder order;
  order.launch(stream(1), false, kForNone);
  order.launch(stream(1), false, kForNone);
  EXPECT_THAT(concurrent(order.launch(stream(2), false, kForNone)), ElementsAre(1, 2));
  EXPECT_THAT(concurrent(order.launch(stream(1), false, kForNone)), ElementsAre(3));
}

TEST(LaunchOrder, AnEventOrdersWhatWasRecorded) {
  LaunchOrder order;
  order.launch(stream(1), false, kForNone);
  const LaunchOrder::Clock event = order.record(stream(1), kForNone);
  order.launch(stream(1), false, kForNone);
  order.wait(stream(2), event);
  EXPECT_THAT(concurrent(order.launch(stream(2), false, kForNone)), ElementsAre(2));
}

TEST(LaunchOrder, EventsPassOnWhatOthersHaveWaitedFor) {
  LaunchOrder order;
  order.launch(stream(1), false, kForNone);
  order.wait(stream(2), order.record(stream(1), kForNone));
  order.wait(stream(3), order.record(stream(2), kForNone));
  EXPECT_THAT(order.launch(stream(3), false, kForNone).concurrent, IsEmpty());
}

TEST(LaunchOrder, AWaitOfTheProgramOrdersAll) {
  LaunchOrder order;
  order.launch(stream(1), false, kForNone);
  order.wait();
  EXPECT_THAT(order.launch(stream(2), true, kForNone).concurrent, IsEmpty());
}

TEST(LaunchOrder, AStreamThatWaitsForAnotherKnowsItsLaunches) {
  LaunchOrder order;
  order.launch(stream(1), false, kForNone);
  const auto second_for_first = [](cudaStream_t waiting, cudaStream_t other) {
    return waiting == stream(2) && other == stream(1);
  };
  EXPECT_THAT(order.launch(stream(2), false, second_for_first).concurrent, IsEmpty());
  EXPECT_THAT(concurrent(order.launch(stream(1), false, second_for_first)), ElementsAre(2));
}

TEST(LaunchOrder, ADependentLaunchOverlapsTheOneBeforeIt) {
  LaunchOrder order;
  order.launch(stream(1), false, kForNone);
  order.launch(stream(1), false, kForNone);
  const LaunchOrder::Place dependent = order.launch(stream(1), true, kForNone);
  ASSERT_THAT(concurrent(dependent), ElementsAre(2));
  EXPECT_TRUE(dependent.concurrent[0].until_wait);
  order.add_work(stream(1));
  EXPECT_THAT(order.launch(stream(1), true, kForNone).concurrent, IsEmpty());
}

TEST(LaunchOrder, OtherWorkHasEndedForThoseBehindIt) {
  LaunchOrder order;
  const LaunchOrder::Mark work = order.mark(stream(1), kForNone);
  EXPECT_TRUE(order.has_ended(work, stream(1), kForNone));
  EXPECT_FALSE(order.has_ended(work, stream(2), kForNone));
  order.wait(stream(2), order.record(stream(1), kForNone));
  EXPECT_TRUE(order.has_ended(work, stream(2), kForNone));
  EXPECT_FALSE(order.has_ended(order.mark(stream(1), kForNone), stream(2), kForNone));
}

TEST(LaunchOrder, OtherWorkHasEndedWhereTheProgramHasWaited) {
  LaunchOrder order;
  const LaunchOrder::Mark work = order.mark(stream(1), kForNone);
  for (int n = 0; n < 100; ++n) order.launch(stream(1), false, kForNone);
  EXPECT_FALSE(order.has_ended(work, stream(2), kForNone));
  order.wait();
  EXPECT_TRUE(order.has_ended(work, stream(2), kForNone));
  const LaunchOrder::Mark later = order.mark(stream(1), kForNone);
  EXPECT_FALSE(order.has_ended(later, stream(2), kForNone));
}

TEST(LaunchOrder, OnlySoManyLaunchesAreKept) {
  LaunchOrder order;
  for (int n = 0; n < 100; ++n) order.launch(stream(1), false, kForNone);
  const std::vector<std::uint64_t> kept = concurrent(order.launch(stream(2), false, kForNone));
  ASSERT_EQ(kept.size(), 32U);
  EXPECT_EQ(kept.front(), 69U);
  EXPECT_EQ(kept.back(), 100U);
}

}  // namespace
}  // namespace warpgauge::emulator::runtime
